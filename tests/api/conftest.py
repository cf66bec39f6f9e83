"""What several tests of the API share: a build folder in which one backend is missing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def lone_build(oprt: Any, tmp_path: Path) -> tuple[str, str, Path]:
    """A build folder that holds one backend's emulator only: (the backend, one that is missing, the folder)."""
    backends = [backend for backend, device in oprt.available() if device == "emulator"]
    if not backends:
        pytest.skip("no backend is built for the emulator")
    module = Path(oprt.module_path(backend=backends[0], device="emulator"))
    folder = tmp_path / "build"
    folder.mkdir()
    built = [
        module,
        *(file for pattern in ("libcamp_ops.so", "_native*.so") for file in _folder_of_library(module).glob(pattern)),
    ]
    for file in built:
        shutil.copy(file, folder)
    missing = next(name for name in oprt.backends() if name != backends[0])
    return backends[0], missing, folder


def _folder_of_library(module: Path) -> Path:
    return next(folder for folder in (module.parent, module.parent.parent) if (folder / "libcamp_ops.so").exists())
