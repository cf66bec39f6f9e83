"""Builds the distribution: scikit-build-core, and what it cannot do, an sdist with files from beside this folder.

An sdist is laid out as the checkout: bindings/, runtime/, backends/ and operators/, with pyproject.toml and this file
on top as well. Everything else about the distribution is said in pyproject.toml.
"""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403 - the hooks that need no change

HERE = Path(__file__).resolve().parent
SOURCES = ("bindings", "runtime", "backends", "operators", "README.md", "LICENSE")
TOP = ("pyproject.toml", "_backend.py")
_VERSION_PART = re.compile(r"^#define OPRT_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", re.MULTILINE)


def _root() -> Path:
    """The folder that holds runtime/: this one in an sdist, else the one above."""
    return HERE if (HERE / "runtime").is_dir() else HERE.parent


def dynamic_metadata(field: str, settings: dict[str, Any], *_: Any) -> str:
    """The version, which the C header states."""
    if field != "version":
        raise ValueError(f"{field} is not dynamic here")
    header = _root() / "runtime" / "include" / "operator_runtime" / "types.h"
    parts = dict(_VERSION_PART.findall(header.read_text(encoding="utf-8")))
    return ".".join(parts[name] for name in ("MAJOR", "MINOR", "PATCH"))


def _is_source(path: Path) -> bool:
    return not any(part.startswith(".") or part in ("__pycache__", "dist") for part in path.parts)


def _pack(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """Add one file without anything of this machine: no owner, no permissions but x, no time."""
    member = tarfile.TarInfo(name)
    content = path.read_bytes()
    member.size = len(content)
    member.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
    archive.addfile(member, io.BytesIO(content))


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """PEP 517: scikit-build-core's sdist gives the name and the metadata, the files are packed here."""
    name: str = _build.build_sdist(sdist_directory, config_settings)
    target = Path(sdist_directory) / name
    base = name.removesuffix(".tar.gz")
    with tarfile.open(target) as archive:
        metadata = archive.extractfile(f"{base}/PKG-INFO")
        assert metadata is not None
        information = metadata.read()
    root = _root()
    with tarfile.open(target, "w:gz", compresslevel=9) as archive:
        member = tarfile.TarInfo(f"{base}/PKG-INFO")
        member.size = len(information)
        archive.addfile(member, io.BytesIO(information))
        for top in TOP:
            _pack(archive, HERE / top, f"{base}/{top}")
        for source in (root / source for source in SOURCES):
            for path in [source] if source.is_file() else sorted(source.rglob("*")):
                relative = path.relative_to(root)
                if path.is_file() and _is_source(relative):
                    _pack(archive, path, f"{base}/{relative.as_posix()}")
    return name
