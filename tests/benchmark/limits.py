"""What the device can do at best, measured in the same run and by the same timers as the operators.

For a number of bytes: the best copy, the best read, two reads and a write. Besides, what an empty launch costs. The
largest bandwidth of all of them says which times are too good to be true.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.benchmark.operands import COPY_BYTES, Arena, Pools, rounded_up, set_count
from tests.benchmark.subject import ProbeSubject
from tests.benchmark.timers import Run, measure
from tests.harness.targets import Target

FLOOR_FACTOR = 0.97  # what timing may err by
# Large enough that launching does not count and the last-level cache does not help.
LARGE_BYTES = 256 << 20
MOVES = {"copy": 2, "read": 1, "read_twice": 3}  # times that each probe moves its bytes
CANDIDATES = 2  # of the variants that a first look found fastest, to be timed in earnest
SCAN_SAMPLES = 3
SCAN_LAUNCHES = 64
EMPTY_SETS = 256  # launches in the graph that times empty launches


def floor_us(bytes_moved: int, best_gb_s: float | None) -> float | None:
    """Less than this no launch can take, given the best bandwidth that was measured."""
    return None if best_gb_s is None else bytes_moved / best_gb_s / 1e3 * FLOOR_FACTOR


def bandwidth_gb_s(probe: str, size_bytes: int, time_us: float) -> float:
    """Bytes moved over time; a copy moves its bytes twice."""
    return MOVES[probe] * size_bytes / time_us / 1e3


@dataclass(frozen=True)
class Best:
    """The best time of a probe for a number of bytes, and the variant that reached it."""

    variant: int
    time_us: float


class Limits:
    """The limits of one target, found size by size as they are asked for.

    Parameters
    ----------
    new_run : callable
        Makes the run that times a subject over so many sets.
    """

    def __init__(
        self, oprt: Any, target: Target, stream: Any, pools: Pools, cache_bytes: int, new_run: Callable[[Any, int], Run]
    ) -> None:
        self._oprt, self._target, self._stream, self._pools = oprt, target, stream, pools
        self._cache_bytes, self._new_run = cache_bytes, new_run
        self._candidates: dict[tuple[str, int], list[int]] = {}
        self.best: dict[tuple[str, int], Best] = {}
        self.empty_us: float | None = None
        self.bare_launch_us: float | None = None

    def measure_launches(self) -> None:
        """What an empty kernel takes in a graph, and what the host pays for a bare launch."""
        run = self._new_run(ProbeSubject(self._oprt, "empty", 0, self._stream, None), EMPTY_SETS)
        try:
            measure([run])
            self.empty_us = run.timing.time_us
        finally:
            run.close()
        self.bare_launch_us = statistics.median(self._oprt.measure_launches(stream=self._stream))

    def measure_size(self, size_bytes: int, kinds: Sequence[str] = tuple(MOVES)) -> None:
        """Time the probes for a number of bytes on their own."""
        with self.runs(size_bytes, kinds) as runs:
            measure(runs)
            self.note(size_bytes, runs)

    @contextmanager
    def runs(self, size_bytes: int, kinds: Sequence[str]) -> Iterator[list[Run]]:
        """The runs of the fastest variants, to be measured among others and then given to note()."""
        arena = self._filled_arena(size_bytes)
        runs: list[Run] = []
        try:
            for probe in kinds:
                for variant in self._fastest(probe, size_bytes, arena):
                    runs.append(
                        self._new_run(ProbeSubject(self._oprt, probe, variant, self._stream, arena), arena.count)
                    )
            yield runs
        finally:
            for run in runs:
                run.close()
            arena.close()

    def sets_bytes(self, size_bytes: int) -> int:
        """How much memory runs() takes."""
        return 2 * size_bytes * self._set_count(size_bytes)

    def missing(self, size_bytes: int) -> list[str]:
        """The probes that were not yet timed for a number of bytes."""
        return [probe for probe in MOVES if (probe, size_bytes) not in self.best]

    def note(self, size_bytes: int, runs: Sequence[Run]) -> dict[str, float]:
        """Keep the best times of measured runs; the result is the best of these runs alone, by probe."""
        found: dict[str, float] = {}
        for run in runs:
            probe, variant, time_us = run.subject.probe, run.subject.variant, run.timing.time_us  # type: ignore[attr-defined]
            found[probe] = min(time_us, found.get(probe, math.inf))
            before = self.best.get((probe, size_bytes))
            if before is None or time_us < before.time_us:
                self.best[probe, size_bytes] = Best(variant, time_us)
        return found

    def best_gb_s(self) -> float | None:
        """The largest bandwidth of any copy or read so far."""
        found = [
            bandwidth_gb_s(probe, size, best.time_us)
            for (probe, size), best in self.best.items()
            if probe in ("copy", "read")
        ]
        return max(found, default=None)

    def entries(self) -> Iterator[dict[str, Any]]:
        """The document's entries, by size."""
        for size in sorted({size for _, size in self.best}):
            if any(probe in self.missing(size) for probe in ("copy", "read")):
                continue
            copy, read, twice = (self.best.get((probe, size)) for probe in ("copy", "read", "read_twice"))
            assert copy is not None and read is not None
            yield {
                "backend": self._target.backend,
                "device": self._target.device,
                "size_bytes": size,
                "copy_us": copy.time_us,
                "copy_gb_s": bandwidth_gb_s("copy", size, copy.time_us),
                "copy_variant": copy.variant,
                "read_us": read.time_us,
                "read_gb_s": bandwidth_gb_s("read", size, read.time_us),
                "read_variant": read.variant,
                "read_twice_us": twice.time_us if twice else None,
                "empty_us": self.empty_us,
                "bare_launch_us": self.bare_launch_us,
            }

    def _set_count(self, size_bytes: int) -> int:
        # The sources alone have to keep the cache cold: a read touches nothing else.
        return set_count(size_bytes, self._cache_bytes)

    def _filled_arena(self, size_bytes: int) -> Arena:
        size = rounded_up(size_bytes, COPY_BYTES)
        arena = Arena(self._oprt, self._target, [size, size], self._set_count(size))
        pool = self._pools.of("float32", size)
        for index in range(arena.count):
            pool.fill(arena.buffer(index, 0), COPY_BYTES * index, self._stream)
        self._stream.synchronize()
        return arena

    def _fastest(self, probe: str, size_bytes: int, arena: Arena) -> list[int]:
        """The variants that a first look finds fastest; looked for once."""
        key = (probe, size_bytes)
        if key not in self._candidates:
            count = self._oprt.probe_variants(probe, **self._target.where)
            subjects = [ProbeSubject(self._oprt, probe, variant, self._stream, arena) for variant in range(count)]
            times = [self._look_at(subject, arena.count) for subject in subjects]
            self._candidates[key] = sorted(range(count), key=times.__getitem__)[:CANDIDATES]
        return self._candidates[key]

    def _look_at(self, subject: ProbeSubject, sets: int) -> float:
        """A rough time: few replays of a short graph that still rotates over all sets."""
        launches = rounded_up(min(SCAN_LAUNCHES, max(sets, LARGE_BYTES // subject.size_bytes)), sets)
        with subject.capture() as graph:
            for launch in range(launches):
                subject.launch(launch % sets)
        try:
            return statistics.median(self._time_graph(graph) for _ in range(SCAN_SAMPLES)) / launches
        finally:
            graph.close()

    def _time_graph(self, graph: Any) -> float:
        start, stop = self._oprt.Event(), self._oprt.Event()
        graph.launch(self._stream)
        start.record(self._stream)
        graph.launch(self._stream)
        stop.record(self._stream)
        stop.synchronize()
        elapsed_us = float(stop.elapsed_ms(start) * 1e3)
        start.close()
        stop.close()
        return elapsed_us
