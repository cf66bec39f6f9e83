"""Are the outputs right? Looked at after the timed runs, on inputs that changed since, by replaying what was timed.

Every output is poisoned first, so that what was not written shows. One set is compared with the float64 reference as a
whole, or, where that is large, at sampled places of the axes along which nothing is combined; others in a few places.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tests.benchmark.operands import POISON
from tests.benchmark.workload import Workload
from tests.harness.comparison import Wanted, explain, wrong_elements
from tests.harness.formats import FORMATS, Bits, encode
from tests.harness.record import Case, OperatorRecord

CHANGED_SEED = 1  # of the inputs that outputs are verified with; those that were timed have 0
MAX_ELEMENTS = 1 << 22  # of the inputs, beyond which places are sampled
MAX_ELEMENTS_ELSEWHERE = 1 << 16  # in the sets that are looked at in a few places
DOWNLOAD_BYTES = 256 << 20  # of outputs; beyond, only some sets are looked at


class Sets(Protocol):
    """What is asked of operand sets here."""

    def __len__(self) -> int:
        """How many there are."""

    def input_bits(self, index: int) -> dict[str, Bits]:
        """What the inputs of a set hold."""

    def poison(self) -> None:
        """Make every output what no operator writes."""


@dataclass(frozen=True)
class Sample:
    """Where a case is looked at: all of it (axis -1), or some places of one axis. The axis is the inputs'."""

    axis: int
    output_axis: int
    places: Any

    def of_input(self, bits: Bits) -> Bits:
        return bits if self.axis < 0 else np.ascontiguousarray(np.take(bits, self.places, axis=self.axis))

    def of_output(self, bits: Bits) -> Bits:
        return bits if self.axis < 0 else np.ascontiguousarray(np.take(bits, self.places, axis=self.output_axis))

    def of_case(self, case: Case) -> Case:
        if self.axis < 0:
            return case
        shape = list(case.shape)
        shape[self.axis] = len(self.places)
        return dataclasses.replace(case, shape=tuple(shape))


WHOLE = Sample(-1, -1, None)


def choose_sample(case: Case, combined_axes: Sequence[int], output_rank: int, elements: int, seed: int) -> Sample:
    """The first, the last and random places of one axis, so that about so many elements come together.

    Examples
    --------
    >>> sample = choose_sample(Case("bench", 1, (1000, 512)), (-1,), 1, 512 * 8, seed=0)
    >>> sample.axis, len(sample.places), sorted(sample.places)[0], sorted(sample.places)[-1]
    (0, 8, 0, 999)
    """
    size, rank = math.prod(case.shape), len(case.shape)
    combined = {axis % rank for axis in combined_axes} if rank else set()
    free = [axis for axis in range(rank) if axis not in combined and case.shape[axis] > 1]
    if size <= elements or not free or case.shapes:
        return WHOLE
    axis = max(free, key=lambda each: case.shape[each])
    extent = case.shape[axis]
    count = min(extent, max(2, elements * extent // size))
    random = np.random.default_rng(seed).integers(0, extent, count - 2)
    # Where the output has fewer axes, the combined ones are gone.
    gone = 0 if output_rank == rank else sum(each < axis for each in combined)
    return Sample(axis, axis - gone, np.concatenate([[0, extent - 1], random]))


@dataclass
class Expected:
    """What one set's output has to be at the sampled places."""

    set_index: int
    sample: Sample
    wanted: Wanted
    rounded: Bits  # the wanted values in the format: what is equal to them is right at once


class Reference:
    """What the outputs of all sets have to be, computed once for all subjects of a case."""

    def __init__(self, record: OperatorRecord, case: Case, workload: Workload, sets: Sets, flushes: bool) -> None:
        self._record, self._case, self._workload, self._sets, self._flushes = record, case, workload, sets, flushes
        count = len(sets)
        chosen = int(np.random.default_rng(record.seed(case)).integers(count))
        self._expected = [self._expect(chosen, MAX_ELEMENTS)]
        others = {0, count - 1} - {chosen}
        if math.prod(case.shape) <= MAX_ELEMENTS or self._expected[0].sample is not WHOLE:
            self._expected += [self._expect(other, MAX_ELEMENTS_ELSEWHERE) for other in sorted(others)]

    def _expect(self, index: int, elements: int) -> Expected:
        output_rank = len(self._record.operand_shape(self._case, "y"))
        combined = self._workload.combined_axes(self._case)
        sample = choose_sample(self._case, combined, output_rank, elements, index)
        bits = {name: sample.of_input(each) for name, each in self._sets.input_bits(index).items()}
        wanted = self._record.wanted(sample.of_case(self._case), bits)
        if wanted.bitwise:
            return Expected(index, sample, wanted, np.asarray(wanted.values))
        return Expected(index, sample, wanted, encode(np.asarray(wanted.values, np.float64), self._case.dtype))

    def problem(self, outputs: Callable[[int], Bits]) -> str:
        """What is wrong with the outputs, of all sets where they are not too large; "" when nothing is."""
        expected = {each.set_index: each for each in self._expected}
        for index in self._looked_at(expected):
            got = outputs(index)
            never = int(is_poison(got).sum())
            if never:
                return f"set {index}: {never} of {got.size} elements were never written"
            if index in expected and (problem := self._compare(expected[index], got)):
                return f"set {index}: {problem}"
        return ""

    def _looked_at(self, expected: Mapping[int, Expected]) -> Sequence[int]:
        count = len(self._sets)
        size = FORMATS[self._case.dtype].size_bytes * math.prod(self._record.operand_shape(self._case, "y"))
        return range(count) if count * size <= DOWNLOAD_BYTES else list(expected)

    def _compare(self, expected: Expected, output: Bits) -> str:
        got = expected.sample.of_output(output)
        differs = np.asarray(got != expected.rounded)
        if not differs.any():
            return ""
        wanted = _only(expected.wanted, differs)
        wrong = wrong_elements(got[differs], wanted, self._case.dtype, self._flushes)
        if not wrong.any():
            return ""
        where = np.zeros(got.shape, bool)
        where[differs] = wrong
        return explain(got, expected.wanted, where, np.zeros(got.shape, bool), self._case.dtype)


def _only(wanted: Wanted, places: Any) -> Wanted:
    """The wanted values at some places."""
    values = np.asarray(wanted.values)
    allowed = np.broadcast_to(wanted.allowed, values.shape)
    return Wanted(values[places], allowed[places], wanted.bitwise)


def is_poison(bits: Bits) -> Any:
    """True where every byte of an element is the poison."""
    if bits.dtype.kind == "V":
        raw = np.ascontiguousarray(bits).view(np.uint8).reshape(*bits.shape, bits.dtype.itemsize)
        return (raw == POISON).all(axis=-1)
    kind = np.dtype(f"u{bits.dtype.itemsize}")
    return np.ascontiguousarray(bits).view(kind) == np.iinfo(kind).max


def verify(sets: Sets, reference: Reference, replay: Callable[[], object], outputs: Callable[[int], Any]) -> str:
    """Poison the outputs, do again what was timed, and say what is wrong; "" when nothing is.

    The reference was made after sets.refill(CHANGED_SEED).
    """
    sets.poison()
    replay()
    return reference.problem(outputs)
