"""The C API as a C program sees it, through the bindings' low level: handles, statuses, messages.

Only for tests of the boundary itself; operators are tested through the Python API.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.harness.formats import FORMATS
from tests.harness.record import OperatorRecord, View, load_record


@dataclass(frozen=True)
class Answer:
    """What a C function said."""

    status: str
    message: str

    @property
    def ok(self) -> bool:
        return self.status == "OPRT_SUCCESS"


class Library:
    """The C functions, statuses as names."""

    def __init__(self) -> None:
        from operator_runtime._native import ffi, lib

        self.ffi, self.lib = ffi, lib

    def call(self, function: str, *arguments: Any) -> Answer:
        """Call oprt_<function>."""
        status = getattr(self.lib, f"oprt_{function}")(*arguments)
        name = self.ffi.string(self.lib.oprt_status_name(status)).decode()
        message = self.ffi.string(self.lib.oprt_last_error_message()).decode() if status else ""
        return Answer(name, message)

    def must(self, function: str, *arguments: Any) -> None:
        """Call a function that has to succeed."""
        answer = self.call(function, *arguments)
        assert answer.ok, f"oprt_{function}: {answer.status} {answer.message}"

    def tensor(self, view: View) -> Any:
        """An oprt_tensor_t for a view, row-major where it has no strides."""
        strides = view.strides
        if strides is None:
            strides = tuple(
                min(math.prod(max(size, 1) for size in view.shape[dim + 1 :]), 2**63 - 1)
                for dim in range(len(view.shape))
            )
        tensor = self.ffi.new("oprt_tensor_t *")
        tensor.struct_size = self.ffi.sizeof("oprt_tensor_t")
        # A dtype that does not exist is written as a C caller could write it.
        dtype = view.dtype if isinstance(view.dtype, int) else getattr(self.lib, f"OPRT_DTYPE_{view.dtype.upper()}")
        self.ffi.cast("int32_t *", self.ffi.addressof(tensor, "dtype"))[0] = dtype
        tensor.ndim = len(view.shape) if view.ndim is None else view.ndim
        for dim, (size, stride) in enumerate(zip(view.shape, strides, strict=True)):
            tensor.shape[dim], tensor.strides[dim] = size, stride
        return tensor

    def create(
        self, record: OperatorRecord, views: Sequence[View], parameters: Mapping[str, Any]
    ) -> tuple[Answer, Any]:
        """Make a descriptor; the handle starts as a value that is none, so that a forgotten output shows."""
        handle = self.ffi.new("oprt_descriptor_t *", self.ffi.cast("oprt_descriptor_t", 1))
        arguments = record.descriptor_arguments(self.ffi, parameters)
        return self.call(f"create_{record.name}_descriptor", handle, *map(self.tensor, views), *arguments), handle[0]

    @contextmanager
    def descriptor(
        self,
        op: str,
        views: Sequence[View] = (),
        parameters: Mapping[str, Any] | None = None,
        technique: str = "",
    ) -> Iterator[Any]:
        """A descriptor for the duration of a block; a small valid one unless views are given."""
        record = load_record(op)
        self.must("set_technique", technique.encode())
        try:
            given = record.valid_parameters if parameters is None else parameters
            answer, handle = self.create(record, views or record.valid_views, given)
        finally:
            self.must("set_technique", self.ffi.NULL)
        assert answer.ok, answer
        try:
            yield handle
        finally:
            self.must(f"destroy_{op}_descriptor", handle)

    def workspace_size(self, op: str, handle: Any) -> int:
        """Bytes of workspace that a descriptor needs."""
        size = self.ffi.new("size_t *")
        self.must(f"get_{op}_workspace_size", handle, size)
        return int(size[0])

    @contextmanager
    def memory(self, size_bytes: int) -> Iterator[Any]:
        """Device memory of the thread's device for the duration of a block."""
        pointer = self.ffi.new("void **")
        self.must("allocate_memory", pointer, size_bytes)
        try:
            yield pointer[0]
        finally:
            self.must("free_memory", pointer[0])

    @contextmanager
    def operands(self, views: Sequence[View]) -> Iterator[list[Any]]:
        """Device memory for each view."""
        if not views:
            yield []
            return
        size_bytes = FORMATS[str(views[0].dtype)].size_bytes * math.prod(views[0].shape)
        with self.memory(size_bytes) as pointer, self.operands(views[1:]) as others:
            yield [pointer, *others]
