"""Each reason for which a row is SUSPECT, just inside and just outside of what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmark.verdict import Evidence, judge

STATE: dict[str, Any] = {"sm_mhz": 1980, "memory_mhz": 3201, "throttle_reasons": [], "other_processes": 0}
GOOD: dict[str, Any] = {
    "time_us": 100.0,
    "bytes_moved": 400_000,
    "slope_us": 100.5,
    "single_us": 102.0,
    "floor_us": 95.0,
    "empty_us": 1.0,
    "sets": 10,
    "cache_bytes": 1_000_000,
    "states": [STATE, STATE],
}


def judged(**changes: Any) -> tuple[str, list[str]]:
    return judge(Evidence(**{**GOOD, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"slope_us": 97.1},
        {"slope_us": 102.9},
        {"slope_us": None, "single_us": None, "floor_us": None, "cache_bytes": None, "states": []},
        {"single_us": 107.9},
        {"floor_us": 100.0},
        {"sets": 1, "floor_us": 0.04},  # so few bytes that only the launch counts
        {"states": [STATE, {**STATE, "sm_mhz": 1950}]},
        {"states": [STATE, {**STATE, "throttle_reasons": ["software power cap"]}]},
        {"states": [{**STATE, "sm_mhz": None, "other_processes": None}]},
    ],
)
def test_nothing_speaks_against_it(changes: dict[str, Any]) -> None:
    assert judged(**changes) == ("TRUSTED", [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problem": "set 0: 3 elements"}, "the output is wrong: set 0: 3 elements"),
        ({"floor_us": 100.1}, "100 us is less than the 100 us that 400000 bytes take at the best bandwidth measured"),
        ({"slope_us": 96.9}, "two timers disagree: 100 us in a graph, 96.9 us by the slope"),
        ({"slope_us": 103.1}, "two timers disagree"),
        ({"single_us": 96.9}, "two timers disagree: 100 us in a graph, 96.9 us launched alone"),
        ({"single_us": 108.1}, "two timers disagree"),
        ({"sets": 9}, "the cache was warm: 9 sets of 400000 bytes are less than 4 times its 1000000 bytes"),
        ({"sets": 1, "floor_us": 0.06}, "the cache was warm"),
        ({"states": [STATE, {**STATE, "sm_mhz": 1900}]}, "the SM clock moved between 1900 and 1980 MHz"),
        ({"states": [{**STATE, "memory_mhz": 2619}, STATE]}, "the memory clock moved between 2619 and 3201 MHz"),
        ({"states": [{**STATE, "throttle_reasons": ["hardware thermal"]}]}, "slowed down: hardware thermal"),
        ({"states": [STATE, {**STATE, "other_processes": 1}]}, "1 other process used the GPU"),
        ({"states": [{**STATE, "other_processes": 2}]}, "2 other processes used the GPU"),
    ],
)
def test_one_reason_makes_it_suspect(changes: dict[str, Any], reason: str) -> None:
    word, reasons = judged(**changes)
    assert word == "SUSPECT"
    assert len(reasons) == 1
    assert reason in reasons[0]


def test_all_reasons_are_given() -> None:
    assert len(judged(problem="no", floor_us=101.0, slope_us=50.0, sets=1)[1]) == 4
