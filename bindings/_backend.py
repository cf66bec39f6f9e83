"""Builds the distribution: scikit-build-core, and what it cannot do, an sdist with files from beside this folder.

An sdist is laid out as the checkout: bindings/, runtime/, backends/ and operators/. On top lie pyproject.toml, with its
paths adapted, and this file. Everything else about the distribution is said in pyproject.toml.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403 - the hooks that need no change

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = ("bindings", "runtime", "backends", "operators", "README.md", "LICENSE")
# What the paths of pyproject.toml become one folder higher.
PATHS_ON_TOP = {'"../runtime': '"runtime', '["operator_runtime"]': '["bindings/operator_runtime"]'}


def _is_source(path: Path) -> bool:
    return not any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _on_top(pyproject: str) -> str:
    for here, there in PATHS_ON_TOP.items():
        if here not in pyproject:
            raise ValueError(f"pyproject.toml has no {here}")
        pyproject = pyproject.replace(here, there)
    return pyproject


def _pack(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    """Add one file, with nothing of this machine: no owner, no time."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """PEP 517. scikit-build-core makes name and metadata; inside of an sdist it needs no help at all."""
    name: str = _build.build_sdist(sdist_directory, config_settings)
    if (HERE / "PKG-INFO").exists():
        return name
    target, base = Path(sdist_directory, name), name.removesuffix(".tar.gz")
    with tarfile.open(target) as archive:
        metadata = archive.extractfile(f"{base}/PKG-INFO")
        assert metadata is not None
        information = metadata.read()
    with tarfile.open(target, "w:gz", compresslevel=9) as archive:
        _pack(archive, f"{base}/PKG-INFO", information)
        _pack(archive, f"{base}/pyproject.toml", _on_top((HERE / "pyproject.toml").read_text("utf-8")).encode())
        _pack(archive, f"{base}/{Path(__file__).name}", Path(__file__).read_bytes())
        for source in (ROOT / source for source in SOURCES):
            for path in [source] if source.is_file() else sorted(source.rglob("*")):
                relative = path.relative_to(ROOT)
                if path.is_file() and _is_source(relative):
                    _pack(
                        archive, f"{base}/{relative.as_posix()}", path.read_bytes(), 0o644 | path.stat().st_mode & 0o111
                    )
    return name
