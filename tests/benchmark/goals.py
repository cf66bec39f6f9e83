"""How fast the shipped kernels have to be, and whether a row is.

T is the best copy of the row's input bytes in the same run, R the best read of them. table.py prints what holds beside
each row, page.py lists it. docs/benchmarking.md gets its list of goals from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmark.document import Document
from tests.benchmark.records import Row

MIB = 1 << 20
SHORT_ROW_BYTES = 256 << 10
LONG_ROW_BYTES = 4 * MIB
OVERLAP_FROM_BYTES = 4 * MIB
MAX_NOISE = 0.02  # a noisier run proves no more than this
PEER_AT_LIMIT = 1.05  # a peer within this factor of the limit can be met, not beaten
HOST_ALLOWANCE_US = {"prepared run": 1.0, "functional": 3.0}
BARE_LAUNCH = "bare launch"


@dataclass(frozen=True)
class Line:
    """One rule. The text is for people."""

    name: str
    text: str


SOFTMAX_32 = Line("softmax-float32", "softmax, rows up to 256 KB, float32: at most max(1.03 T, T + 0.45 us)")
SOFTMAX_16 = Line("softmax-16-bit", "softmax, rows up to 256 KB, 16-bit types: at most max(1.08 T, T + 0.6 us)")
SOFTMAX_MEDIUM = Line("softmax-medium-rows", "softmax, rows up to 4 MB: at most 1.15 T")
SOFTMAX_LONG = Line("softmax-long-rows", "softmax, longer rows: at most 1.05 x two reads and one write of the input")
REDUCE_SUM = Line("reduce_sum", "reduce_sum: at most max(1.08 R, R + 0.6 us)")
ELEMENTWISE = Line(
    "elementwise",
    "copy, vector_add, relu: not slower than the best peer by more than the self-test's noise (at most 2 %)",
)
AHEAD = Line(
    "ahead-of-peers",
    "softmax, reduce_sum: ahead of each peer that is over 1.05 x the limit, behind none by more than the noise",
)
OVERLAP = Line("overlap", "softmax, overlapped launches, float32, rows up to 4 MB, input from 4 MB on: at most 1.00 T")
HOST = Line("host-time", "host time of a call: at most a bare launch + 1.0 us (prepared run), + 3.0 us (functional)")
LINES = (SOFTMAX_32, SOFTMAX_16, SOFTMAX_MEDIUM, SOFTMAX_LONG, REDUCE_SUM, ELEMENTWISE, AHEAD, OVERLAP, HOST)


@dataclass(frozen=True)
class Goal:
    """One rule applied to one time. trusted: nothing speaks against the measurement."""

    line: Line
    what: str  # the row or the call
    time_us: float
    allowed_us: float
    trusted: bool = True
    must_be_less: bool = False  # equal is not enough

    @property
    def excess(self) -> float:
        """How much slower than allowed, as a fraction; negative when faster."""
        return self.time_us / self.allowed_us - 1

    @property
    def holds(self) -> bool:
        return self.time_us < self.allowed_us if self.must_be_less else self.time_us <= self.allowed_us


def measured_noise(document: Document, row: Row) -> float:
    """The self-test's noise on the row's device as a fraction, the largest one found."""
    found = [test.noise for test in document.self_test if (test.backend, test.device) == (row.backend, row.device)]
    return max(found, default=0.0)


def noise(document: Document, row: Row) -> float:
    """The noise that a goal may make use of: at most 2 %."""
    return min(measured_noise(document, row), MAX_NOISE)


def goals_of(document: Document, row: Row) -> list[Goal]:
    """The rules that concern a row: none for peers, for techniques other than the reference, and on the emulator."""
    if not row.is_reference or row.device_kind == "emulator" or row.limit_us is None:
        return []
    if row.launch == "overlap":
        return list(_overlap_goals(row, row.limit_us))
    return [*_limit_goals(document, row, row.limit_us), *_peer_goals(document, row, row.limit_us)]


def host_goals(document: Document) -> list[Goal]:
    """The rule on host time, applied to each device that measured a bare launch."""
    bare = {(time.backend, time.device): time.median_us for time in document.host_time if time.what == BARE_LAUNCH}
    return [
        Goal(
            HOST,
            f"{time.what} on {time.backend} {time.device}",
            time.median_us,
            bare[time.backend, time.device] + HOST_ALLOWANCE_US[time.what],
        )
        for time in document.host_time
        if time.what in HOST_ALLOWANCE_US and (time.backend, time.device) in bare and time.device != "emulator"
    ]


def all_goals(document: Document) -> list[Goal]:
    """Every rule applied to every row and call that it concerns."""
    return [goal for row in document.rows for goal in goals_of(document, row)] + host_goals(document)


def describe(row: Row) -> str:
    """The row in a few words, as "softmax 4096x4096 axis=0 float32"."""
    parameters = [f"{name}={value}" for name, value in row.parameters.items() if not _is_last_axis(row)]
    return " ".join([row.operator, "x".join(map(str, row.shape)), *parameters, row.dtype])


def _goal(row: Row, line: Line, allowed_us: float, **settings: bool) -> Goal:
    return Goal(line, describe(row), row.time_us, allowed_us, trusted=row.is_trusted, **settings)


def _is_last_axis(row: Row) -> bool:
    """Rows of memory are what is reduced; softmax without an axis takes the last one."""
    default = -1 if row.operator == "softmax" else None
    axis = row.parameters.get("axis", default)
    return axis in (-1, len(row.shape) - 1) or (axis is None and len(row.shape) == 1)


def _row_bytes(row: Row) -> int:
    elements = math.prod(row.shape)
    return row.shape[-1] * row.bytes_read // elements if elements else 0


def _limit_goals(document: Document, row: Row, limit_us: float) -> Iterator[Goal]:
    if not _is_last_axis(row):
        return
    if row.operator == "reduce_sum":
        yield _goal(row, REDUCE_SUM, max(1.08 * limit_us, limit_us + 0.6))
    elif row.operator == "softmax":
        yield from _softmax_goals(document, row, limit_us)


def _softmax_goals(document: Document, row: Row, limit_us: float) -> Iterator[Goal]:
    row_bytes = _row_bytes(row)
    if row_bytes <= SHORT_ROW_BYTES:
        if row.dtype == "float32":
            yield _goal(row, SOFTMAX_32, max(1.03 * limit_us, limit_us + 0.45))
        elif row.dtype in ("float16", "bfloat16"):
            yield _goal(row, SOFTMAX_16, max(1.08 * limit_us, limit_us + 0.6))
    elif row_bytes <= LONG_ROW_BYTES:
        yield _goal(row, SOFTMAX_MEDIUM, 1.15 * limit_us)
    else:
        limit = document.limit_of(row)
        if limit is not None and limit.read_twice_us is not None:
            yield _goal(row, SOFTMAX_LONG, 1.05 * limit.read_twice_us)


def _peer_goals(document: Document, row: Row, limit_us: float) -> Iterator[Goal]:
    peers = [peer for peer in document.peers_of(row) if peer.is_trusted]
    if not peers:
        return
    allowance = 1 + noise(document, row)
    best = min(peers, key=lambda peer: peer.time_us)
    if row.operator not in ("softmax", "reduce_sum"):
        yield _goal(row, ELEMENTWISE, best.time_us * allowance)
    elif best.time_us > PEER_AT_LIMIT * limit_us:
        yield _goal(row, AHEAD, best.time_us, must_be_less=True)
    else:
        yield _goal(row, AHEAD, best.time_us * allowance)
        # A slower peer that is over the limit has to be beaten, and may lie within the allowance.
        beatable = [peer.time_us for peer in peers if peer.time_us > PEER_AT_LIMIT * limit_us]
        if beatable:
            yield _goal(row, AHEAD, min(beatable), must_be_less=True)


def _overlap_goals(row: Row, limit_us: float) -> Iterator[Goal]:
    is_concerned = row.operator == "softmax" and row.dtype == "float32" and row.bytes_read >= OVERLAP_FROM_BYTES
    if is_concerned and _is_last_axis(row) and _row_bytes(row) <= LONG_ROW_BYTES:
        yield _goal(row, OVERLAP, limit_us)


def verdict(goals: list[Goal]) -> str:
    """One word for the table: ok, miss by how much (the worst one), or a dash without a goal."""
    missed = [goal for goal in goals if not goal.holds]
    if missed:
        return f"miss by {100 * max(goal.excess for goal in missed):.1f} %"
    return "ok" if goals else "-"
