"""Writes the results into docs/benchmarking.md: python -m tests.benchmark.page; --check sees whether it is current.

The text between the two markers comes from docs/benchmarks/h200.json and goals.py alone; everything else on the page is
written by hand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmark import goals, table
from tests.benchmark.document import Document, load
from tests.benchmark.records import DocumentError, Row

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarking.md"
RESULTS = ROOT / "docs" / "benchmarks" / "h200.json"
BEGIN = "<!-- results: written by python -m tests.benchmark.page from docs/benchmarks/h200.json, not by hand -->"
END = "<!-- end of results -->"
NO_RESULTS = "No measured results are stored in `docs/benchmarks/h200.json`."


class PageError(Exception):
    """The page has no place for results."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with --check say whether it is as it would be written; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark.page", description="Put results into the page.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is not current")
    check = parser.parse_args(arguments).check
    try:
        before = PAGE.read_text()
        after = with_results(before, text(load(RESULTS) if RESULTS.exists() else None))
    except (DocumentError, PageError, OSError) as error:
        print(f"page: {error}", file=sys.stderr)
        return 1
    if check and before != after:
        print(f"{PAGE} is not current: python -m tests.benchmark.page writes it", file=sys.stderr)
        return 1
    if not check:
        PAGE.write_text(after)
    return 0


def with_results(page: str, results: str) -> str:
    """The page with other text between its markers."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise PageError(f"{PAGE} lacks the lines {BEGIN} and {END}, in this order")
    return f"{head}{BEGIN}\n\n{results.strip()}\n\n{END}{tail}"


def text(document: Document | None) -> str:
    """Everything between the markers."""
    if document is None:
        return "\n".join([NO_RESULTS, "", "### Goals", "", *(f"- {line.text}" for line in goals.LINES)])
    return "\n".join([*_about(document), *_goal_list(document), *_tables(document), *_around(document)])


# What was measured ---------------------------------------------------------------------------------------------------


def _about(document: Document) -> Iterator[str]:
    devices = ", ".join(f"{device.name} ({device.backend})" for device in document.devices)
    versions = ", ".join(f"{name} {version}" for name, version in document.versions.items() if version)
    commit = str(document.git.get("commit", "unknown"))[:12]
    changed = ", with uncommitted changes" if document.git.get("dirty") else ""
    yield f"Measured on {document.created[:10]} on {devices}, commit {commit}{changed}; {versions}."
    yield ""
    for device in document.devices:
        yield from (f"- {line}" for line in table.device_notes(document, device.backend, device.device))
    yield ""


def markdown_table(names: Sequence[str], lines: Sequence[Sequence[str]], numbers_from: int) -> Iterator[str]:
    """A table whose columns from one on are numbers."""
    yield f"| {' | '.join(names)} |"
    yield f"|{'|'.join('---:' if position >= numbers_from else '---' for position in range(len(names)))}|"
    yield from (f"| {' | '.join(line)} |" for line in lines)
    yield ""


# Goals ---------------------------------------------------------------------------------------------------------------


def _goal_list(document: Document) -> Iterator[str]:
    """Each rule: how many rows hold it, which do not and by how much, and which prove nothing."""
    yield from ("### Goals", "")
    found = goals.all_goals(document)
    lines = []
    for line in goals.LINES:
        trusted = [goal for goal in found if goal.line == line and goal.trusted]
        missed = sum(not goal.holds for goal in trusted)
        suspect = sum(goal.line == line and not goal.trusted for goal in found)
        lines.append([line.text, *(str(count) for count in (len(trusted) - missed, missed, suspect))])
    yield from markdown_table(["goal", "hold", "miss", "suspect"], lines, 1)
    yield from _by_row("Rows that miss", [goal for goal in found if goal.trusted and not goal.holds])
    yield from _by_row("Rows that are SUSPECT and prove nothing", [goal for goal in found if not goal.trusted])
    yield from _by_row("Rows that hold", [goal for goal in found if goal.trusted and goal.holds], folded=True)


def _by_row(title: str, chosen: Sequence[goals.Goal], *, folded: bool = False) -> Iterator[str]:
    if not chosen:
        yield from (f"{title}: none.", "")
        return
    yield from (["<details>", f"<summary>{title}: {len(chosen)}</summary>", ""] if folded else [f"{title}:", ""])
    lines = [
        [
            goal.what,
            goal.line.name,
            f"{goal.time_us:.2f}",
            f"{goal.allowed_us:.2f}",
            f"{100 * goal.excess:+.1f} %",
        ]
        for goal in sorted(chosen, key=lambda goal: -goal.excess)
    ]
    yield from markdown_table(["row", "goal", "us", "allowed us", "over"], lines, 2)
    yield from ["</details>", ""] if folded else []


# Times ---------------------------------------------------------------------------------------------------------------


def _tables(document: Document) -> Iterator[str]:
    yield from ("### Times in microseconds", "")
    yield (
        "The median of one launch with cold caches. `x limit` is the reference over the best copy (reduce_sum: read) "
        "of the same bytes. A time in brackets is SUSPECT. A dash: not measured."
    )
    yield ""
    for operator in dict.fromkeys(row.operator for row in document.rows):
        yield from (f"#### {operator}", "")
        yield from _operator_table(document, [row for row in document.rows if row.operator == operator])
    yield from _ladder(document)


def _operator_table(document: Document, rows: Sequence[Row]) -> Iterator[str]:
    """A line for each problem: the reference, its overlapped launches, and the peers."""
    references = [row for row in rows if row.is_reference and row.launch == "ordinary"]
    peers = list(dict.fromkeys(row.subject for row in rows if row.kind == "peer"))
    overlapped = {row.input_key: row for row in rows if row.is_reference and row.launch == "overlap"}
    names = ["shape", "dtype", "reference", "x limit", *(["overlap"] if overlapped else []), *peers, "goals"]
    lines = []
    for row in references:
        times = {peer.subject: peer for peer in document.peers_of(row)}
        overlap = overlapped.get(row.input_key)
        cells = [table.shape(row), row.dtype, _time(row), table.of_limit(row)]
        cells += [_time(overlap)] if overlapped else []
        cells += [_time(times.get(peer)) for peer in peers]
        found = goals.goals_of(document, row) + (goals.goals_of(document, overlap) if overlap else [])
        lines.append([*cells, goals.verdict(found)])
    yield from markdown_table(names, lines, 2)


def _ladder(document: Document) -> Iterator[str]:
    """The techniques beside the reference, on the inputs where they were measured."""
    others = [row for row in document.rows if row.kind == "technique" and not row.is_reference]
    if not others:
        return
    problems = {row.input_key for row in others}
    rows = [row for row in document.rows if row.kind == "technique" and row.input_key in problems]
    ordered = sorted(rows, key=lambda row: (goals.describe(row), -row.time_us))
    lines = [
        [goals.describe(row), table.subject(row), _time(row), table.of_limit(row), table.bandwidth(row)]
        for row in ordered
    ]
    yield from ("#### The ladder of techniques", "")
    yield from markdown_table(["input", "technique", "us", "x limit", "GB/s"], lines, 2)


def _time(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"{row.time_us:.2f}" if row.is_trusted else f"({row.time_us:.2f})"


def _around(document: Document) -> Iterator[str]:
    if document.peers_absent:
        yield from ("### Peers without rows, or with fewer", "")
        yield from (f"- {absent.peer}: {absent.reason}" for absent in document.peers_absent)
    suspects = [row for row in document.rows if not row.is_trusted]
    if suspects:
        yield from ("", "### Why rows are SUSPECT", "")
        yield from (f"- {goals.describe(row)}, {table.subject(row)}: {'; '.join(row.reasons)}" for row in suspects)


if __name__ == "__main__":
    sys.exit(main())
