"""How launches are timed. On a GPU: events around replays of a graph, and a second timer that has to agree.

The second timer is the slope between graphs of N and of 4 N launches, in which what a replay costs once cancels.
On the emulator the host's clock times one launch and its wait. No timer ever stands in for another.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.benchmark.subject import Graph, Subject

SAMPLES = 20
GRAPH_US = 500.0  # a replay takes about this long, so that what it costs once (2 to 4 us on an H200) is below 1 %
LONG_FACTOR = 4
MAX_LAUNCHES = 4096
WARM_UPS = 2  # replays before the time of a launch is estimated
WARM_UP_US = 10000.0  # of work before the first sample, in which clocks come up
# Replays longer than this need no other one before them to hide the host, and fewer slopes.
SLOW_US = 5000.0
SLOW_SLOPES = 5
SINGLE_FROM_US = 50.0  # shorter launches are not timed one by one: what an event costs would count
SINGLE_SAMPLES = 10
WATCH_EVERY = 5  # rounds
# Emulator: at most this long for one subject, so that an operator ends within 10 s on both backends together.
HOST_BUDGET_S = 0.25
MIN_HOST_SAMPLES, MAX_HOST_SAMPLES = 5, 100


@dataclass
class Timing:
    """The samples of one subject, in microseconds a launch."""

    timer: str
    sets: int
    launches_per_graph: int = 1
    samples_us: list[float] = field(default_factory=list)
    slope_samples_us: list[float] = field(default_factory=list)
    single_samples_us: list[float] = field(default_factory=list)

    @property
    def time_us(self) -> float:
        return statistics.median(self.samples_us)

    @property
    def spread_us(self) -> float:
        """The distance between the quartiles."""
        quartiles = statistics.quantiles(self.samples_us, n=4)
        return quartiles[2] - quartiles[0]

    @property
    def slope_us(self) -> float | None:
        return statistics.median(self.slope_samples_us) if self.slope_samples_us else None

    @property
    def single_us(self) -> float | None:
        return statistics.median(self.single_samples_us) if self.single_samples_us else None


class Run(Protocol):
    """The measuring of one subject, sample by sample."""

    subject: Subject
    timing: Timing

    @property
    def is_done(self) -> bool:
        """Whether there are enough samples."""

    def warm_up(self) -> None:
        """What comes before the first sample."""

    def sample(self) -> None:
        """Add one sample."""

    def finish(self) -> None:
        """What comes after the last sample."""

    def replay(self) -> None:
        """Do once more what was timed, over all sets, and wait."""

    def close(self) -> None:
        """Free graphs."""


class GraphRun:
    """Events around replays of a graph that rotates over all operand sets."""

    def __init__(self, subject: Subject, sets: int, stream: Any, new_event: Callable[[], Any]) -> None:
        self.subject, self._sets, self._stream = subject, sets, stream
        self._events = [new_event() for _ in range(3)]
        self._graphs: list[Graph] = []
        try:
            launches = self._choose_launches()
            self._short = self._graphs[0] if launches == sets else self._captured(launches)
            self._long = self._captured(LONG_FACTOR * launches)
        except BaseException:
            self.close()
            raise
        words = f"events around a graph of {launches} launches over {sets} sets of operands"
        self.timing = Timing(", ".join(filter(None, (words, subject.note))), sets, launches)

    def _choose_launches(self) -> int:
        """A multiple of the sets that lasts long enough."""
        graph = self._captured(self._sets)
        for _ in range(WARM_UPS):
            graph.launch(self._stream)
        replay_us = max(self._primed_replay_us(graph), 1e-3)
        self._is_slow = replay_us > SLOW_US
        most = max(1, MAX_LAUNCHES // self._sets)
        rotations = max(1, min(most, math.ceil(GRAPH_US / replay_us)))
        self._warm_ups = max(1, math.ceil(WARM_UP_US / (rotations * replay_us)))
        return self._sets * rotations

    def _captured(self, launches: int) -> Graph:
        with self.subject.capture() as graph:
            for launch in range(launches):
                self.subject.launch(launch % self._sets)
        self._graphs.append(graph)
        return graph

    def _primed_replay_us(self, graph: Graph) -> float:
        start, stop, _ = self._events
        graph.launch(self._stream)
        start.record(self._stream)
        graph.launch(self._stream)
        stop.record(self._stream)
        stop.synchronize()
        return float(stop.elapsed_ms(start) * 1e3)

    @property
    def is_done(self) -> bool:
        return len(self.timing.samples_us) >= SAMPLES

    def warm_up(self) -> None:
        """Replays until the device has worked for a while."""
        for _ in range(self._warm_ups):
            self._short.launch(self._stream)
        self._stream.synchronize()

    def sample(self) -> None:
        """One replay of each graph, back to back."""
        timing = self.timing
        start, middle, stop = self._events
        with_slope = not self._is_slow or len(timing.slope_samples_us) < SLOW_SLOPES
        if not self._is_slow:
            self._short.launch(self._stream)  # keeps the device busy while the host queues what is timed
        start.record(self._stream)
        self._short.launch(self._stream)
        middle.record(self._stream)
        if with_slope:
            self._long.launch(self._stream)
            stop.record(self._stream)
            stop.synchronize()
        middle.synchronize()
        short_us = middle.elapsed_ms(start) * 1e3
        timing.samples_us.append(short_us / timing.launches_per_graph)
        if with_slope:
            more = (LONG_FACTOR - 1) * timing.launches_per_graph
            timing.slope_samples_us.append((stop.elapsed_ms(middle) * 1e3 - short_us) / more)

    def finish(self) -> None:
        """Launches one by one, where they are long. Other libraries take the host too long for that."""
        if self.subject.kind == "peer" or self.timing.time_us <= SINGLE_FROM_US:
            return
        start, stop, _ = self._events
        for sample in range(SINGLE_SAMPLES):
            self.subject.launch(2 * sample % self._sets)  # so that the host is ahead
            start.record(self._stream)
            self.subject.launch((2 * sample + 1) % self._sets)
            stop.record(self._stream)
            stop.synchronize()
            self.timing.single_samples_us.append(stop.elapsed_ms(start) * 1e3)

    def replay(self) -> None:
        """The timed graph once more."""
        self._short.launch(self._stream)
        self._stream.synchronize()

    def close(self) -> None:
        for owned in (*self._graphs, *self._events):
            owned.close()
        self._graphs = []


class HostRun:
    """The host's clock around one launch and its wait."""

    def __init__(self, subject: Subject, stream: Any, clock: Callable[[], float] = time.perf_counter) -> None:
        self.subject, self._stream, self._clock = subject, stream, clock
        self._spent_s = 0.0
        self.timing = Timing("host clock, launch and wait", 1)

    @property
    def is_done(self) -> bool:
        count = len(self.timing.samples_us)
        return count >= MAX_HOST_SAMPLES or (count >= MIN_HOST_SAMPLES and self._spent_s >= HOST_BUDGET_S)

    def warm_up(self) -> None:
        self.replay()

    def sample(self) -> None:
        start = self._clock()
        self.replay()
        elapsed_s = self._clock() - start
        self._spent_s += elapsed_s
        self.timing.samples_us.append(elapsed_s * 1e6)

    def finish(self) -> None:
        """Nothing is left to do."""

    def replay(self) -> None:
        """One launch and its wait."""
        self.subject.launch(0)
        self._stream.synchronize()

    def close(self) -> None:
        """There is no graph."""


def measure(runs: Sequence[Run], watch: Callable[[], None] = lambda: None) -> dict[int, Exception]:
    """Take the samples of all runs in turns, forth and back, so that what drifts hits all alike.

    watch is called before the first round, after the last and now and then between. A peer that fails is left out;
    the result says which run (by its place) failed and how. Other failures are raised.
    """
    failed: dict[int, Exception] = {}

    def attempt(place: int, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:
            if runs[place].subject.kind != "peer":
                raise
            failed[place] = error

    def pending() -> list[int]:
        return [place for place, run in enumerate(runs) if place not in failed and not run.is_done]

    for place, run in enumerate(runs):
        attempt(place, run.warm_up)
    watch()
    rounds = 0
    while places := pending():
        for place in places if rounds % 2 == 0 else reversed(places):
            attempt(place, runs[place].sample)
        rounds += 1
        if rounds % WATCH_EVERY == 0:
            watch()
    watch()
    for place, run in enumerate(runs):
        if place not in failed:
            attempt(place, run.finish)
    return failed


def time_call(call: Callable[[], object], budget_s: float) -> float:
    """Median of the host's microseconds for a call, after one that warms up."""
    call()
    samples: list[float] = []
    end = time.perf_counter() + budget_s
    while len(samples) < MIN_HOST_SAMPLES or (time.perf_counter() < end and len(samples) < MAX_HOST_SAMPLES):
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e6)
    return statistics.median(samples)
