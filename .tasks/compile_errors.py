"""Compiler output made short: what is wrong in the learner's own file, out of all that a build printed.

Knows the forms of g++ and clang++ (file:line:column: error: text, then the source line) and of nvcc and mxcc.
"""

from __future__ import annotations

import re
from pathlib import Path

GNU = re.compile(r"^(?P<file>[^\s:][^:]*):\d+:(?:\d+:)? (?P<kind>fatal error|error|warning|note): ")
NVCC = re.compile(r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?P<kind>error|warning|remark)(?: #\S+)?: (?P<text>.*)$")
CONTEXT = re.compile(
    r"^(In file included from |\s+from |.*: In (?:function|instantiation|member)|.*required from |"
    r"ninja: |\[\d+/\d+\]|FAILED: )"
)
SOURCE_LINE = re.compile(r"^\s*\d* \|")  # g++'s margin
MOST = 5


def short(output: str, file: Path, name: str) -> str:
    """The errors in the file, called name; without any the first error, and without that the last lines."""
    found = _diagnostics(output.splitlines())
    errors = [block for block in found if "error" in block[0]]
    own = [block for block in errors if _is_in(block[1], file)]
    chosen = own or errors[:1]
    lines: list[str] = []
    for _, _, text in chosen[:MOST]:
        lines += text
    if not own and chosen:  # in a header, brought about by a line of the file
        lines += [line.strip() for line in output.splitlines() if str(file) in line and "required from" in line][:1]
    if len(chosen) > MOST:
        lines.append(f"... and {len(chosen) - MOST} more")
    if not lines:
        lines = output.strip().splitlines()[-10:]
    return "\n".join(line.replace(str(file), name) for line in lines)


def blames(output: str, file: Path) -> bool:
    """True where an error is in the file, or in a header because of one of its lines."""
    errors = [block for block in _diagnostics(output.splitlines()) if "error" in block[0]]
    return any(_is_in(block[1], file) for block in errors) or any(
        str(file) in line and "required from" in line for line in output.splitlines()
    )


def _diagnostics(lines: list[str]) -> list[tuple[str, str, list[str]]]:
    """(kind, file, lines) of each error and warning; the source lines below it belong to it."""
    blocks: list[tuple[str, str, list[str]]] = []
    belongs = False
    for line in lines:
        match = GNU.match(line) or NVCC.match(line)
        if match:
            belongs = match["kind"] != "note"
            if belongs:
                blocks.append((match["kind"], match["file"], [line]))
        elif CONTEXT.match(line):
            belongs = False
        elif belongs and len(blocks[-1][2]) < 4 and (SOURCE_LINE.match(line) or line.startswith(" ")):
            blocks[-1][2].append(line)
        else:
            belongs = False
    return blocks


def _is_in(found: str, file: Path) -> bool:
    try:
        return Path(found).resolve() == file.resolve()
    except OSError:
        return False
