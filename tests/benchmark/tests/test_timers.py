"""The timers on the model of a GPU: what they find is what the model says, and runs take turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.benchmark import timers
from tests.benchmark.tests import model


def run_of(device: model.Device, sets_count: int = 40) -> timers.GraphRun:
    sets = model.Sets(sets_count)
    return timers.GraphRun(model.Copy(device, sets), len(sets), device, device.event)


def cold_us() -> float:
    return model.LAUNCH_US + model.BYTES_MOVED / model.MEMORY_GB_S / 1e3


def test_graph_and_slope_find_the_time_of_a_launch() -> None:
    run = run_of(model.Device())
    assert timers.measure([run]) == {}
    timing = run.timing
    assert timing.slope_us == pytest.approx(cold_us())
    assert timing.time_us == pytest.approx(cold_us() + model.REPLAY_US / timing.launches_per_graph)
    assert timing.launches_per_graph % 40 == 0
    assert timing.launches_per_graph * cold_us() >= timers.GRAPH_US
    assert len(timing.samples_us) == len(timing.slope_samples_us) == timers.SAMPLES
    assert timing.single_us is None
    assert f"{timing.launches_per_graph} launches over 40 sets" in timing.timer


def test_the_device_works_a_while_before_the_first_sample() -> None:
    device = model.Device()
    run = run_of(device)
    before_us = device.now_us
    run.warm_up()
    assert device.now_us - before_us >= timers.WARM_UP_US
    assert run.timing.samples_us == []


def test_long_launches_are_timed_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "SINGLE_FROM_US", 1.0)
    run = run_of(model.Device())
    timers.measure([run])
    assert run.timing.single_us == pytest.approx(cold_us())


def test_slow_replays_get_fewer_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "SLOW_US", 10.0)
    run = run_of(model.Device())
    timers.measure([run])
    assert len(run.timing.slope_samples_us) == timers.SLOW_SLOPES
    assert len(run.timing.samples_us) == timers.SAMPLES


class Recorded:
    """A run that notes when it was sampled."""

    def __init__(
        self, name: str, log: list[str], kind: str = "technique", wanted: int = 3, fails: bool = False
    ) -> None:
        self.subject: Any = SimpleNamespace(name=name, kind=kind)
        self.name, self.log, self.wanted, self.fails = name, log, wanted, fails
        self.timing = timers.Timing("none", 1)

    @property
    def is_done(self) -> bool:
        return self.wanted <= 0

    def warm_up(self) -> None:
        self.log.append(f"warm {self.name}")

    def sample(self) -> None:
        if self.fails:
            raise ValueError(f"{self.name} fails")
        self.wanted -= 1
        self.log.append(self.name)

    def finish(self) -> None:
        self.log.append(f"end {self.name}")

    def replay(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def test_runs_take_turns_forth_and_back() -> None:
    log: list[str] = []
    runs = [Recorded("a", log), Recorded("b", log, wanted=2)]
    timers.measure(runs, lambda: log.append("watch"))
    assert log == ["warm a", "warm b", "watch", "a", "b", "b", "a", "a", "watch", "end a", "end b"]


def test_a_peer_that_fails_is_left_out() -> None:
    log: list[str] = []
    runs = [Recorded("a", log), Recorded("b", log, kind="peer", fails=True)]
    failed = timers.measure(runs)
    assert {place: str(error) for place, error in failed.items()} == {1: "b fails"}
    assert log == ["warm a", "warm b", "a", "a", "a", "end a"]


def test_a_technique_that_fails_ends_the_run() -> None:
    with pytest.raises(ValueError, match="a fails"):
        timers.measure([Recorded("a", [], fails=True)])


def test_the_hosts_clock_stops_at_its_budget() -> None:
    now = iter(range(1000))
    subject: Any = SimpleNamespace(kind="technique", launch=lambda index: None)
    run = timers.HostRun(subject, model.Device(), clock=lambda: next(now) * 0.03)
    timers.measure([run])
    assert len(run.timing.samples_us) == 9  # 9 x 30 ms is the first time over the budget
    assert run.timing.time_us == pytest.approx(30e3)
