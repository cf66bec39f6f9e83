"""Descriptors: plans that C has checked, made once for a layout and kept for the thread that made them.

A descriptor brings its workspaces, one for each stream that it runs on. Calling operators is for calls.py.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from operator_runtime import native
from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import OperatorFailure, Status, check, invalid, raise_status
from operator_runtime.operand import Signature
from operator_runtime.selection import Place, selected
from operator_runtime.tensor import Memory

_NULL = ffi.NULL
_MAX_DIMS = lib.OPRT_MAX_DIMS
_TENSOR_BYTES = ffi.sizeof("oprt_tensor_t")
# Kept for each thread; the least recently used goes first. A workspace is as long-lived as its descriptor.
DESCRIPTORS_PER_THREAD = 256
_WORKSPACES_PER_DESCRIPTOR = 8


@dataclass(frozen=True, slots=True)
class Functions:
    """The four C functions of an operator."""

    create: Callable[..., int]
    get_workspace_size: Callable[..., int]
    execute: Callable[..., int]
    destroy: Callable[..., int]

    @classmethod
    def of(cls, operator: str) -> Functions:
        """Those of an operator, which may be newer than the build."""
        names = (
            f"oprt_create_{operator}_descriptor",
            f"oprt_get_{operator}_workspace_size",
            f"oprt_execute_{operator}",
            f"oprt_destroy_{operator}_descriptor",
        )
        try:
            return cls(*(getattr(lib, name) for name in names))
        except AttributeError as error:
            raise OperatorFailure(
                f"{operator} is not in {native.library_path()}; build it again with `{native.BUILD_COMMAND}`",
                Status.NOT_SUPPORTED,
            ) from error


def _tensor(signature: Signature) -> CData:
    code, shape, strides = signature.code, signature.shape, signature.strides
    # C refuses more dimensions than fit by their number alone.
    return ffi.new(
        "oprt_tensor_t *", (_TENSOR_BYTES, code, len(shape), list(shape[:_MAX_DIMS]), list(strides[:_MAX_DIMS]))
    )


class Descriptor:
    """One C descriptor. Freed when nothing refers to it: the cache, a prepared operator, a captured graph."""

    __slots__ = ("_destroy", "_workspaces", "execute", "handle", "place", "workspace_size_bytes")

    def __init__(
        self,
        operator: str,
        functions: Functions,
        place: Place,
        signatures: Sequence[Signature],
        arguments: Sequence[Any],
    ) -> None:
        self.handle: CData = ffi.NULL
        self._destroy = functions.destroy
        self.execute = functions.execute
        self.place = place
        self._workspaces: OrderedDict[int, Memory] = OrderedDict()
        handle, size = ffi.new("oprt_descriptor_t *"), ffi.new("size_t *")
        with selected(place):
            try:
                check(functions.create(handle, *map(_tensor, signatures), *arguments))
            except OverflowError as error:
                raise invalid(f"{operator}: a parameter or extent is out of range: {error}") from error
        self.handle = handle[0]
        check(functions.get_workspace_size(self.handle, size))
        self.workspace_size_bytes = int(size[0])

    def workspace(self, stream_key: int) -> CData:
        """Scratch memory for a stream (StreamOfCall.key); work of other streams never meets it."""
        if not self.workspace_size_bytes:
            return ffi.NULL
        memory = self._workspaces.pop(stream_key, None)
        if memory is None:
            memory = Memory(self.workspace_size_bytes, self.place, warns=False)
            if len(self._workspaces) >= _WORKSPACES_PER_DESCRIPTOR:
                self._workspaces.popitem(last=False)
        self._workspaces[stream_key] = memory
        return memory.pointer

    def run(self, pointers: Sequence[CData], stream: CData, stream_key: int) -> None:
        """Queue the operator."""
        size_bytes = self.workspace_size_bytes
        workspace = self.workspace(stream_key) if size_bytes else _NULL
        status = self.execute(self.handle, workspace, size_bytes, *pointers, stream)
        if status:
            raise_status(status)

    def release(self) -> None:
        """Free the descriptor and its workspaces now."""
        handle, self.handle = self.handle, ffi.NULL
        self._workspaces.clear()
        check(self._destroy(handle))

    def __del__(self) -> None:
        if self.handle and not sys.is_finalizing():  # the end of the process frees everything
            self.release()


class _Cache(threading.local):
    """The descriptors of a thread; they are freed with it."""

    def __init__(self) -> None:
        self.descriptors: OrderedDict[object, Descriptor] = OrderedDict()


_cache = _Cache()


def find(key: object) -> Descriptor | None:
    """The thread's descriptor for a key, if it is there."""
    descriptors = _cache.descriptors
    descriptor = descriptors.get(key)
    if descriptor is not None:
        descriptors.move_to_end(key)
    return descriptor


def cached(key: object, make: Callable[[], Descriptor]) -> Descriptor:
    """The thread's descriptor for a key, made if it is not there."""
    descriptor = find(key)
    if descriptor is None:
        descriptor = make()
        descriptors = _cache.descriptors
        while len(descriptors) >= DESCRIPTORS_PER_THREAD:
            descriptors.popitem(last=False)
        descriptors[key] = descriptor
    return descriptor
