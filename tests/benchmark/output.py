"""What becomes of a document: the table on the screen, files, plots, the comparison with an older one.

python -m tests.benchmark.output FILE.json does the same with documents of before, joined to one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmark import compare, document, parallel, plots, table
from tests.benchmark.document import Document
from tests.benchmark.records import DocumentError


class OutputError(Exception):
    """A file could not be written or read; the text is one sentence."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is written."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there: rows, samples, machine")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the rows there, a line each")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw the rows there as PNG files (needs matplotlib)")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="compare with the document that --json wrote before"
    )


def show(result: Document, options: argparse.Namespace) -> None:
    """Print the table and write what was asked for. Raises OutputError."""
    table.print_rows(result)
    write(result, options)


def write(result: Document, options: argparse.Namespace) -> None:
    """Write what was asked for, and compare. Raises OutputError."""
    old = _old(options.compare)  # first: it may be the very file that is written
    try:
        if options.json:
            document.save(result, options.json)
        if options.csv:
            document.save_csv(result, options.csv)
        written = [path for path in (options.json, options.csv) if path]
        written += plots.write(result, options.plots) if options.plots else []
    except (OSError, plots.PlotError) as error:
        raise OutputError(str(error)) from None
    for path in written:
        print(f"wrote {path}")
    if old is not None:
        compare.print_comparison(old, result)


def _old(path: Path | None) -> Document | None:
    if path is None:
        return None
    try:
        return document.load(path)
    except DocumentError as error:
        raise OutputError(f"--compare: {error}") from None


def check(options: argparse.Namespace) -> None:
    """Refuse before hours of measuring what cannot be written or read after it. Raises OutputError."""
    _old(options.compare)
    for flag, path in (("--json", options.json), ("--csv", options.csv), ("--plots", options.plots)):
        if path is not None and not path.absolute().parent.is_dir():
            raise OutputError(f"{flag}: the folder {path.absolute().parent} does not exist")


def main(arguments: Sequence[str] | None = None) -> int:
    """Show documents that were written before; 0 when all went well."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmark.output", description="Show a benchmark's document."
    )
    parser.add_argument("documents", type=Path, nargs="+", metavar="FILE", help="what --json wrote")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        check(options)
        joined = parallel.merge([document.load(path) for path in options.documents])
        (write if options.quiet else show)(joined, options)
    except (OutputError, DocumentError) as error:
        print(f"output: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
