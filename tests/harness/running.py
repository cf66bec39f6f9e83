"""Runs one case of a record on one target and says what is wrong, with the command that runs it alone.

Operands lie in guarded, poisoned device memory (memory.py); right or wrong is decided by comparison.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.harness import values
from tests.harness.c_api import Library
from tests.harness.comparison import explain, wrong_elements
from tests.harness.layout import PLAIN
from tests.harness.memory import GUARD_BYTES, NEIGHBOURS, SENTINEL, Operand
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.targets import Target, kernel_owner, kernels_option

# The exit status of a process whose GPU broke: nothing more can be tested in it.
BROKEN_GPU_EXIT = 70


class CaseError(AssertionError):
    """A case came out wrong. The text is the whole report."""


class TechniqueRefusedError(Exception):
    """The technique does not support this case, and says so."""


def run_case(oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str = "") -> None:
    """Run a case, a sweep at each of its lengths. Raises CaseError, or TechniqueRefusedError."""
    for length in case.sweep or (0,):
        with _Run(oprt, record, case.at(length) if case.sweep else case, target, technique, length) as run:
            problem = run.call() or run.call_with_own_workspace()
        if problem:
            raise CaseError(_report(oprt, record, case, target, technique, length, problem))


def rerun_command(record: OperatorRecord, case_id: str, target: Target, technique: str = "", kernel: str = "") -> str:
    """What to type to run one case alone, with the kernel of that file."""
    order = os.environ.get("CAMP_EMULATOR_ORDER", "")
    options = [f"--op {record.name}", f"--case {case_id}"]
    options += [] if target.is_emulator else [f"--device {target.device}"]
    options += [f"--technique {technique}"] if technique else []
    options += kernels_option(kernel) if kernel else []
    return " ".join(
        filter(None, (f"CAMP_EMULATOR_ORDER={order}" if order else "", f"nox -s test-{target.backend} --", *options))
    )


def _report(
    oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str, length: int, problem: str
) -> str:
    seed = record.seed(case)
    lines = [
        f"{record.case_id(case)} on {target.backend} {target.device}" + (f", length {length}" if case.sweep else ""),
        problem,
    ]
    lines.append(f"  values: {case.values}, seed [{seed}, {length}]")
    kernels = [info for info in oprt.kernels(**target.where) if (info.op, info.technique) == (record.name, technique)]
    lines += [f"  kernel: {info.path} ({kernel_owner(info.path)})" for info in kernels]
    kernel = kernels[0].path if kernels else ""
    lines.append(f"  run it alone: {rerun_command(record, record.case_id(case), target, technique, kernel)}")
    return "\n".join(lines)


class _Poison:
    """Whether outputs and workspaces are written before a call (--no-poison), which tells what a kernel left out."""

    wanted = True


poison = _Poison()


def make_inputs(record: OperatorRecord, case: Case, length: int = 0) -> dict[str, Operand]:
    """The inputs of a case with their values, NaN all around them."""
    random = np.random.default_rng([record.seed(case), length])
    inputs = {}
    for name in record.inputs:
        shape = record.operand_shape(case, name)
        operand = Operand.blank(name, case.dtype, shape, case.layout(name), NEIGHBOURS)
        axis = case.parameters.get("axis")
        if isinstance(axis, int) and shape:  # the interesting dimension of the values is the operator's axis
            moved = np.moveaxis(np.empty(shape, bool), axis, -1).shape
            operand.elements()[...] = np.moveaxis(values.make(case.values, random, moved, case.dtype), -1, axis)
        else:
            operand.elements()[...] = values.make(case.values, random, shape, case.dtype)
        inputs[name] = operand
    return inputs


class _Run:
    """One input on one target: operands in device memory, the calls, the check."""

    def __init__(
        self, oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str, length: int
    ) -> None:
        self.oprt, self.record, self.case, self.target, self.technique = oprt, record, case, target, technique
        self.inputs = make_inputs(record, case, length)
        bits = {name: operand.elements().copy() for name, operand in self.inputs.items()}
        self.wanted = record.wanted(case, bits)
        self.output = case.in_place or "y"
        self.operands = dict(self.inputs)
        shape = record.operand_shape(case, "y")
        self.is_bare = not poison.wanted and not case.in_place and case.layout("y") == PLAIN
        if self.is_bare:
            self.operands["y"] = Operand.bare("y", case.dtype, shape)
        elif not case.in_place:
            self.operands["y"] = Operand.blank("y", case.dtype, shape, case.layout("y"), SENTINEL)
        sent = {name: operand.send(oprt, target.where) for name, operand in self.inputs.items()}
        if not case.in_place:
            output = self.operands["y"]
            sent["y"] = output.send_nothing(oprt, target.where) if self.is_bare else output.send(oprt, target.where)
        self.buffers = {name: buffer for name, (buffer, _) in sent.items()}
        self.views = {name: view for name, (_, view) in sent.items()}

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *error: object) -> None:
        for buffer in self.buffers.values():
            buffer.close()

    def call(self) -> str:
        """The Python call on device tensors; what went wrong, "" when nothing did."""
        inputs = [self.views[name] for name in self.record.inputs]
        function = getattr(self.oprt, self.record.name)
        with device_faults(self.oprt, self.target), self.oprt.technique(self.technique or None):
            try:
                function(*inputs, out=self.views[self.output], **self.case.parameters, **self.target.where)
                self.oprt.synchronize(**self.target.where)
            except self.oprt.OperatorRuntimeError as error:
                if self.technique and error.status.name == "NOT_SUPPORTED":
                    raise TechniqueRefusedError(str(error)) from error
                return f"{type(error).__name__}: {error}"
        return self.check()

    def call_with_own_workspace(self) -> str:
        """The C calls with a workspace that is poisoned and guarded; nothing where the operator needs none."""
        if not poison.wanted:
            return ""
        library = Library()
        views = [self._described(name) for name in (self.output, *self.record.inputs)]
        with (
            selection(self.oprt, self.target),
            library.descriptor(self.record.name, views, self.case.parameters, self.technique) as handle,
        ):
            size_bytes = library.workspace_size(self.record.name, handle)
            if not size_bytes:
                return ""
            self.buffers[self.output].copy_from(self.operands[self.output].image)
            with self.oprt.empty((size_bytes + 2 * GUARD_BYTES,), "uint8", **self.target.where) as workspace:
                workspace.fill_bytes(NEIGHBOURS)
                return self._execute(library, handle, workspace, size_bytes)

    def _execute(self, library: Library, handle: Any, workspace: Any, size_bytes: int) -> str:
        place, *pointers = (
            library.ffi.cast("void *", address)
            for address in (
                workspace.data_ptr + GUARD_BYTES,
                *(self.views[name].data_ptr for name in (self.output, *self.record.inputs)),
            )
        )
        with device_faults(self.oprt, self.target):
            function = f"execute_{self.record.name}"
            answer = library.call(function, handle, place, size_bytes, *pointers, library.ffi.NULL)
            answer = library.call("synchronize_device") if answer.ok else answer
        if not answer.ok:
            return f"{answer.status}: {answer.message}"
        guards = np.delete(workspace.numpy(), np.s_[GUARD_BYTES : GUARD_BYTES + size_bytes])
        if (guards != NEIGHBOURS).any():
            return f"memory beside the workspace of {size_bytes} bytes was overwritten"
        problem = self.check()
        return f"with a workspace that holds NaN, as new memory may:\n{problem}" if problem else ""

    def _described(self, name: str) -> View:
        operand = self.operands[name]
        return View(operand.shape, operand.dtype, operand.strides)

    def check(self) -> str:
        """What is wrong in device memory now."""
        images = {name: buffer.numpy() for name, buffer in self.buffers.items()}
        output, image = self.operands[self.output], images[self.output]
        got = output.view_of(image)
        problems = []
        wrong = wrong_elements(got, self.wanted, self.case.dtype, self.target.flushes_subnormals)
        if wrong.any():
            written = np.ones(wrong.shape, bool) if self.case.in_place else different_bits(got, output.elements())
            problems.append(explain(got, self.wanted, wrong, ~written, self.case.dtype))
        strays = output.stray_bytes(image)
        if strays.size:
            place = output.describe_place(int(strays[0]))
            problems.append(f"{strays.size} bytes beside the output were overwritten, the first {place}")
        for name, operand in self.inputs.items():
            changed = np.flatnonzero(images[name] != operand.image)
            if changed.size and name != self.output:
                first = int(changed[0]) - operand.first
                problems.append(f"the input {name} was changed: {changed.size} bytes, from byte {first}")
        return "\n".join(problems)


def different_bits(got: Any, before: Any) -> Any:
    """True where elements differ in any bit."""
    size_bytes = got.dtype.itemsize
    left = np.ascontiguousarray(got).reshape(-1).view(np.uint8).reshape(*got.shape, size_bytes)
    right = np.ascontiguousarray(before).reshape(-1).view(np.uint8).reshape(*got.shape, size_bytes)
    return (left != right).any(axis=-1)


@contextmanager
def selection(oprt: Any, target: Target) -> Iterator[None]:
    """Make a target the thread's default, for calls of the C library."""
    oprt.set_backend(target.backend)
    oprt.set_device(target.device)
    try:
        yield
    finally:
        oprt.set_backend(None)
        oprt.set_device(None)


@contextmanager
def device_faults(oprt: Any, target: Target) -> Iterator[None]:
    """After a kernel broke the device, let the next test run: reset the emulator, give up a process on a broken GPU."""
    try:
        yield
    finally:
        try:
            oprt.synchronize(**target.where)
        except oprt.OperatorRuntimeError as error:
            _recover(oprt, target, error)


def _recover(oprt: Any, target: Target, error: Exception) -> None:
    if target.is_emulator:
        oprt.device_reset(**target.where)
        return
    print(
        f"{target.backend} {target.device} broke, this process can test no more: {error}", file=sys.stderr, flush=True
    )
    os._exit(BROKEN_GPU_EXIT)


def run_refused(record: OperatorRecord, refused: Refused) -> None:
    """Try to make the descriptor; it must fail with the status and the message's pieces, and leave a null handle."""
    library = Library()
    answer, handle = library.create(record, refused.views, refused.parameters)
    if answer.status != refused.status:
        raise CaseError(f"{refused.id}: got {answer.status} {answer.message!r}, wanted {refused.status}")
    missing = [piece for piece in (record.name, *refused.message) if piece not in answer.message]
    if missing:
        raise CaseError(f"{refused.id}: the message lacks {missing}: {answer.message!r}")
    if handle != library.ffi.NULL:
        raise CaseError(f"{refused.id}: the handle is not null after a failure")
