"""Compilers and GPUs of this machine, and which device a session takes.

Finds only; what is installed is decided by environment.py, what is compiled by configure.py.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import typing
from pathlib import Path

from . import environment
from .project import Failure

if typing.TYPE_CHECKING:
    import nox

ARCHITECTURES = "CMAKE_CUDA_ARCHITECTURES"
PORTABLE_ARCHITECTURES = "75-virtual;80;90"
VENDOR_TOOL = {"nvidia": "nvidia-smi", "metax": "mx-smi"}
VENDOR_NAME = {"nvidia": "NVIDIA", "metax": "MetaX"}
# Where the vendors' tools lie when PATH does not name them: WSL2, the MetaX driver.
VENDOR_FOLDERS = ("/usr/lib/wsl/lib", "/opt/mxdriver/bin")


def cxx() -> Path:
    """The host C++ compiler, or a Failure that names the package which brings one."""
    named = [word for word in os.environ.get("CXX", "").split() if not word.startswith("-")][-1:]  # "ccache g++ -m64"
    for name in named or ("c++", "g++", "clang++"):
        found = shutil.which(name)
        if found:
            return Path(found)
    looked_for = f"CXX={named[0]}" if named else "c++, g++, clang++"
    raise Failure(
        f"no C++ compiler was found ({looked_for}): apt install g++, dnf install gcc-c++, or conda install "
        "-c conda-forge gxx"
    )


def nvcc() -> tuple[Path, str] | None:
    """nvcc and where it was found. The real path: called through a link nvcc does not find its own files."""
    places = [(os.environ.get("CUDACXX", ""), "CUDACXX")]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        folder = os.environ.get(variable, "")
        places.append((str(Path(folder, "bin", "nvcc")) if folder else "", variable))
    places += [(shutil.which("nvcc") or "", "PATH"), ("/usr/local/cuda/bin/nvcc", "/usr/local/cuda")]
    places += [(str(wheel / "bin" / "nvcc"), "PyPI wheels") for wheel in _wheel_folders()]
    for path, origin in places:
        found = shutil.which(path) if path else None
        if found:
            return Path(found).resolve(), origin
        if path and origin == "CUDACXX":
            raise Failure(f"CUDACXX={path}: there is no such compiler")
    return None


def install_nvcc(session: nox.Session) -> Path:
    """nvcc from NVIDIA's wheels on PyPI, into the shared environment."""
    if environment.without_environment():
        raise Failure(
            "nvcc was not found (CUDACXX, CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda), and --no-venv installs nothing"
        )
    session.log(
        "nvcc was not found: it comes from NVIDIA's wheels on PyPI now, once (102 MB to download, 271 MB on disk)"
    )
    environment.add(session, "nvcc", environment.NVCC_WHEELS, ())
    for folder in _wheel_folders():
        library = folder / "lib64"  # nvcc links with -L.../lib64; the wheels have lib only
        if not library.exists():
            library.symlink_to("lib")
    found = nvcc()
    if found is None:
        raise Failure(f"NVIDIA's wheels have no nvcc for this machine: remove {environment.FOLDER} or set CUDACXX")
    return found[0]


def maca() -> Path:
    return Path(os.environ.get("MACA_PATH") or "/opt/maca")


def mxcc() -> Path | None:
    path = maca() / "mxgpu_llvm" / "bin" / "mxcc"
    return path if path.is_file() else None


def has_compiler(backend: str) -> bool:
    return nvcc() is not None if backend == "nvidia" else mxcc() is not None


def missing_compiler(backend: str) -> str:
    if backend == "metax":
        return f"mxcc was not found at {maca()}/mxgpu_llvm/bin/mxcc: install the MACA SDK and set MACA_PATH to it"
    return "nvcc was not found (CUDACXX, CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda)"


@functools.cache
def gpu_count(backend: str) -> int:
    """GPUs of the vendor on this machine, by its own tool, else by its device files."""
    tool = shutil.which(VENDOR_TOOL[backend], path=os.pathsep.join([os.environ.get("PATH", ""), *VENDOR_FOLDERS]))
    if tool:
        try:
            listed = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            listed = None
        if listed and listed.returncode == 0:
            return len(re.findall(r"^GPU\s*#?\d+", listed.stdout, re.MULTILINE | re.IGNORECASE))
    if backend == "nvidia":
        return len(list(Path("/dev").glob("nvidia[0-9]*")))
    return int(Path("/dev/mxcd").exists())


def architectures() -> tuple[str, str]:
    """CMAKE_CUDA_ARCHITECTURES and where it comes from; not native without a GPU: CMake would pick one itself."""
    named = os.environ.get(ARCHITECTURES, "")
    if named and not (named == "native" and gpu_count("nvidia") == 0):
        return named, "environment"
    if gpu_count("nvidia"):
        return "native", "a GPU is here"
    return PORTABLE_ARCHITECTURES, "no GPU is here"


def build_device(backend: str, asked: str | None) -> tuple[str, str]:
    """The device to compile for, emulator or gpu, and the reason. Compiling for a GPU needs no GPU."""
    if asked and asked != "auto":
        return asked.partition(":")[0], "asked for"
    if backend == "nvidia" and os.environ.get(ARCHITECTURES):
        return "gpu", "auto: CMAKE_CUDA_ARCHITECTURES is set"
    return _automatic(backend)


def run_device(backend: str, asked: str | None) -> tuple[str, str]:
    """The device to run on, and the reason; a GPU that is not here is a Failure."""
    if not asked or asked == "auto":
        return _automatic(backend)
    count = gpu_count(backend)
    if asked != "emulator" and count == 0:
        raise Failure(
            f"--device {asked}: no {VENDOR_NAME[backend]} GPU is on this machine; --device emulator runs "
            f"{backend} without one"
        )
    if asked.startswith("gpu:") and asked[4:].isdecimal() and int(asked[4:]) >= count:
        raise Failure(f"--device {asked}: this machine has {VENDOR_NAME[backend]} GPUs 0 to {count - 1} only")
    return asked, "asked for"


def _automatic(backend: str) -> tuple[str, str]:
    if gpu_count(backend) == 0:
        return "emulator", f"auto: no {VENDOR_NAME[backend]} GPU is here"
    if not has_compiler(backend):
        hint = "; --device gpu fetches it" if backend == "nvidia" else ""
        return "emulator", f"auto: a GPU is here, but its compiler is not{hint}"
    return "gpu", "auto: a GPU and its compiler are here"


def _wheel_folders() -> list[Path]:
    return sorted(environment.FOLDER.glob("lib/python*/site-packages/nvidia/cu13"))
