"""The one Python environment of all sessions, how programs are run in it, and the variables that sessions read.

Installs nothing twice: a stamp in the environment holds what was asked for. With --no-venv nothing is installed at all
and the Python that runs nox is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .project import ROOT, Failure

if typing.TYPE_CHECKING:
    import nox

TOOLS = (
    "cmake>=3.26",
    "ninja>=1.11",
    "cffi>=2.1",
    "numpy>=1.26",
    "pytest>=8.3",
    "pytest-xdist>=3.6",
    "rich>=13.7",
    "matplotlib>=3.8",
    "scikit-build-core>=0.11",
    "ml_dtypes>=0.5",
)
# Formatters are pinned to the version that formatted the tree; another one formats differently.
LINT_TOOLS = ("ruff==0.17.6", "mypy==2.4.1", "clang-format==14.0.6")
# NVIDIA's compiler without a toolkit: 102 MB to download, 271 MB on disk. A toolkit newer than the driver may fail.
NVCC_WHEELS = tuple(f"nvidia-{part}==13.0.*" for part in ("cuda-nvcc", "cuda-crt", "nvvm", "cuda-runtime", "cuda-cccl"))
NEEDED_MODULES = {"cffi": "cffi", "numpy": "numpy", "pytest": "pytest", "xdist": "pytest-xdist"}  # with --no-venv
FOLDER = ROOT / ".nox" / "tools"
REPORT_DESCRIPTOR = "CAMP_EMULATOR_REPORT_FD"
_started: dict[str, nox.Session] = {}


@dataclass(frozen=True)
class Variable:
    name: str
    default: str
    meaning: str
    backend: str = ""  # empty: both


# README.md has the same table; a test compares the two.
VARIABLES = (
    Variable(
        "CMAKE_CUDA_ARCHITECTURES",
        "native with a GPU, else 75-virtual;80;90",
        "GPU architectures to compile for",
        "nvidia",
    ),
    Variable("CAMP_FORCE_RECONFIGURE", "0", "1: forget CMake's cache before configure"),
    Variable("BUILD_DIR", "build-<backend>", "build folder; for one backend at a time"),
    Variable("CAMP_BUILD_DIR", "", "folders where Python and the library look for built files first"),
    Variable("CAMP_DEVICE", "auto", "device where --device is not given"),
    Variable("CAMP_LAUNCH_OVERLAP", "0", "1: kernels that can may start before those in front of them have ended"),
    Variable("CAMP_KERNELS", "", "folder of the learner's kernels, as --kernels DIR"),
    Variable("CAMP_SANITIZE", "0", "reserved for the instrumented emulator"),
    Variable("CAMP_EMULATOR_THREADS", "cores", "threads of the emulator"),
    Variable("CAMP_EMULATOR_ORDER", "ring", "ring or warp-first, each also -reverse or -random:SEED"),
    Variable("CAMP_EMULATOR_ASYNC", "0", "1: streams of the emulator run on threads of their own"),
    Variable("CAMP_EMULATOR_TIME_LIMIT", "60", "seconds after which an emulated kernel is stopped"),
    Variable(REPORT_DESCRIPTOR, "2 under nox", "descriptor on which a crash outside of kernels is told"),
    Variable("CUDACXX", "", "path of nvcc; looked at first", "nvidia"),
    Variable("CUDA_HOME", "", "CUDA toolkit whose bin/nvcc is taken next", "nvidia"),
    Variable("CUDA_PATH", "", "the same, looked at after CUDA_HOME", "nvidia"),
    Variable("MACA_PATH", "/opt/maca", "MetaX SDK, for mxcc and its headers", "metax"),
    Variable("CXX", "c++, g++ or clang++", "host C++ compiler"),
    Variable("CMAKE_BUILD_PARALLEL_LEVEL", "ninja's choice", "how many compilers run at once"),
)


def start(session: nox.Session) -> None:
    """Body of the session `tools`: bring the shared environment up to date."""
    _started["tools"] = session
    if session.posargs[:1] in (["-h"], ["--help"]):
        return  # only the help of the next session is wanted
    if session.venv_backend == "none":
        _check_own_python(session)
        return
    stamp = _stamp(TOOLS, (ROOT / "bindings" / "pyproject.toml").read_text())
    if _read_stamp("tools") == stamp:
        return
    session.log("installing the tools, once (about 90 MB to download)")
    _install(session, *TOOLS)
    _install(session, "--no-deps", "--no-build-isolation", "--editable", "bindings")
    _write_stamp("tools", stamp)


def add(session: nox.Session, name: str, packages: Sequence[str], programs: Sequence[str]) -> None:
    """Add packages to the shared environment, once; with --no-venv the programs must be on PATH already."""
    if without_environment():
        missing = [program for program in programs if not find(program)]
        if missing:
            raise Failure(
                f"{', '.join(missing)}: not on PATH, and --no-venv installs nothing: pip install {' '.join(packages)}"
            )
    elif _read_stamp(name) != _stamp(packages):
        _install(session, *packages)
        _write_stamp(name, _stamp(packages))


def without_environment() -> bool:
    """True with --no-venv: the Python that runs nox does the work."""
    tools = _started.get("tools")
    return tools.venv_backend == "none" if tools else not FOLDER.is_dir()


def python() -> str:
    return sys.executable if without_environment() else str(FOLDER / "bin" / "python")


def find(program: str) -> str | None:
    return shutil.which(program, path=_path())


def run(
    session: nox.Session,
    program: str,
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    **settings: typing.Any,
) -> typing.Any:
    """Run a program of the shared environment, or one on PATH, and stop the session where it fails."""
    return session.run(*_command(program, arguments), env=child_environment(env), external=True, **settings)


def capture(
    session: nox.Session,
    program: str,
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    quiet: bool = False,
) -> tuple[int, str]:
    """Run a program unseen; its exit status and all that it printed. quiet: the command is not shown either."""
    command = _command(program, arguments)
    if not quiet:
        session.log(" ".join(command))
    environment = {**os.environ, **child_environment(env)}
    done = subprocess.run(
        command,
        env=environment,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    environment = {"PATH": _path(), REPORT_DESCRIPTOR: os.environ.get(REPORT_DESCRIPTOR, "2"), **(extra or {})}
    if without_environment():  # there operator_runtime is not installed
        environment["PYTHONPATH"] = _joined(ROOT / "bindings", os.environ.get("PYTHONPATH", ""))
    return environment


def build_path(*folders: Path) -> dict[str, str]:
    """CAMP_BUILD_DIR for a child: what the person set first, then these folders."""
    return {"CAMP_BUILD_DIR": _joined(os.environ.get("CAMP_BUILD_DIR", ""), *folders)}


def _joined(*folders: str | Path) -> str:
    return os.pathsep.join(str(folder) for folder in folders if str(folder))


def _path() -> str:
    own = Path(sys.executable).parent if without_environment() else FOLDER / "bin"
    return _joined(own, os.environ.get("PATH", ""))


def _command(program: str, arguments: Sequence[str | Path]) -> list[str]:
    path = python() if program == "python" else find(program)
    if path is None:
        raise Failure(f"{program} is not on PATH")
    return [path, *map(str, arguments)]


def _check_own_python(session: nox.Session) -> None:
    missing = [package for module, package in NEEDED_MODULES.items() if importlib.util.find_spec(module) is None]
    missing += [program for program in ("cmake", "ninja") if not find(program)]
    if missing:
        raise Failure(
            f"--no-venv installs nothing, and {sys.executable} lacks {', '.join(missing)}: install these or "
            "leave --no-venv out"
        )


def _stamp(packages: Sequence[str], content: str = "") -> str:
    """What a part of the environment is made from; the first line is the place, which its scripts name."""
    parts = [*packages, sys.version, content]
    return f"{ROOT}\n{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()}\n"


def _read_stamp(name: str) -> str:
    path = FOLDER / f"{name}.stamp"
    return path.read_text() if path.is_file() else ""


def _write_stamp(name: str, stamp: str) -> None:
    (FOLDER / f"{name}.stamp").write_text(stamp)


def _was_moved() -> bool:
    stamp = _read_stamp("tools")
    return bool(stamp) and stamp.splitlines()[0] != str(ROOT)


def _install(session: nox.Session, *packages: str) -> None:
    uv = shutil.which("uv", path=_joined(Path(sys.executable).parent, os.environ.get("PATH", "")))
    if (FOLDER / "bin" / "pip").exists():
        command = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--force-reinstall"] if _was_moved() else []
    elif uv:
        command = [uv, "pip", "install", "--quiet", "--python", str(FOLDER / "bin" / "python")]
        command += ["--reinstall"] if _was_moved() else []
    else:
        raise Failure(f"{FOLDER} was made by uv, which is gone: remove that folder and run again")
    session.log(" ".join([*command, *packages]))
    environment = {**os.environ, "UV_COMPILE_BYTECODE": "1", "PATH": _path()}
    done = subprocess.run(
        [*command, *packages],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        log = FOLDER / "install.log"
        log.write_text(done.stdout)
        reason = (done.stdout.strip().splitlines() or ["no output"])[-1].strip()
        raise Failure(
            f"{packages[0]} and others could not be installed ({reason}): without a network use --no-venv "
            "with a Python "
            f"that has them; {log} has all that was printed"
        )
