"""What is timed: the shapes of each operator, which stand in tests/bench/<op>.py, and how they are found."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.harness.formats import FORMATS
from tests.harness.record import Case, OperatorRecord
from tests.harness.targets import ROOT

# The one case of an operator that stands for it, in the self-test and for techniques, is the nearest to this.
TYPICAL_BYTES = 32 << 20


def no_axes(case: Case) -> tuple[int, ...]:
    """An element of the output depends on no other element's input."""
    return ()


# What operators of one kind are measured with on a GPU.
DTYPES = ("float32", "float16", "bfloat16")
LENGTHS = (1001000, 4093000, 65521000)
# Rows of one warp's work up to one row that all of the device has to share.
ROW_SHAPES = (
    (144, 1280),
    (1008, 1280),
    (1008, 2304),
    (2032, 2304),
    (784, 3840),
    (4080, 1536),
    (16384, 1024),
    (4096, 4096),
    (4096, 32768),
    (1024, 131072),
    (64, 1048576),
    (1, 67108864),
)


@dataclass(frozen=True)
class Workload:
    """The shapes of one operator's benchmark; the emulator and a quick run get smaller ones."""

    op: str
    emulator: Sequence[Case]
    gpu: Sequence[Case]
    # Axes along which elements are combined. Results may be verified at some places of the other axes alone.
    combined_axes: Callable[[Case], tuple[int, ...]] = no_axes
    # What the operator is compared with: the best copy of as many bytes, or the best read of its input.
    limit_kind: str = "copy"

    def cases(self, *, small: bool) -> Sequence[Case]:
        """Those of the emulator, or those of a GPU."""
        return self.emulator if small else self.gpu

    def typical(self, record: OperatorRecord, *, small: bool) -> Case:
        """The case that stands for all."""
        cases = self.cases(small=small)
        single = [case for case in cases if case.dtype == "float32"] or list(cases)
        return min(single, key=lambda case: abs(math.log(max(record.bytes_moved(case), 1) / TYPICAL_BYTES)))


def row(shape: tuple[int, ...], dtype: str = "float32", **parameters: Any) -> Case:
    """A benchmark's input."""
    return Case("bench", 1, shape, dtype, parameters=parameters)


def load_workload(op: str) -> Workload:
    """The workload of an operator."""
    workload: Workload = importlib.import_module(f"tests.bench.{op}").WORKLOAD
    return workload


def operators_with_workload() -> list[str]:
    """The names in bench/."""
    return sorted(file.stem for file in (ROOT / "tests" / "bench").glob("*.py"))


def operand_bytes(record: OperatorRecord, case: Case, operand: str) -> int:
    """Bytes of one operand, which is dense."""
    return FORMATS[case.dtype].size_bytes * math.prod(record.operand_shape(case, operand))


def bytes_read(record: OperatorRecord, case: Case) -> int:
    """Each input once."""
    return sum(operand_bytes(record, case, name) for name in record.inputs)


def describe(record: OperatorRecord, case: Case) -> str:
    """As softmax 4096x4096 axis=0 float32."""
    parameters = [f"{name}={value}" for name, value in case.parameters.items()]
    return " ".join([record.name, "x".join(map(str, case.shape)) or "scalar", *parameters, case.dtype])
