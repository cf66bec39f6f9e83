"""Every header compiles alone: the public ones as strict C99 and C++17 with each compiler, the inner ones as C++17."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.workshop import ROOT, STRICT, Workshop

PUBLIC = sorted((ROOT / "runtime/include").rglob("*.h"))
# Host headers only: those with device code need a vendor's names and are compiled with the kernels.
INNER = sorted([*(ROOT / "runtime/src").glob("*.h"), ROOT / "backends/module.h", ROOT / "operators/shared/layout.h"])
INNER += [path for path in sorted((ROOT / "operators").rglob("*.h")) if path.stem == path.parent.name]
C_COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
CXX_COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]


def check(header: Path, compiler: str, language: str, standard: str, workshop: Workshop, *extra: str) -> None:
    includes = [ROOT, ROOT / "runtime/include", ROOT / "operators", workshop.build / "generated"]
    command = [compiler, "-x", language, f"-std={standard}", *STRICT, *extra, "-fsyntax-only"]
    command += [f"-I{folder}" for folder in includes] + ["-"]
    source = f'#include "{header}"\n#include "{header}"\n'  # twice: its guard holds
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("header", PUBLIC, ids=lambda path: path.stem)
def test_public_header_is_c99(workshop: Workshop, header: Path, compiler: str) -> None:
    check(header, compiler, "c", "c99", workshop)


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("header", PUBLIC, ids=lambda path: path.stem)
def test_public_header_is_cxx17(workshop: Workshop, header: Path, compiler: str) -> None:
    check(header, compiler, "c++", "c++17", workshop)


@pytest.mark.parametrize("header", INNER, ids=lambda path: path.stem)
def test_inner_header_compiles_alone(workshop: Workshop, header: Path) -> None:
    check(header, CXX_COMPILERS[0], "c++", "c++17", workshop)


def test_no_vendor_header_in_the_runtime() -> None:
    vendors = ("cuda", "mc_runtime", "maca", "oprt_device")
    for source in [*(ROOT / "runtime").rglob("*.h"), *(ROOT / "runtime").rglob("*.cc"), *INNER]:
        included = [line for line in source.read_text().splitlines() if line.startswith("#include")]
        assert not any(word in line for line in included for word in vendors), source
