"""Can a row be trusted? Everything that speaks against a measurement, as sentences; none makes it TRUSTED."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.benchmark.operands import CACHE_FACTOR, is_cold

TRUSTED, SUSPECT = "TRUSTED", "SUSPECT"
TIMER_TOLERANCE = 0.03
# What events around one launch cost more than in a graph (2 to 3 us on an H200), at most.
SINGLE_ALLOWANCE_US = 5.0
CLOCK_TOLERANCE = 0.02
# Bytes that take less than this part of an empty launch do not matter to the time, cold or not.
LAUNCH_BOUND = 0.05
# Reasons of a device to run slower than it can, by the words in which machine.py names them.
THROTTLING = ("hardware slowdown", "hardware thermal", "software thermal", "hardware power brake")


@dataclass(frozen=True)
class Evidence:
    """What is known of one row. None where a device has no such thing."""

    time_us: float
    bytes_moved: int
    problem: str = ""  # of the outputs
    slope_us: float | None = None
    single_us: float | None = None
    floor_us: float | None = None
    empty_us: float | None = None
    sets: int = 1
    cache_bytes: int | None = None  # to be kept cold
    states: Sequence[Mapping[str, Any]] = field(default=())  # of the device while it was measured (machine.py)


def judge(evidence: Evidence) -> tuple[str, list[str]]:
    """The verdict and its reasons."""
    reasons = [
        reason
        for rule in (_outputs, _floor, _timers, _cold_cache, _clocks, _throttling, _other_processes)
        if (reason := rule(evidence))
    ]
    return (SUSPECT if reasons else TRUSTED), reasons


def _outputs(evidence: Evidence) -> str:
    return f"the output is wrong: {evidence.problem}" if evidence.problem else ""


def _floor(evidence: Evidence) -> str:
    if evidence.floor_us is None or evidence.time_us >= evidence.floor_us:
        return ""
    return (
        f"{evidence.time_us:.3g} us is less than the {evidence.floor_us:.3g} us that {evidence.bytes_moved} bytes take "
        "at the best bandwidth measured"
    )


def _timers(evidence: Evidence) -> str:
    slope, single, time = evidence.slope_us, evidence.single_us, evidence.time_us
    if slope is not None and abs(slope - time) > TIMER_TOLERANCE * time:
        return f"two timers disagree: {time:.4g} us in a graph, {slope:.4g} us by the slope between two graphs"
    if (
        single is not None
        and not -TIMER_TOLERANCE * time <= single - time <= TIMER_TOLERANCE * time + SINGLE_ALLOWANCE_US
    ):
        return f"two timers disagree: {time:.4g} us in a graph, {single:.4g} us launched alone"
    return ""


def _cold_cache(evidence: Evidence) -> str:
    if evidence.cache_bytes is None:
        return ""
    if is_cold(evidence.sets, evidence.bytes_moved, evidence.cache_bytes) or _is_launch_bound(evidence):
        return ""
    return (
        f"the cache was warm: {evidence.sets} sets of {evidence.bytes_moved} bytes are less than {CACHE_FACTOR} times "
        f"its {evidence.cache_bytes} bytes"
    )


def _is_launch_bound(evidence: Evidence) -> bool:
    if evidence.floor_us is None or evidence.empty_us is None:
        return False
    return evidence.floor_us < LAUNCH_BOUND * evidence.empty_us


def _clocks(evidence: Evidence) -> str:
    for name, text in (("sm_mhz", "SM clock"), ("memory_mhz", "memory clock")):
        found = [state[name] for state in evidence.states if state.get(name)]
        if found and max(found) - min(found) > CLOCK_TOLERANCE * max(found):
            return f"the {text} moved between {min(found)} and {max(found)} MHz"
    return ""


def _throttling(evidence: Evidence) -> str:
    found = {reason for state in evidence.states for reason in state.get("throttle_reasons", ())} & {*THROTTLING}
    return f"the device was slowed down: {', '.join(sorted(found))}" if found else ""


def _other_processes(evidence: Evidence) -> str:
    others = max((state.get("other_processes") or 0 for state in evidence.states), default=0)
    return f"{others} other process{'es' if others > 1 else ''} used the GPU" if others else ""
