"""Where subjects find their operands: many sets in one piece of device memory, filled from a pool of random elements.

Rotating over sets that are together larger than the last-level cache keeps every launch cold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.benchmark.workload import operand_bytes
from tests.harness import values
from tests.harness.formats import FORMATS, Bits
from tests.harness.record import Case, OperatorRecord
from tests.harness.targets import Target

CACHE_FACTOR = 4  # all sets together are larger than the cache by this factor
MIN_SETS, MAX_SETS = 2, 2048
ALIGNMENT_BYTES = 256
COPY_BYTES = 16  # a copy moves a multiple of this
POOL_BYTES = 64 << 20  # on a GPU; the emulator's pool is as small as its shapes
POOL_SEED = 20240229
POISON = 0xFF  # NaN in every floating format
# Multiples of 16 bytes by which the sets, inputs and seeds are apart in the pool. Primes, so that none fall together.
SET_STEP, INPUT_STEP, SEED_STEP = 7919, 104729, 15485863


def set_count(bytes_moved: int, cache_bytes: int) -> int:
    """How many sets keep a cache cold; MAX_SETS when that is not enough, which the verdict looks at.

    Examples
    --------
    >>> set_count(10 << 20, 50 << 20)
    21
    """
    return max(MIN_SETS, min(MAX_SETS, CACHE_FACTOR * cache_bytes // max(bytes_moved, 1) + 1))


def is_cold(sets: int, bytes_moved: int, cache_bytes: int) -> bool:
    """Whether rotating over so many sets keeps a cache cold."""
    return sets * bytes_moved >= CACHE_FACTOR * cache_bytes


def rounded_up(size: int, step: int) -> int:
    """The next multiple of step."""
    return -(-size // step) * step


def random_elements(random: np.random.Generator, count: int, dtype: str) -> Bits:
    """Normally distributed elements in the storage type; any bits for opaque formats."""
    if dtype not in ("float32", "float16", "bfloat16"):
        return values.make("normal", random, (count,), dtype)
    single = random.standard_normal(count, np.float32)
    if dtype != "bfloat16":
        return single.astype(FORMATS[dtype].storage, copy=False)
    bits = single.view(np.uint32)  # finite, so that rounding to nearest even is this sum
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


class Pool:
    """Random elements of one dtype, the same on the host and on the device."""

    def __init__(self, oprt: Any, target: Target, dtype: str, size_bytes: int) -> None:
        count = size_bytes // FORMATS[dtype].size_bytes
        self.bits = random_elements(np.random.default_rng(POOL_SEED), count, dtype)
        self.bytes = self.bits.view(np.uint8)
        self.tensor = oprt.from_numpy(self.bytes, **target.where)
        self._oprt = oprt

    def pieces(self, offset: int, size_bytes: int) -> Iterator[tuple[int, int]]:
        """First and last byte of the parts of the pool that follow each other from an offset on."""
        while size_bytes > 0:
            offset %= self.bytes.size
            taken = min(size_bytes, self.bytes.size - offset)
            yield offset, offset + taken
            offset, size_bytes = offset + taken, size_bytes - taken

    def fill(self, destination: Any, offset: int, stream: Any) -> None:
        """Queue the copy of what stands at an offset to a tensor of bytes."""
        done = 0
        for low, high in self.pieces(offset, destination.size):
            target = destination[done : done + high - low]
            self._oprt.run_probe("copy", 0, target, self.tensor[low:high], stream=stream)
            done += high - low

    def host_bytes(self, offset: int, size_bytes: int) -> Any:
        """The same bytes on the host."""
        parts = [self.bytes[low:high] for low, high in self.pieces(offset, size_bytes)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def close(self) -> None:
        self.tensor.close()


class Pools:
    """The pools of one target, made when they are needed."""

    def __init__(self, oprt: Any, target: Target) -> None:
        self._oprt, self._target = oprt, target
        self._pools: dict[str, Pool] = {}

    def of(self, dtype: str, size_bytes: int) -> Pool:
        """A pool of a dtype for operands of a size."""
        wanted = rounded_up(2 * size_bytes, 4096) if self._target.is_emulator else POOL_BYTES
        wanted = min(wanted, POOL_BYTES)
        pool = self._pools.get(dtype)
        if pool is None or pool.bytes.size < wanted:
            if pool is not None:
                pool.close()
            pool = self._pools[dtype] = Pool(self._oprt, self._target, dtype, wanted)
        return pool

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


class Arena:
    """One piece of device memory, cut into sets of buffers of given sizes. The buffers of one place lie together."""

    def __init__(self, oprt: Any, target: Target, sizes_bytes: Sequence[int], count: int) -> None:
        self.sizes_bytes = [rounded_up(max(size, 1), COPY_BYTES) for size in sizes_bytes]
        self.steps = [rounded_up(size, ALIGNMENT_BYTES) for size in self.sizes_bytes]
        self.starts = [count * sum(self.steps[:place]) for place in range(len(self.steps))]
        self.count = count
        self.memory = oprt.empty((count * sum(self.steps),), "uint8", **target.where)

    def buffer(self, index: int, place: int) -> Any:
        """The bytes of one buffer of a set."""
        start = self.starts[place] + index * self.steps[place]
        return self.memory[start : start + self.sizes_bytes[place]]

    def region(self, place: int) -> Any:
        """The buffers of one place of all sets."""
        start = self.starts[place]
        return self.memory[start : start + self.count * self.steps[place]]

    def close(self) -> None:
        self.memory.close()


def arena_bytes(sizes_bytes: Sequence[int], count: int) -> int:
    """How much memory an arena takes."""
    return count * sum(rounded_up(max(size, 1), ALIGNMENT_BYTES) for size in sizes_bytes)


@dataclass(frozen=True)
class OperandSet:
    """The operands of one launch, as tensors."""

    inputs: list[Any]
    output: Any


class OperandSets(Sequence[OperandSet]):
    """The operand sets that all subjects of one case share."""

    def __init__(
        self, oprt: Any, record: OperatorRecord, case: Case, target: Target, stream: Any, count: int, pool: Pool
    ) -> None:
        self.record, self.case, self.stream, self.pool = record, case, stream, pool
        names = [*record.inputs, "y"]
        self.arena = Arena(oprt, target, [operand_bytes(record, case, name) for name in names], count)
        self._sets = [
            OperandSet(
                [self._tensor(index, place, name) for place, name in enumerate(record.inputs)],
                self._tensor(index, len(record.inputs), "y"),
            )
            for index in range(count)
        ]
        self.seed = 0
        self.refill(0)

    def _tensor(self, index: int, place: int, name: str) -> Any:
        shape = self.record.operand_shape(self.case, name)
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return self.arena.buffer(index, place).as_strided(shape, strides, 0, dtype=self.case.dtype)

    def __len__(self) -> int:
        return len(self._sets)

    def __getitem__(self, index: Any) -> Any:
        return self._sets[index]

    def refill(self, seed: int) -> None:
        """Give every input other values; each seed has its own."""
        self.seed = seed
        for index in range(len(self)):
            for place in range(len(self.record.inputs)):
                self.pool.fill(self.arena.buffer(index, place), self._offset(index, place), self.stream)
        self.stream.synchronize()

    def _offset(self, index: int, place: int) -> int:
        return COPY_BYTES * (SET_STEP * index + INPUT_STEP * place + SEED_STEP * self.seed)

    def input_bits(self, index: int) -> dict[str, Bits]:
        """What the inputs of a set hold, by name; read-only."""
        found = {}
        for place, name in enumerate(self.record.inputs):
            size = operand_bytes(self.record, self.case, name)
            raw = self.pool.host_bytes(self._offset(index, place), size)
            found[name] = raw.view(FORMATS[self.case.dtype].storage).reshape(self.record.operand_shape(self.case, name))
        return found

    def poison(self) -> None:
        """Make every output what no operator writes."""
        self.arena.region(len(self.record.inputs)).fill_bytes(POISON)

    def outputs(self, index: int) -> Bits:
        """The output of a set, on the host, in the storage type."""
        size = operand_bytes(self.record, self.case, "y")
        raw = self.arena.buffer(index, len(self.record.inputs)).numpy()[:size]
        return raw.view(FORMATS[self.case.dtype].storage).reshape(self.record.operand_shape(self.case, "y"))

    def close(self) -> None:
        self.arena.close()
