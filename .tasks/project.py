"""Facts about this checkout that need no build: folders, backends, operators, the learner's files.

Everything else asks here, so that a new operator or backend is one change.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BACKENDS = ("nvidia", "metax")
MARKER = ".operator-runtime-build"
LEVELS = (1, 2, 3, 4)
WORKSPACE = ROOT / "workspace"


class Failure(Exception):
    """What a person did or lacks, in one sentence; the noxfile turns it into session.error."""


@dataclass(frozen=True)
class Operator:
    name: str
    folder: Path  # operators/<op> or operators/elementwise/<op>

    @property
    def elementwise(self) -> bool:
        return self.folder.parent.name == "elementwise"

    def kernel(self, backend: str) -> Path:
        """The shipped kernel; an elementwise operator on nvidia has only its launcher file."""
        if backend == "metax":
            return self.folder / "metax" / f"{self.name}_metax.maca"
        return self.folder / "nvidia" / (f"{self.name}_cuda.cu" if self.elementwise else "kernel.cuh")

    def scaffold(self, backend: str) -> Path | None:
        path = self.folder / "scaffold" / backend / learner_file_name(self.name, backend)
        return path if path.is_file() else None


def learner_file_name(op: str, backend: str) -> str:
    return f"{op}_metax.maca" if backend == "metax" else "kernel.cuh"


def learner_file(workspace: Path, op: str, backend: str) -> Path:
    return workspace / op / backend / learner_file_name(op, backend)


def operators(root: Path = ROOT) -> dict[str, Operator]:
    """Every folder below operators/ that holds <op>/<op>.h, elementwise operators included, by name."""
    headers = [*root.glob("operators/*/*.h"), *root.glob("operators/elementwise/*/*.h")]
    folders = {header.stem: header.parent for header in headers if header.stem == header.parent.name}
    folders.pop("elementwise", None)  # the framework, not an operator
    return {name: Operator(name, folders[name]) for name in sorted(folders)}


def learner_files(workspace: Path) -> list[tuple[str, str, Path]]:
    """(operator, backend, file) of every learner's kernel that exists."""
    found = []
    for op in operators():
        for backend in BACKENDS:
            path = learner_file(workspace, op, backend)
            if path.is_file():
                found.append((op, backend, path))
    return found


def nearest(word: str, known: Iterable[str]) -> str:
    """A question to put behind an error, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""


def shown(path: Path) -> str:
    """The path as a person would type it from the project's folder."""
    try:
        return str(path.relative_to(ROOT))
    except ValueError:
        return str(path)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
