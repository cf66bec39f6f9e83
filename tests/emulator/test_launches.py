"""Launches as launchers make them: overlapped ones, and what a launcher asks of the device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.emulator.engine_programs import ROOT, Build, builds
from tests.emulator.header_programs import HeaderWorkshop, header_workshop

__all__ = ["header_workshop"]

PROGRAM = Path(__file__).resolve().parent / "launches" / "launches.cc"
BACKENDS = {32: "nvidia", 64: "metax"}


def includes(build: Build) -> list[str]:
    vendor = ROOT / "backends" / BACKENDS[build.warp_size] / "include"
    return [f"-I{folder}" for folder in (vendor, ROOT, ROOT / "operators", ROOT / "runtime/include")]


@builds()
@pytest.mark.parametrize("asynchronous", ["0", "1"])
def test_launches(header_workshop: HeaderWorkshop, build: Build, asynchronous: str) -> None:
    sources = [PROGRAM, ROOT / "backends/device_limits.cc"]
    executable = header_workshop.linked(build, sources, "launches", *includes(build))
    assert "passed" in header_workshop.run(build, executable, env={"CAMP_EMULATOR_ASYNC": asynchronous})


def compiled(build: Build, kernel: str, launch: str) -> subprocess.CompletedProcess[str]:
    source = f"#include <oprt_device.h>\n{kernel}\nvoid start() {{ oprt::launch_config config; {launch} }}\n"
    command = build.command("-O0", *includes(build), "-fsyntax-only", "-x", "c++", "-")
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


WAITS = "__global__ void kernel(oprt::previous_kernels previous, int) { oprt::wait_for_previous_kernels(previous); }"


@builds(Build("g++", 32), Build("g++", 64))
def test_a_kernel_that_does_not_wait_is_seen_by_the_compiler(build: Build) -> None:
    good = compiled(build, WAITS, "oprt::launch_overlapping(kernel, config, 1);")
    assert good.returncode == 0, good.stderr
    undeclared = compiled(build, "__global__ void kernel(int) {}", "oprt::launch_overlapping(kernel, config, 1);")
    assert undeclared.returncode != 0
    assert "launch_overlapping" in undeclared.stderr
    forgotten = WAITS.replace("oprt::wait_for_previous_kernels(previous);", "")
    unused = compiled(build, forgotten, "oprt::launch_overlapping(kernel, config, 1);")
    assert unused.returncode != 0
    assert "unused parameter" in unused.stderr
