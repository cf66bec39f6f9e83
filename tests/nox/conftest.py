"""What the tests of the sessions share: the helpers of the noxfile, and a session that only remembers what it was told.

Real sessions are run by test_sessions.py alone.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_tasks() -> ModuleType:
    """The folder .tasks as the package `tasks`, as the noxfile loads it."""
    if "tasks" not in sys.modules:
        folder = ROOT / ".tasks"
        spec = importlib.util.spec_from_file_location(
            "tasks", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec and spec.loader
        sys.modules["tasks"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["tasks"])
    return sys.modules["tasks"]


load_tasks()


class RecordedSession:
    """Stands for nox.Session where nothing is run."""

    posargs: tuple[str, ...] = ()
    venv_backend = "none"

    def __init__(self) -> None:
        self.invoked_from = str(ROOT)
        self.lines: list[str] = []

    def log(self, text: str) -> None:
        self.lines += text.splitlines()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def session() -> RecordedSession:
    """A session that remembers what it logged."""
    return RecordedSession()
