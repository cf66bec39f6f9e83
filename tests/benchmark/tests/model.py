"""A GPU in numbers, for tests without one: memory and a cache with bandwidths, launches and replays that cost time.

Work runs at once, on host arrays, and moves the model's clock; streams, events and captures look as operator_runtime's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.benchmark.operands import POISON
from tests.benchmark.workload import row
from tests.harness.record import load_record

MEMORY_GB_S, CACHE_GB_S = 10.0, 40.0
CACHE_BYTES = 1 << 18
LAUNCH_US, REPLAY_US = 0.1, 2.0
ELEMENTS = 4096
RECORD, CASE = load_record("copy"), row((ELEMENTS,))
BYTES_MOVED = RECORD.bytes_moved(CASE)


class Device:
    """The model. Its cache keeps what was touched last."""

    def __init__(self) -> None:
        self.now_us = 0.0
        self.replay_us = REPLAY_US
        self.captured: list[Callable[[], None]] | None = None
        self._cache: OrderedDict[int, int] = OrderedDict()

    def queue(self, work: Callable[[], None]) -> None:
        """Run a launch, or take it into the graph that is being captured."""
        work() if self.captured is None else self.captured.append(work)

    def touch(self, array: Any) -> None:
        """The time for reading or writing an array."""
        bandwidth = CACHE_GB_S if id(array) in self._cache else MEMORY_GB_S
        self.now_us += array.nbytes / bandwidth / 1e3
        self._cache[id(array)] = array.nbytes
        self._cache.move_to_end(id(array))
        while sum(self._cache.values()) > CACHE_BYTES:
            self._cache.popitem(last=False)

    def synchronize(self) -> None:
        """A stream's: everything has run already."""

    @contextmanager
    def capture(self) -> Iterator[Graph]:
        self.captured = []
        graph = Graph(self, self.captured)
        yield graph
        self.captured = None

    def event(self) -> Event:
        return Event(self)


class Event:
    """A point of the model's time."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.at_us = 0.0

    def record(self, stream: Any) -> None:
        self.at_us = self._device.now_us

    def synchronize(self) -> None:
        """It has passed."""

    def elapsed_ms(self, since: Event) -> float:
        return (self.at_us - since.at_us) / 1e3

    def close(self) -> None:
        """Nothing is held."""


class Graph:
    """Captured launches."""

    def __init__(self, device: Device, work: list[Callable[[], None]]) -> None:
        self._device, self.work = device, work

    def launch(self, stream: Any = None) -> None:
        self._device.now_us += self._device.replay_us
        for launch in self.work:
            launch()

    def close(self) -> None:
        self.work = []


class Sets:
    """Operand sets on the host."""

    def __init__(self, count: int) -> None:
        self.x = [np.zeros(ELEMENTS, np.float32) for _ in range(count)]
        self.y = [np.zeros(ELEMENTS, np.float32) for _ in range(count)]
        self.refill(0)

    def __len__(self) -> int:
        return len(self.x)

    def refill(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        for x in self.x:
            x[:] = random.standard_normal(ELEMENTS)

    def input_bits(self, index: int) -> dict[str, Any]:
        return {"x": self.x[index]}

    def poison(self) -> None:
        for y in self.y:
            y.view(np.uint8)[:] = POISON

    def outputs(self, index: int) -> Any:
        return self.y[index].copy()


class Copy:
    """An honest copy of every set; the others below are not."""

    name, kind, note = "copy", "technique", ""

    def __init__(self, device: Device, sets: Sets) -> None:
        self.device, self.sets = device, sets

    def launch(self, index: int) -> None:
        self.device.queue(lambda: self.run(index))

    def run(self, index: int) -> None:
        self.device.now_us += LAUNCH_US
        self.move(self.sets.x[index], self.sets.y[index])

    def move(self, x: Any, y: Any) -> None:
        self.device.touch(x)
        self.device.touch(y)
        y[:] = x

    def capture(self) -> Any:
        return self.device.capture()

    def outputs(self, index: int) -> Any:
        return self.sets.outputs(index)

    def close(self) -> None:
        """Nothing is held."""


class DoesNothing(Copy):
    """A kernel without a body."""

    def move(self, x: Any, y: Any) -> None:
        """Nothing."""


class SkipsHalf(Copy):
    """A kernel that leaves the second half of its output."""

    def move(self, x: Any, y: Any) -> None:
        self.device.now_us += x.nbytes / MEMORY_GB_S / 1e3
        y[: ELEMENTS // 2] = x[: ELEMENTS // 2]


class SameBuffers(Copy):
    """Every launch on the first set, which the cache holds."""

    def run(self, index: int) -> None:
        super().run(0)


class RemembersResults(Copy):
    """Writes what it computed once, whatever the inputs hold now."""

    def __init__(self, device: Device, sets: Sets) -> None:
        super().__init__(device, sets)
        self.results: dict[int, Any] = {}

    def run(self, index: int) -> None:
        super().run(index)
        self.sets.y[index][:] = self.results.setdefault(index, self.sets.y[index].copy())


class LosesLaunches(Copy):
    """Its graphs hold nothing."""

    @contextmanager
    def capture(self) -> Iterator[Graph]:
        with self.device.capture() as graph:
            yield graph
        graph.work = []


class HalfTheLaunches(Copy):
    """Its graphs hold every other launch only."""

    @contextmanager
    def capture(self) -> Iterator[Graph]:
        with self.device.capture() as graph:
            yield graph
        graph.work = graph.work[::2]
