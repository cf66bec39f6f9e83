"""What is packed: the version, and the files of an sdist. Building and installing are tested by `nox -s package`."""

from __future__ import annotations

import importlib.util
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.harness.targets import ROOT


@pytest.fixture(scope="module")
def backend() -> Any:
    pytest.importorskip("scikit_build_core")
    spec = importlib.util.spec_from_file_location("_backend", ROOT / "bindings" / "_backend.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_sdist_has_every_source(oprt: Any, backend: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "bindings")
    name = backend.build_sdist(str(tmp_path))
    base = f"operator_runtime-{oprt.__version__}"  # the version of the library, which the headers state
    assert name == f"{base}.tar.gz"
    with tarfile.open(tmp_path / name) as archive:
        names = {member.name.removeprefix(f"{base}/") for member in archive}
        pyproject = archive.extractfile(f"{base}/pyproject.toml")
        assert pyproject is not None
        settings = tomllib.loads(pyproject.read().decode())["tool"]["scikit-build"]
    assert f"{settings['cmake']['source-dir']}/CMakeLists.txt" in names
    assert f"{settings['wheel']['packages'][0]}/__init__.py" in names
    assert {"PKG-INFO", "_backend.py", "LICENSE"} <= names
    for folder in ("bindings", "runtime", "backends", "operators"):
        paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        wanted = {path.relative_to(ROOT).as_posix() for path in paths}
        assert wanted <= names, sorted(wanted - names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".so", ".pyc", ".pyi"))]
