"""The benchmark's result as text: a table with one line a row, and around it what is needed to read it.

On a terminal rich draws the table; elsewhere it is plain text. GPU and emulator rows never stand in one table.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.benchmark import goals
from tests.benchmark.document import Document
from tests.benchmark.records import Row

EMULATOR_NOTE = "Times on the emulator are times of this machine's CPU: they say nothing about any GPU."
LEGEND = (
    "time: median of one launch with cold caches. spread: distance of the quartiles, of that time. GB/s: bytes that "
    "have to move, over time.",
    "x limit: time over the best copy (reduce_sum: read) of the same input bytes in this run; 1.00 is as fast as "
    "memory allows.",
    "goal: what docs/benchmarking.md asks for. verdict: SUSPECT rows prove nothing; why stands below.",
)
EMULATOR_LEGEND = (
    "time: median of one launch and its wait. spread: distance of the quartiles, of that time. ratio: NumPy's time "
    "over this one.",
)


@dataclass(frozen=True)
class Column:
    """A header and the text of a row below it."""

    name: str
    text: Callable[[Document, Row], str]
    is_number: bool = False


def duration(time_us: float | None) -> str:
    """A time with its unit; a dash for none."""
    if time_us is None:
        return "-"
    return f"{time_us:.2f} us" if time_us < 1000 else f"{time_us / 1000:.2f} ms"


def shape(row: Row) -> str:
    """As 4096x4096 axis 0."""
    return " ".join(["x".join(map(str, row.shape)), *(f"{name} {value}" for name, value in row.parameters.items())])


def subject(row: Row) -> str:
    """The subject's name, marked where launches overlap."""
    return row.subject if row.launch == "ordinary" else f"{row.subject}, {row.launch}"


def bandwidth(row: Row) -> str:
    """In GB/s, three digits."""
    return f"{row.bandwidth_gb_s:{'.0f' if row.bandwidth_gb_s >= 100 else '#.3g'}}"


def of_limit(row: Row) -> str:
    """The time over the limit's."""
    return f"{row.time_us / row.limit_us:.2f}" if row.limit_us else "-"


def spread(row: Row) -> str:
    """The distance of the quartiles, in percent of the time."""
    return f"{100 * row.spread_us / row.time_us:.1f} %" if row.time_us else "-"


COMMON = (
    Column("operator", lambda _, row: row.operator),
    Column("subject", lambda _, row: subject(row)),
    Column("backend", lambda _, row: row.backend),
    Column("device", lambda _, row: row.device),
    Column("shape", lambda _, row: shape(row)),
    Column("dtype", lambda _, row: row.dtype),
    Column("time", lambda _, row: duration(row.time_us), is_number=True),
    Column("spread", lambda _, row: spread(row), is_number=True),
    Column("GB/s", lambda _, row: bandwidth(row), is_number=True),
)
GPU_COLUMNS = (
    *COMMON,
    Column("x limit", lambda _, row: of_limit(row), is_number=True),
    Column("goal", lambda document, row: goals.verdict(goals.goals_of(document, row)), is_number=True),
    Column("verdict", lambda _, row: row.verdict),
)
EMULATOR_COLUMNS = (
    *COMMON,
    Column("NumPy", lambda _, row: duration(row.numpy_us), is_number=True),
    Column("ratio", lambda _, row: f"{row.numpy_us / row.time_us:#.3g}" if row.numpy_us else "-", is_number=True),
    Column("verdict", lambda _, row: row.verdict),
)


def print_rows(document: Document) -> None:
    """Print the document: emulator and GPU apart, each with its devices, its table and what to know about it."""
    for is_emulator in (True, False):
        rows = [row for row in ordered(document.rows) if (row.device_kind == "emulator") == is_emulator]
        if not rows:
            continue
        columns: Sequence[Column] = EMULATOR_COLUMNS if is_emulator else GPU_COLUMNS
        places = {(row.backend, row.device) for row in rows}
        for device in document.devices:
            if (device.backend, device.device) in places:
                print(f"{device.backend} on {device.device}: {device.name}")
        if len(places) == 1:  # then the line above has said it
            columns = tuple(column for column in columns if column.name not in ("backend", "device"))
        print_table(columns, document, rows)
        for line in notes(document, rows, is_emulator=is_emulator):
            print(line)
        print()
    for absent in document.peers_absent:
        print(f"no rows of {absent.peer}: {absent.reason}{f' ({absent.hint})' if absent.hint else ''}")


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Rows of one problem together; there the reference first, then other techniques, then peers, the fastest first."""
    problems = {key: position for position, key in reversed(list(enumerate(row.input_key for row in rows)))}
    return sorted(
        rows,
        key=lambda row: (problems[row.input_key], not row.is_reference, row.kind == "peer", row.time_us),
    )


def notes(document: Document, rows: Sequence[Row], *, is_emulator: bool) -> Iterator[str]:
    """What stands under a table."""
    yield from EMULATOR_LEGEND if is_emulator else LEGEND
    if is_emulator:
        yield EMULATOR_NOTE
    places = list(dict.fromkeys((row.backend, row.device) for row in rows))
    for place in places:
        yield from device_notes(document, *place)
    found = [goal for row in rows for goal in goals.goals_of(document, row) if goal.trusted]
    if found:
        missed = sum(not goal.holds for goal in found)
        yield f"goals: {len(found) - missed} hold, {missed} miss, counting TRUSTED rows"
    for row in rows:
        if not row.is_trusted:
            yield f"SUSPECT {goals.describe(row)}, {subject(row)}: {'; '.join(row.reasons)}"


def device_notes(document: Document, backend: str, device: str) -> Iterator[str]:
    """Limits, noise and host times of a device, a line each."""
    place = f"{backend} on {device}"
    limits = [limit for limit in document.limits if (limit.backend, limit.device) == (backend, device)]
    if limits:
        copy, read = max(limit.copy_gb_s for limit in limits), max(limit.read_gb_s for limit in limits)
        empty = min((limit.empty_us for limit in limits if limit.empty_us is not None), default=None)
        launch = f"; an empty kernel takes {duration(empty)}" if empty is not None else ""
        yield f"{place}: best copy {copy:.0f} GB/s (read and written bytes), best read {read:.0f} GB/s{launch}"
    noise = [test.noise for test in document.self_test if (test.backend, test.device) == (backend, device)]
    if noise:
        yield f"{place}: the same kernel measured twice differs by {100 * max(noise):.1f} % at most"
    hosts = [time for time in document.host_time if (time.backend, time.device) == (backend, device)]
    if hosts:
        yield f"{place}, host time of a call: " + ", ".join(f"{time.what} {duration(time.median_us)}" for time in hosts)


def cells(columns: Sequence[Column], document: Document, row: Row) -> list[str]:
    """The texts of a row."""
    return [column.text(document, row) for column in columns]


def print_table(columns: Sequence[Column], document: Document, rows: Sequence[Row]) -> None:
    """Print lines below a header."""
    print_cells(
        [column.name for column in columns],
        [cells(columns, document, row) for row in rows],
        [column.is_number for column in columns],
    )


def print_cells(names: Sequence[str], lines: Sequence[Sequence[str]], are_numbers: Sequence[bool]) -> None:
    """Print a table of texts; numbers stand at the right."""
    widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
    if sys.stdout.isatty() and importlib.util.find_spec("rich"):
        _print_rich(names, lines, are_numbers, sum(widths) + len(widths))
        return
    for line in (names, *lines):
        justified = (
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(line, widths, are_numbers, strict=True)
        )
        print("  ".join(justified).rstrip())


def _print_rich(names: Sequence[str], lines: Sequence[Sequence[str]], are_numbers: Sequence[bool], needed: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    for name, is_number in zip(names, are_numbers, strict=True):
        table.add_column(name, justify="right" if is_number else "left", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    # On a narrow terminal lines run over; nothing is cut off.
    Console(width=max(shutil.get_terminal_size().columns, needed), markup=False).print(table)
