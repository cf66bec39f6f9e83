"""Builds the engine and its test programs of engine/*.cc, for each compiler and warp width, and runs them.

Needs only a C++ compiler: neither CMake nor a build of the project. What was built is kept in pytest's cache, under a
name made of the sources and the command, so that only changes are compiled again.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "backends" / "emulator"
PROGRAMS = Path(__file__).resolve().parent / "engine"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
ENGINE_HEADERS = ("context", "engine", "fault", "launch", "memory", "warp")
TIME_LIMIT_S = 120
KEEP_S = 24 * 3600


@dataclass(frozen=True)
class Build:
    """One way to compile: the tests of a facility run once for each."""

    compiler: str
    warp_size: int
    flags: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return "-".join(filter(None, (self.name, self.compiler, str(self.warp_size))))

    def command(self, optimisation: str, *more: str) -> list[str]:
        return [
            self.compiler,
            "-std=c++17",
            optimisation,
            "-fPIC",
            "-fvisibility=hidden",
            *WARNINGS,
            f"-DOPRT_EMULATOR_WARP_SIZE={self.warp_size}",
            f"-I{EMULATOR / 'include'}",
            *self.flags,
            *more,
        ]


EVERY_BUILD = [Build(compiler, width) for compiler in ("g++", "clang++") for width in (32, 64)]


def builds(*chosen: Build) -> pytest.MarkDecorator:
    """Parametrise a test over builds; those whose compiler or runner is not on this machine are skipped.

    g++ is in every run. The other compilers double the time that the compiles take and are marked slow.
    """
    parameters = []
    for build in chosen or tuple(EVERY_BUILD):
        missing = [tool for tool in (build.compiler, *build.runner[:1]) if shutil.which(tool) is None]
        marks = [pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} not found")]
        marks += [] if build.compiler == "g++" else [pytest.mark.slow]
        parameters.append(pytest.param(build, id=str(build), marks=marks))
    return pytest.mark.parametrize("build", parameters)


def engine_sources() -> list[Path]:
    """The engine alone, without the vendor's runtime API over it."""
    return sorted(path for path in (EMULATOR / "src").glob("*.cc") if not path.name.startswith("runtime_api"))


@functools.cache
def _engine_hash() -> str:
    """Of the engine's sources and headers, and not of the vendor's runtime API beside them."""
    public = [EMULATOR / "include" / "oprt_emulator" / f"{name}.h" for name in ENGINE_HEADERS]
    private = [path for path in (EMULATOR / "src").glob("*.h") if not path.name.startswith("runtime_api")]
    digest = hashlib.sha256()
    for path in sorted([*engine_sources(), *public, *private]):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _compiler_version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def _key(build: Build, command: list[str], *parts: str) -> str:
    text = "\n".join(
        (
            _compiler_version(build.compiler),
            *command,
            _engine_hash(),
            *parts,
        )
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.stderr}")


class Workshop:
    """Makes engines and programs in one folder, which several pytest workers may share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def engine(self, build: Build) -> Path:
        command = build.command("-O2", f"-I{EMULATOR / 'src'}")
        target = self.folder / str(build) / f"engine-{_key(build, command)}"

        def make(partial: Path) -> None:
            # As one source: most of the time of so many small ones goes into the standard library's headers.
            whole = partial.with_name(f"{partial.name}.cc")
            whole.write_text("".join(f'#include "{source}"\n' for source in engine_sources()))
            _compile([*command, "-c", str(whole), "-o", str(partial)])
            whole.unlink()

        return self._once(target, make)

    def program(self, build: Build, name: str, *flags: str) -> Path:
        """The program engine/<name>.cc. Kernels are compiled as an emulator module compiles them."""
        source = PROGRAMS / f"{name}.cc"
        command = build.command("-O1", "-fstack-clash-protection", *flags)
        text = source.read_text() + (PROGRAMS / "engine_test.h").read_text()
        target = self.folder / str(build) / f"{name}-{_key(build, command, text)}"
        engine = self.engine(build)

        def make(partial: Path) -> None:
            _compile([*command, str(source), str(engine), "-o", str(partial), "-lpthread", "-ldl"])

        return self._once(target, make)

    def run(
        self, build: Build, program: Path, *arguments: str, env: dict[str, str] | None = None, expect: int = 0
    ) -> str:
        """Run a program and return what it printed; it has to end with the exit status expected."""
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith("CAMP_EMULATOR_")}
        surroundings.update(env or {})
        command = [*build.runner, str(program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=surroundings, timeout=TIME_LIMIT_S)
        assert done.returncode == expect, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _once(self, target: Path, make: Callable[[Path], None]) -> Path:
        if target.exists():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with (target.parent / f"{target.name.rsplit('-', 1)[0]}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if target.exists():
                return target
            partial = target.with_name(f"{target.name}.{os.getpid()}.o")
            make(partial)
            partial.rename(target)
            self._remove_old(target)
        return target

    def _remove_old(self, target: Path) -> None:
        """Earlier forms of what was just made, but none that another run may be using."""
        for path in target.parent.glob(f"{target.name.rsplit('-', 1)[0]}-*"):
            if path != target and time.time() - path.stat().st_mtime > KEEP_S:
                path.unlink()


@pytest.fixture(scope="session")
def workshop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    cache = getattr(request.config, "cache", None)
    return Workshop(cache.mkdir("emulator-engine") if cache is not None else tmp_path_factory.mktemp("emulator-engine"))


def lines_named(program: str) -> dict[str, str]:
    """The lines of a program that carry a "// line: NAME" comment, as file:line."""
    path = PROGRAMS / f"{program}.cc"
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        _, mark, name = line.partition("// line: ")
        if mark:
            found[name.strip()] = f"{path}:{number}"
    return found
