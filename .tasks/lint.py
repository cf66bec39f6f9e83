"""The session `lint`: format and style of Python and C++, strict types of the package.

The rules stand in .ruff.toml, .clang-format and bindings/pyproject.toml; bindings/check_types.py runs mypy --strict.
"""

from __future__ import annotations

import re
import typing
from pathlib import Path

from . import environment
from .arguments import Options
from .project import ROOT, Failure, shown

if typing.TYPE_CHECKING:
    import nox

PYTHON = ("noxfile.py", ".tasks", "bindings", "tests", "backends", "docs")
CPP_SUFFIXES = {".h", ".c", ".cc", ".cu", ".cuh", ".maca"}
CPP_FOLDERS = ("runtime", "backends", "operators", "tests", "docs")


def lint(session: nox.Session, options: Options) -> None:
    environment.add(session, "lint", environment.LINT_TOOLS, ("ruff", "mypy", "clang-format"))
    python = [name for name in PYTHON if (ROOT / name).exists()]
    sources = cpp_sources(ROOT)
    if options.fix:
        environment.run(session, "ruff", "check", "--fix", "--quiet", *python, success_codes=[0, 1])
        environment.run(session, "ruff", "format", *python)
        environment.run(session, "clang-format", "-i", *sources, log=False)
    problems = []
    checks = {
        "ruff check": ("ruff", "check", *python),
        "ruff format": ("ruff", "format", "--check", *python),
        "mypy": ("python", "bindings/check_types.py"),
        "clang-format": ("clang-format", "--dry-run", "--Werror", *map(str, sources)),
    }
    for name, command in checks.items():
        status, output = environment.capture(session, *command, quiet=name == "clang-format")
        if status:
            print("\n".join(_shortened(output)))
            problems.append(name)
    if problems:
        raise Failure(f"{', '.join(problems)} found something; nox -s lint -- --fix puts formats right")
    session.log(f"{len(sources)} C++ files and {', '.join(python)} are as they should be")


def _shortened(output: str) -> list[str]:
    """Of clang-format, which shows every place, the files only."""
    files = re.findall(r"^(\S+?):\d+:\d+: error: code should be clang-formatted", output, re.MULTILINE)
    return [f"{file} is not formatted" for file in dict.fromkeys(files)] or output.splitlines()[:200]


def cpp_sources(root: Path) -> list[str]:
    paths = (path for folder in CPP_FOLDERS for path in (root / folder).rglob("*"))
    return sorted(shown(path) for path in paths if path.suffix in CPP_SUFFIXES and path.is_file())
