"""Two results against each other: SAME, FASTER, SLOWER or UNSURE for each row that both have.

The change of the median carries an uncertainty: half the width of a box plot's notch, 1.57 x quartile distance /
sqrt(samples), of both rows together (McGill, Tukey and Larsen 1978: notches that do not overlap differ at about the 5 %
level). Where the whole interval lies within what the harness cannot tell apart, the rows are SAME; where it lies
outside, FASTER or SLOWER; anything between, and every SUSPECT row, is UNSURE.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from typing import Any, NamedTuple

from tests.benchmark import goals, table
from tests.benchmark.document import Document
from tests.benchmark.records import Row

WORDS = ("SAME", "FASTER", "SLOWER", "UNSURE")
NOTCH = 1.57
MIN_SAMPLES = 5
SMALLEST_TOLERANCE = 0.01  # of the old time: clocks and memory placement differ that much between two runs


class Change(NamedTuple):
    """One row of both results. The key is records.Row.key."""

    key: tuple[Any, ...]
    word: str
    old_us: float
    new_us: float


def compare(old: Document, new: Document) -> list[Change]:
    """The changes, in the order of the new document's rows; rows that only one document has are left out."""
    before = {row.key: row for row in old.rows}
    return [
        Change(row.key, word_for(old, before[row.key], new, row), before[row.key].time_us, row.time_us)
        for row in new.rows
        if row.key in before
    ]


def word_for(old: Document, before: Row, new: Document, after: Row) -> str:
    """The word for one row, by the rule at the top of this file."""
    enough = min(len(before.samples_us), len(after.samples_us)) >= MIN_SAMPLES
    if not (enough and before.is_trusted and after.is_trusted):
        return "UNSURE"
    change_us = after.time_us - before.time_us
    unsure_us = notch_us(before) + notch_us(after)
    noise = max(goals.measured_noise(old, before), goals.measured_noise(new, after))
    tolerance_us = before.time_us * max(SMALLEST_TOLERANCE, noise)
    if abs(change_us) + unsure_us <= tolerance_us:
        return "SAME"
    if abs(change_us) - unsure_us > tolerance_us:
        return "SLOWER" if change_us > 0 else "FASTER"
    return "UNSURE"


def notch_us(row: Row) -> float:
    """Half the width of the notch around the median."""
    quartiles = statistics.quantiles(row.samples_us, n=4)
    return NOTCH * (quartiles[2] - quartiles[0]) / math.sqrt(len(row.samples_us))


def print_comparison(old: Document, new: Document) -> None:
    """Print a line for each row that both have, and how many have which word."""
    changes = compare(old, new)
    rows = {row.key: row for row in new.rows}
    before = {row.key for row in old.rows}
    names = ["operator", "subject", "backend", "shape", "dtype", "before", "now", "change", "word"]
    lines = [
        [
            rows[change.key].operator,
            table.subject(rows[change.key]),
            rows[change.key].backend,
            table.shape(rows[change.key]),
            rows[change.key].dtype,
            table.duration(change.old_us),
            table.duration(change.new_us),
            f"{100 * (change.new_us / change.old_us - 1):+.1f} %",
            change.word,
        ]
        for change in changes
    ]
    if lines:
        table.print_cells(names, lines, [name in ("before", "now", "change") for name in names])
    counts = Counter(change.word for change in changes)
    print(", ".join(f"{counts[word]} {word}" for word in WORDS))
    print(f"only before: {len(before - set(rows))} rows; only now: {len(set(rows) - before)} rows")
    names_before, names_now = _device_names(old), _device_names(new)
    for place in sorted(names_before.keys() & names_now.keys()):
        if names_before[place] != names_now[place]:
            print(
                f"{' '.join(place)} is another device, so every time may differ: before {names_before[place]}, "
                f"now {names_now[place]}"
            )


def _device_names(document: Document) -> dict[tuple[str, str], str]:
    """What the devices of each backend and kind are."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for device in document.devices:
        found.setdefault((device.backend, device.device.partition(":")[0]), {})[device.name] = None
    return {place: ", ".join(names) for place, names in found.items()}
