"""Finds the places in the kernel sources where a mutant differs; writes a copy in which each can be switched off.

All mutants are in one build: a place asks, when it runs, whether it is the one that is broken now. So a mutant costs no
compilation. What a place must not survive is test_mutants.py's part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.harness.targets import ROOT

OPERATORS = ROOT / "operators"
SUFFIXES = (".h", ".cuh", ".cu", ".maca")
# What a mutated source calls. The counters are of the module; run_mutants.py reads and sets them.
SWITCH = 'extern "C" bool oprt_is_mutated(int site);'
BARRIER = re.compile(r"\b__sync(?:threads|warp)\w*\s*\([^()]*\)\s*;")
# Every write of an output in copy: elements, packs, and the loops around them.
STORE = re.compile(
    r"^(?P<indent>\s*)(?P<statement>(?:for \([^{]*\) )?(?:y\[|store_(?:aligned|pack)\(y).*;)$", re.MULTILINE
)


@dataclass(frozen=True)
class Site:
    """One place. A body's mutant does nothing, a barrier's does not wait, a store's does not write."""

    number: int
    kind: str  # body, barrier or store
    file: str  # relative to operators/
    line: int
    text: str  # a kernel's name, or the line

    def __str__(self) -> str:
        return f"{self.kind} {self.text} at operators/{self.file}:{self.line}"


def sources() -> Iterator[Path]:
    """Every kernel source, relative to operators/; scaffolds are nobody's kernel."""
    for path in sorted(OPERATORS.rglob("*")):
        if path.suffix in SUFFIXES and "scaffold" not in path.parts:
            yield path.relative_to(OPERATORS)


def find_sites() -> list[Site]:
    """All places, in a stable order."""
    sites: list[Site] = []
    for path in sources():
        for kind, start, text in _places(path, (OPERATORS / path).read_text()):
            line = (OPERATORS / path).read_text()[:start].count("\n") + 1
            sites.append(Site(len(sites), kind, str(path), line, text))
    return sites


def write_mutable_sources(folder: Path) -> None:
    """A copy of operators/ in which every site can be switched off, for float32 (4 bytes for copy) only."""
    number = 0
    for path in sources():
        text = (OPERATORS / path).read_text()
        edits: list[tuple[int, int, str]] = []
        for kind, start, _ in _places(path, text):
            edits.append(_edit(kind, text, start, number))
            number += 1
        for begin, end, replacement in reversed(edits):
            text = text[:begin] + replacement + text[end:]
        if edits:
            text = f'{SWITCH}\n#line 1 "{OPERATORS / path}"\n{text}'
        _write_if_changed(folder / path, _with_few_dtypes(text))


def _edit(kind: str, text: str, start: int, number: int) -> tuple[int, int, str]:
    """What to replace at a place. No line is added: reports and __LINE__ stay true."""
    if kind == "body":
        return start, start, f" if (oprt_is_mutated({number})) return;"
    pattern = BARRIER if kind == "barrier" else STORE
    match = pattern.match(text, start)
    assert match is not None
    if kind == "barrier":
        return start, match.end(), f"{{ if (!oprt_is_mutated({number})) {match[0]} }}"
    return start, match.end(), f"{match['indent']}{{ if (!oprt_is_mutated({number})) {match['statement']} }}"


def _places(path: Path, text: str) -> list[tuple[str, int, str]]:
    code = emulated_code(text)
    found = [("body", position, name) for name, position in _kernels(code)]
    found += [("barrier", match.start(), match[0].strip()) for match in BARRIER.finditer(code)]
    if path.parts[0] == "copy":
        found += [("store", match.start(), match["statement"].strip()) for match in STORE.finditer(code)]
    return sorted(found, key=lambda place: place[1])


def emulated_code(text: str) -> str:
    """The text with comments and what only a gpu build compiles blanked out, every character at its place."""
    gpu_only = r"^#if OPRT_HAS_CLUSTER$.*?^#endif"
    return re.sub(
        rf"//[^\n]*|/\*.*?\*/|{gpu_only}",
        lambda match: re.sub(r"[^\n]", " ", match[0]),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


def _kernels(code: str) -> Iterator[tuple[str, int]]:
    """Name and position behind the opening brace of each kernel that is defined in the code."""
    for start in re.finditer(r"\b__global__\b", code):
        position, name = start.end(), ""
        while position < len(code) and code[position] not in ";{":
            if code[position] == "(":
                word = re.search(r"(\w+)\s*$", code[:position])
                if word and not word[1].startswith("__"):
                    name = word[1]
                position = _behind_parenthesis(code, position)
            else:
                position += 1
        if position < len(code) and code[position] == "{" and name:
            yield name, position + 1


def _behind_parenthesis(code: str, position: int) -> int:
    depth = 0
    while position < len(code):
        depth += {"(": 1, ")": -1}.get(code[position], 0)
        position += 1
        if depth == 0:
            break
    return position


def _with_few_dtypes(text: str) -> str:
    """One dtype is enough to tell a mutant, and a quarter of the compilation."""
    text = re.sub(
        r"using floating_dtypes = dtype_list<[^>]*>", "using floating_dtypes = dtype_list<OPRT_DTYPE_FLOAT32>", text
    )
    return re.sub(r"using bits_dtypes = dtype_list<[^>]*>", "using bits_dtypes = dtype_list<OPRT_DTYPE_BITS32>", text)


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
