"""Finds and loads the native part: the extension operator_runtime._native, and with it libcamp_ops.so.

Only the search for the extension is decided here. The modules of the backends are found by the C library.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

NAME = "operator_runtime._native"
BUILD_COMMAND = "nox -s build-nvidia"


def _age(folder: Path) -> float:
    library = folder / "libcamp_ops.so"
    return library.stat().st_mtime if library.exists() else 0.0


def search_folders() -> list[Path]:
    """Where the extension is looked for: CAMP_BUILD_DIR, the package itself (a wheel), the build folders of a checkout.

    Either backend's build folder serves both backends; the one built last cannot be staler than the other.
    """
    package = Path(__file__).resolve().parent
    folders = [Path(folder).absolute() for folder in os.environ.get("CAMP_BUILD_DIR", "").split(os.pathsep) if folder]
    folders.append(package)
    if (package.parent / "generate.py").exists():
        root = package.parents[1]
        folders += sorted(root.glob("build-*"), key=_age, reverse=True) or [root / "build-nvidia"]
    return folders


def _load() -> tuple[ModuleType, str]:
    folders = search_folders()
    spec = importlib.machinery.PathFinder.find_spec(NAME, [str(folder) for folder in folders])
    if spec is None or spec.loader is None:
        looked = ", ".join(map(str, folders))
        raise ImportError(
            f"operator_runtime has no native part; build it with `{BUILD_COMMAND}` (looked for _native in {looked})"
        )
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
        module.CData = module.ffi.CData  # type: ignore[attr-defined]  # where the stub has it
        version = _check_version(module)
    except (ImportError, AttributeError) as error:
        sys.modules.pop(NAME, None)
        raise ImportError(f"cannot use {spec.origin}: {error}; build it again with `{BUILD_COMMAND}`") from error
    return module, version


def _check_version(module: ModuleType) -> str:
    """The extension knows the version of its headers; the library that got loaded may have another one."""
    parts = (module.lib.OPRT_VERSION_MAJOR, module.lib.OPRT_VERSION_MINOR, module.lib.OPRT_VERSION_PATCH)
    wanted = ".".join(map(str, parts))
    found: str = module.ffi.string(module.lib.oprt_version()).decode()
    if found != wanted:
        raise ImportError(
            f"it is for libcamp_ops.so {wanted}, and the one that was loaded is {found} ({library_path()})"
        )
    return found


def library_path() -> str:
    """Path of the libcamp_ops.so that this process uses, or "" where the system does not tell."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if maps.exists() else []
    return next((line[line.index("/") :] for line in lines if line.endswith("/libcamp_ops.so")), "")


def extension_path() -> str:
    """Path of the extension that this process uses."""
    return str(_extension.__file__)


_extension, VERSION = _load()
