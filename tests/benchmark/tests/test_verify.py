"""Which places of a large case are looked at, and that a wrong element there is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.benchmark import verify
from tests.benchmark.workload import load_workload, row
from tests.harness.formats import FORMATS, Bits
from tests.harness.record import Case, load_record


class HostSets:
    """Operand sets of any operator, on the host."""

    def __init__(self, op: str, case: Case, count: int) -> None:
        self.record, self.case, self.count = load_record(op), case, count

    def __len__(self) -> int:
        return self.count

    def input_bits(self, index: int) -> dict[str, Bits]:
        random = np.random.default_rng(index)
        return {
            name: random.standard_normal(self.case.shape).astype(FORMATS[self.case.dtype].storage)
            for name in self.record.inputs
        }

    def right(self, index: int) -> Bits:
        """The output that NumPy makes."""
        inputs = list(self.input_bits(index).values())
        out = np.empty(self.record.operand_shape(self.case, "y"), FORMATS[self.case.dtype].storage)
        self.record.numpy_call(*inputs, out=out, **self.case.parameters)
        return out


CASES = [
    ("softmax", row((50, 40)), 0),
    ("softmax", row((40, 50), axis=0), 1),
    ("softmax", row((6, 50, 40), axis=1), 2),
    ("reduce_sum", row((50, 40), axis=-1), 0),
    ("reduce_sum", row((40, 50), axis=0), 0),
    ("copy", row((2000,)), 0),
    ("vector_add", row((2000,)), 0),
]


def reference_of(op: str, case: Case, count: int = 4) -> tuple[verify.Reference, HostSets]:
    sets: Any = HostSets(op, case, count)
    return verify.Reference(load_record(op), case, load_workload(op), sets, False), sets


@pytest.fixture(params=[None, 400], ids=["whole", "sampled"])
def sampled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        monkeypatch.setattr(verify, "MAX_ELEMENTS", request.param)
        monkeypatch.setattr(verify, "MAX_ELEMENTS_ELSEWHERE", request.param // 4)
    return bool(request.param)


@pytest.mark.parametrize(("op", "case", "output_axis"), CASES)
@pytest.mark.parametrize("end", [0, -1])
def test_wrong_elements_at_both_ends_are_found(op: str, case: Case, output_axis: int, end: int, sampled: bool) -> None:
    reference, sets = reference_of(op, case)
    assert reference.problem(sets.right) == ""

    def wrong(index: int) -> Bits:
        bits = sets.right(index)
        place: list[Any] = [slice(None)] * bits.ndim
        place[output_axis] = end
        bits[tuple(place)] *= np.float32(1.001)
        return bits

    assert "elements are wrong" in reference.problem(wrong)


@pytest.mark.parametrize(("op", "case", "output_axis"), CASES)
def test_one_element_that_was_not_written_is_found_in_any_set(
    op: str, case: Case, output_axis: int, sampled: bool
) -> None:
    reference, sets = reference_of(op, case)
    for broken in range(len(sets)):

        def unwritten(index: int, broken: int = broken) -> Bits:
            bits = sets.right(index)
            if index == broken:
                bits.view(np.uint32).reshape(-1)[bits.size // 2] = 0xFFFFFFFF
            return bits

        size = sets.right(0).size
        assert reference.problem(unwritten) == f"set {broken}: 1 of {size} elements were never written"


def test_results_of_another_set_are_found() -> None:
    reference, sets = reference_of("copy", row((100,)))
    assert "elements are wrong" in reference.problem(lambda index: sets.right(0))


def test_large_outputs_are_fetched_of_some_sets_only(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, sets = reference_of("copy", row((100,)), count=50)
    monkeypatch.setattr(verify, "DOWNLOAD_BYTES", 1000)
    fetched: list[int] = []

    def outputs(index: int) -> Bits:
        fetched.append(index)
        return sets.right(index)

    assert reference.problem(outputs) == ""
    assert {0, 49} <= set(fetched)
    assert len(fetched) <= 3


def test_what_combines_all_elements_is_looked_at_as_a_whole() -> None:
    assert verify.choose_sample(row((1000,)), (0,), 0, 10, 0) is verify.WHOLE
    assert verify.choose_sample(row((1, 1000)), (1,), 1, 10, 0) is verify.WHOLE
    assert verify.choose_sample(row((10, 10)), (1,), 2, 100, 0) is verify.WHOLE


def test_poison_of_every_width() -> None:
    for name, item in FORMATS.items():
        bits = np.frombuffer(bytes([0xFF] * item.size_bytes + [0x7F] * item.size_bytes), item.storage)
        assert verify.is_poison(bits).tolist() == [True, False], name
