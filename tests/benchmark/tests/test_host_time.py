"""Host time: bursts on an idle stream, divided by their length."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from tests.benchmark import host_time
from tests.harness.targets import Target


def test_a_burst_is_divided_by_its_calls() -> None:
    log: list[str] = []
    now = [0.0]

    def call() -> None:
        now[0] += 2e-6
        log.append("call")

    def wait() -> None:
        now[0] += 1.0  # must not count
        assert not gc.isenabled()
        log.append("wait")

    found = host_time.time_bursts(call, wait, 3, clock=lambda: now[0])
    assert found == [pytest.approx(2.0)] * 3
    bursts = 3 + host_time.WARM_UPS
    assert log.count("call") == bursts * host_time.BURST
    assert log[: host_time.BURST + 2] == ["wait", *["call"] * host_time.BURST, "wait"]
    assert gc.isenabled()


def test_entries_of_a_device(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream:
        found = list(host_time.measure_host_time(oprt, target, stream, with_torch=False, samples=3))
    assert [entry["what"] for entry in found] == ["bare launch", "prepared run", "functional"]
    for entry in found:
        assert (entry["backend"], entry["device"]) == (target.backend, target.device)
        assert len(entry["samples_us"]) == 3
        assert min(entry["samples_us"]) <= entry["median_us"] <= max(entry["samples_us"])
        assert entry["median_us"] > 0
