"""Configure, build and remove the build folders: build-<backend>, or BUILD_DIR.

CMake is called only when something that it is told has changed; ninja finds out the rest by itself.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import typing
from collections.abc import Sequence
from pathlib import Path

from . import environment, toolchain
from .arguments import Options
from .project import BACKENDS, MARKER, ROOT, WORKSPACE, Failure, shown

if typing.TYPE_CHECKING:
    import nox

SETTINGS = "nox-settings.json"  # in the build folder: what CMake was told last
# A change of these needs a fresh start: CMake would drop its cache and forget every other setting.
COMPILERS = ("CMAKE_CXX_COMPILER", "CMAKE_CUDA_COMPILER", "MACA_PATH")
_forced: set[Path] = set()  # folders that CAMP_FORCE_RECONFIGURE already cleared in this run


def folder(session: nox.Session, backend: str) -> Path:
    named = os.environ.get("BUILD_DIR", "")
    return (Path(session.invoked_from) / named).resolve() if named else ROOT / f"build-{backend}"


def refuse_shared_folder(backends: Sequence[str]) -> None:
    named = os.environ.get("BUILD_DIR", "")
    if named and len(backends) > 1:
        raise Failure(
            f"BUILD_DIR={named} names one folder, but {' and '.join(backends)} would both use it: unset it "
            "or pick a --backend"
        )


def configure(session: nox.Session, backend: str, options: Options, device: str, *, always: bool = True) -> Path:
    """Run CMake for the backend. device: emulator or gpu, what must be compilable. Returns the build folder."""
    tree = folder(session, backend)
    _prepare(tree, backend)
    old = _read_settings(tree)
    new = _settings(session, backend, options, device, old)
    forced = os.environ.get("CAMP_FORCE_RECONFIGURE", "0") not in ("", "0") and tree not in _forced
    if not (always or forced) and old == new and (tree / "build.ninja").is_file():
        return tree
    fresh = forced or _needs_fresh(tree, old, new)
    _forced.add(tree)
    (tree / SETTINGS).unlink(missing_ok=True)
    definitions = [f"-D{name}={value}" for name, value in new.items()]
    environment.run(
        session,
        "cmake",
        "-S",
        ROOT / "runtime",
        "-B",
        tree,
        "-G",
        "Ninja",
        *(["--fresh"] if fresh else []),
        *definitions,
    )
    (tree / SETTINGS).write_text(json.dumps(new, indent=1))
    return tree


def build(session: nox.Session, backend: str, options: Options, device: str) -> Path:
    """Bring the library and the shipped module of one device up to date. Returns the build folder.

    With the learner's kernels only the library: their module, overlay.py's part, holds the shipped kernels too.
    """
    tree = configure(session, backend, options, device, always=False)
    targets = ["camp_ops", "_native", *([] if options.kernels else [module(backend, device)])]
    started = time.perf_counter()
    environment.run(session, "ninja", *ninja_arguments(tree), *targets)
    session.log(f"{shown(tree)} is up to date for {device} ({time.perf_counter() - started:.1f} s)")
    return tree


def module(backend: str, device: str) -> str:
    return f"camp_ops_{backend}" + ("" if device.startswith("gpu") else "_emulator")


def ninja_arguments(tree: Path) -> list[str]:
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "")
    return ["-C", str(tree), *(["-j", jobs] if jobs else [])]


def search_path(tree: Path, options: Options) -> dict[str, str]:
    """CAMP_BUILD_DIR for children that use the tree: the learner's modules stand first."""
    return environment.build_path(*([tree / "overlay"] if options.kernels else []), tree)


def clean(session: nox.Session, backend: str) -> None:
    tree = folder(session, backend)
    if not tree.exists():
        session.log(f"{shown(tree)} does not exist: nothing to remove")
        return
    if not (tree / MARKER).is_file():
        raise Failure(f"{tree} has no {MARKER}, so this project did not make it: it was left alone")
    try:
        shutil.rmtree(tree)
    except OSError as error:
        raise Failure(f"{tree} could not be removed: {error.strerror}") from None
    session.log(f"removed {shown(tree)}")


def _prepare(tree: Path, backend: str) -> None:
    """Make the folder and its marker, or say why it cannot be used."""
    try:
        if tree.is_dir() and any(tree.iterdir()) and not (tree / MARKER).is_file():
            raise Failure(
                f"{tree} is not empty and was not made by this project: set BUILD_DIR to a new or an empty folder"
            )
        tree.mkdir(parents=True, exist_ok=True)
        (tree / MARKER).touch()
        (tree / SETTINGS).touch()
    except OSError as error:
        raise Failure(
            f"{tree} cannot be written ({error.strerror}): set BUILD_DIR to a folder that you may write"
        ) from None
    other = _read_settings(tree).get("OPRT_BACKEND", backend)
    if other != backend:
        raise Failure(f"{tree} holds the build of {other}: set BUILD_DIR to another folder for {backend}")


def _settings(session: nox.Session, backend: str, options: Options, device: str, old: dict[str, str]) -> dict[str, str]:
    kept = Path(old.get("OPRT_KERNELS") or WORKSPACE)
    settings = {
        "OPRT_BACKEND": backend,
        "OPRT_DEVICES": "emulator",
        "OPRT_KERNELS": str(options.kernels or (kept if kept.is_dir() else WORKSPACE)),
        "Python_EXECUTABLE": environment.python(),
        "CMAKE_CXX_COMPILER": str(toolchain.cxx()),
    }
    # A tree that had the gpu module keeps it: dropping it would leave a stale file behind.
    if device.startswith("gpu") or ("gpu" in old.get("OPRT_DEVICES", "") and toolchain.has_compiler(backend)):
        settings["OPRT_DEVICES"] = "emulator;gpu"
        settings |= _nvidia_settings(session) if backend == "nvidia" else _metax_settings()
    return settings


def _nvidia_settings(session: nox.Session) -> dict[str, str]:
    found = toolchain.nvcc()
    compiler = found[0] if found else toolchain.install_nvcc(session)
    return {"CMAKE_CUDA_COMPILER": str(compiler), "CMAKE_CUDA_ARCHITECTURES": toolchain.architectures()[0]}


def _metax_settings() -> dict[str, str]:
    if toolchain.mxcc() is None:
        raise Failure(f"--device gpu: {toolchain.missing_compiler('metax')}")
    return {"MACA_PATH": str(toolchain.maca())}


def _needs_fresh(tree: Path, old: dict[str, str], new: dict[str, str]) -> bool:
    cache = tree / "CMakeCache.txt"
    if not cache.is_file():
        return False
    home = f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT / 'runtime'}"  # differs after the checkout was moved
    changed = any(name in old and old[name] != new.get(name, old[name]) for name in COMPILERS)
    return changed or home not in cache.read_text(errors="replace")


def _read_settings(tree: Path) -> dict[str, str]:
    try:
        return dict(json.loads((tree / SETTINGS).read_text()))
    except (OSError, ValueError):
        return {}


def print_environment(session: nox.Session, backend: str, asked: str | None) -> None:
    """The table of env-<backend>."""
    rows = describe(session, backend, asked)
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, origin in rows:
        print(f"{name:{widths[0]}}  {value:{widths[1]}}  {origin}")


def describe(session: nox.Session, backend: str, asked: str | None) -> list[tuple[str, str, str]]:
    """Rows (name, value, where from) for env-<backend>."""
    rows = []
    for variable in environment.VARIABLES:
        if variable.backend not in ("", backend):
            continue
        set_value = os.environ.get(variable.name, "")
        rows.append((variable.name, set_value or variable.default or "-", "environment" if set_value else "default"))
    replaced = {
        "BUILD_DIR": (str(folder(session, backend)), "environment" if os.environ.get("BUILD_DIR") else "default"),
        "CMAKE_CUDA_ARCHITECTURES": toolchain.architectures(),
        "CAMP_DEVICE": (asked or "auto", "environment or --device" if asked else "default"),
    }
    rows = [(name, *replaced.get(name, (value, origin))) for name, value, origin in rows]
    return [*rows, *_found(session, backend, asked)]


def _found(session: nox.Session, backend: str, asked: str | None) -> list[tuple[str, str, str]]:
    try:
        compiler = str(toolchain.cxx())
    except Failure as failure:
        compiler = str(failure)
    if backend == "nvidia":
        found = toolchain.nvcc()
        device_compiler = (
            ("nvcc", str(found[0]), found[1]) if found else ("nvcc", "-", toolchain.missing_compiler("nvidia"))
        )
    else:
        path = toolchain.mxcc()
        device_compiler = (
            ("mxcc", str(path), "MACA_PATH") if path else ("mxcc", "-", toolchain.missing_compiler("metax"))
        )
    device, reason = toolchain.build_device(backend, asked)
    return [
        ("C++ compiler", compiler, "CXX" if os.environ.get("CXX") else "PATH"),
        device_compiler,
        ("GPUs", str(toolchain.gpu_count(backend)), toolchain.VENDOR_TOOL[backend]),
        ("device to build", device, reason),
        ("Python", environment.python(), "runs nox" if environment.without_environment() else ".nox/tools"),
    ]


assert set(BACKENDS) == set(toolchain.VENDOR_TOOL)
