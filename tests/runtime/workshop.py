"""Compiling and running C and C++ programs against the built library.

Programs are compiled once for all workers of a test run, into the run's temporary folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARY = "libcamp_ops.so"
INCLUDES = [ROOT, ROOT / "runtime/include", ROOT / "operators", HERE]
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def build_folders() -> list[Path]:
    """Every folder that may hold a build, those of CAMP_BUILD_DIR first."""
    named = [Path(entry) for entry in os.environ.get("CAMP_BUILD_DIR", "").split(os.pathsep) if entry]
    return named + sorted(ROOT.glob("build-*"))


def first_compiler(*candidates: str | None) -> str:
    """The first of the commands that exists."""
    for candidate in candidates:
        if candidate and shutil.which(candidate.split()[0]):
            return candidate
    pytest.fail(f"no compiler: looked for {', '.join(name for name in candidates if name)}")


@dataclass(frozen=True)
class Workshop:
    """Compiles and runs programs against the built library."""

    build: Path
    shared: Path

    @property
    def interface_hash(self) -> str:
        text = (self.build / "generated/interface.h").read_text()
        return re.search(r'OPRT_INTERFACE_HASH "(\w+)"', text)[1]  # type: ignore[index]

    def compile(self, source: Path, name: str, flags: Iterable[str] = (), *, library: bool = False) -> Path:
        """Compile one source to a program, or to a shared library; done once for each set of flags."""
        is_c = source.suffix == ".c"
        compiler = first_compiler(os.environ.get("CC"), "cc", "gcc", "clang") if is_c else self.cxx
        command = [*compiler.split(), "-std=c99" if is_c else "-std=c++17", "-g", "-O1", *STRICT, *flags]
        command += [f"-I{folder}" for folder in [*INCLUDES, self.build / "generated"]]
        command += ["-shared", "-fPIC", "-fvisibility=hidden"] if library else []
        key = hashlib.sha256("\n".join([*command, str(source)]).encode()).hexdigest()[:12]
        output = self.shared / key / name
        command += [str(source), "-o", str(output)]
        # The library is found beside the program, so that a test decides which modules are there.
        command += (
            [] if library else [f"-L{self.build}", "-lcamp_ops", "-Wl,-rpath,$ORIGIN", "-rdynamic", "-ldl", "-pthread"]
        )
        with Locked(output.parent.with_suffix(".lock")):
            if not output.exists():
                output.parent.mkdir(exist_ok=True)
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        return output

    @property
    def cxx(self) -> str:
        return first_compiler(os.environ.get("CXX"), "c++", "g++", "clang++")

    def fake_module(self, backend: str, kind: str) -> Path:
        """A module that records launches, under the name that the runtime looks for."""
        claims = {"FAKE_BACKEND": backend, "FAKE_KIND": kind, "FAKE_INTERFACE_HASH": self.interface_hash}
        flags = [f'-D{name}="{value}"' for name, value in claims.items()]
        return self.compile(HERE / "fake_module.cc", module_name(backend, kind), flags, library=True)


class Locked:
    """Only one worker at a time goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        self.file = self.path.open("w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self.file.close()


def module_name(backend: str, kind: str) -> str:
    return f"camp_ops_{backend}{'_emulator' if kind == 'emulator' else ''}.so"


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment without settings of the project, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAMP_")}
    return kept | variables


def run(
    program: Path, *arguments: str, environment: Mapping[str, str], given: str = "", cwd: Path | None = None
) -> str:
    """What a program prints; it must end well."""
    done = subprocess.run(
        [program, *arguments],
        env=environment,
        input=given,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (
        f"{program.name} {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    )
    return done.stdout
