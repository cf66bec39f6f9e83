"""Builds the test programs of headers/*.cc over the stand-in headers and the runtime API, beside engine_programs.py."""

from __future__ import annotations

import functools
import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.emulator.engine_programs import EMULATOR, Build, Workshop

PROGRAMS = Path(__file__).resolve().parent / "headers"
# Programs that check headers alone; the others need engine and runtime.
HOST_ONLY = ("types", "conversions", "intrinsics")


@functools.cache
def _hash_of_folders(*folders: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _vendor_include(warp_size: int) -> Path:
    """The headers of the backend whose device has warps of that width."""
    settings = EMULATOR.parent.glob("*/backend.cmake")
    return next(path.parent / "include" for path in settings if f"OPRT_WARP_SIZE {warp_size})" in path.read_text())


@functools.cache
def _version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def _name(stem: str, command: list[str], *texts: str) -> str:
    """A file name that changes with everything that goes into the file."""
    everything = (_version(command[0]), *command, *texts)
    return f"{stem}-{hashlib.sha256(chr(0).join(everything).encode()).hexdigest()[:16]}"


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


class HeaderWorkshop(Workshop):
    """A workshop whose programs include <cuda_runtime.h> or <mcr/mc_runtime.h>."""

    def runtime(self, build: Build) -> Path:
        """The object of the runtime API, made as that of the engine."""
        vendor = _vendor_include(build.warp_size)
        command = build.command("-O1", f"-I{EMULATOR / 'src'}", f"-I{vendor}")

        def make(partial: Path) -> None:
            whole = partial.with_name(f"{partial.name}.cc")
            sources = sorted((EMULATOR / "src").glob("runtime_api*.cc"))
            whole.write_text("".join(f'#include "{source}"\n' for source in sources))
            _compile([*command, "-c", str(whole), "-o", str(partial)])
            whole.unlink()

        key = _hash_of_folders(EMULATOR / "src", EMULATOR / "include", vendor)
        return self._once(self.folder / str(build) / _name("runtime_api", command, key), make)

    def linked(self, build: Build, sources: list[Path], name: str, *flags: str) -> Path:
        """A program of some sources with engine and runtime."""
        return self._linked(build, sources, name, [self.engine(build), self.runtime(build)], *flags)

    def header_program(self, build: Build, name: str, *flags: str) -> Path:
        """The program headers/<name>.cc."""
        needed = [] if name in HOST_ONLY else [self.engine(build), self.runtime(build)]
        return self._linked(build, [PROGRAMS / f"{name}.cc"], name, needed, *flags)

    def _linked(self, build: Build, sources: list[Path], name: str, objects: list[Path], *flags: str) -> Path:
        command = build.command("-O1", "-g", "-UNDEBUG", f"-I{PROGRAMS}", *flags)
        texts = [path.read_text() for path in sources]
        key = _hash_of_folders(EMULATOR / "include", PROGRAMS)

        def make(partial: Path) -> None:
            _compile([*command, *map(str, [*sources, *objects]), "-o", str(partial), "-lpthread", "-ldl"])

        target = _name(name, command, key, *texts, *map(str, objects))
        return self._once(self.folder / str(build) / target, make)


@pytest.fixture(scope="session")
def header_workshop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HeaderWorkshop:
    cache = getattr(request.config, "cache", None)
    return HeaderWorkshop(cache.mkdir("emulator-engine") if cache is not None else tmp_path_factory.mktemp("emulator"))
