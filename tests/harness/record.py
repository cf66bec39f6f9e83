"""The words in which an operator is described to the tests: its record, its cases, what it must refuse.

A record is pure data and NumPy; running it on a device is running.py's part, making pytest tests of it suite.py's.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.harness.comparison import Wanted
from tests.harness.formats import FORMATS, Bits
from tests.harness.layout import PLAIN, Layout, Shape

LEVELS = {
    1: "float32, last axis, contiguous, whole blocks",
    2: "any length, empty, NaN, infinity",
    3: "the other dtypes",
    4: "strides, axes, in place, odd pointers",
}


@dataclass(frozen=True)
class Case:
    """One input of an operator. The id is stable: people type it and seeds come from it."""

    trait: str
    level: int
    shape: Shape  # of every input that shapes does not name; -1 stands for the length of a sweep
    dtype: str = "float32"
    values: str = "normal"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)  # of operands whose shape differs
    layouts: Mapping[str, Layout] = field(default_factory=dict)  # by operand name; the others are contiguous
    in_place: str = ""  # the input that is the output too
    sweep: tuple[int, ...] = ()  # lengths to run one after the other, as one case
    orders: bool = False  # also run in every schedule order of the emulator
    techniques: bool = True  # also run by the techniques, where level and layouts allow it

    @property
    def elements(self) -> int:
        """Size of the input, to put small cases first."""
        lengths = self.sweep or (1,)
        return max(math.prod(self.at(length).shape) for length in lengths)

    @property
    def name(self) -> str:
        """The id without the operator's name."""
        shape = "x".join("N" if size < 0 else str(size) for size in self.shape) or "scalar"
        return "-".join(filter(None, (shape, self.dtype, self.trait)))

    @property
    def is_plain(self) -> bool:
        return not self.in_place and all(layout == PLAIN for layout in self.layouts.values())

    def at(self, length: int) -> Case:
        """The case of a sweep at one length."""
        replace = {key: _with_length(shape, length) for key, shape in self.shapes.items()}
        return dataclasses.replace(self, shape=_with_length(self.shape, length), shapes=replace)

    def layout(self, operand: str) -> Layout:
        return self.layouts.get(operand, PLAIN)


def _with_length(shape: Shape, length: int) -> Shape:
    return tuple(length if size < 0 else size for size in shape)


@dataclass(frozen=True)
class View:
    """A tensor as a descriptor sees it: no memory."""

    shape: Shape
    dtype: str | int = "float32"
    strides: Shape | None = None  # None: row-major
    ndim: int | None = None  # None: the length of shape


@dataclass(frozen=True)
class Refused:
    """A descriptor that must not be made: the status, and pieces of the message that tell the user what to do."""

    id: str
    status: str
    message: Sequence[str]
    views: Sequence[View]  # output first
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OperatorRecord:
    """Everything the tests know about one operator."""

    name: str
    inputs: tuple[str, ...]
    cases: Sequence[Case]
    refused: Sequence[Refused]
    # What the output must be, from the inputs' bits in their storage type.
    wanted: Callable[[Case, Mapping[str, Bits]], Wanted]
    output_shape: Callable[[Case], Shape]
    # The arguments of oprt_create_<op>_descriptor after the tensors, from the parameters; ffi makes C arrays.
    descriptor_arguments: Callable[[Any, Mapping[str, Any]], tuple[Any, ...]]
    # A small valid descriptor, for the tests of the C boundary.
    valid_views: Sequence[View]
    valid_parameters: Mapping[str, Any]
    # The same computation as a NumPy user would write it, in the native dtype: the benchmark's yardstick.
    numpy_call: Callable[..., Any]

    def __post_init__(self) -> None:
        ids = [self.case_id(case) for case in self.cases] + [refused.id for refused in self.refused]
        repeated = sorted({case_id for case_id in ids if ids.count(case_id) > 1})
        if repeated:
            raise ValueError(f"{self.name}: case ids given twice: {', '.join(repeated)}")

    def case_id(self, case: Case) -> str:
        return f"{self.name}-{case.name}"

    def seed(self, case: Case) -> int:
        return zlib.crc32(self.case_id(case).encode())

    def ordered_cases(self) -> Iterator[Case]:
        """By level, then by size: the first failure of a learner is the smallest."""
        return iter(sorted(self.cases, key=lambda case: (case.level, case.elements)))

    def operand_shape(self, case: Case, operand: str) -> Shape:
        if operand in case.shapes:
            return case.shapes[operand]
        return self.output_shape(case) if operand == "y" else case.shape

    def bytes_moved(self, case: Case) -> int:
        """Each input read once and the output written once, broadcast elements counted once."""
        size_bytes = FORMATS[case.dtype].size_bytes
        return size_bytes * sum(math.prod(self.operand_shape(case, operand)) for operand in ("y", *self.inputs))


def load_record(op: str) -> OperatorRecord:
    """The record of an operator."""
    record: OperatorRecord = importlib.import_module(f"tests.cases.{op}").RECORD
    return record


def operator_names() -> list[str]:
    """The operators that have a record."""
    folder = Path(__file__).resolve().parent.parent / "cases"
    return sorted(file.stem for file in folder.glob("*.py"))
