"""The stand-in headers and the runtime API at work: one program a subject, for both vendors and both compilers."""

from __future__ import annotations

import pytest

from tests.emulator.engine_programs import Build, builds
from tests.emulator.header_programs import HOST_ONLY, HeaderWorkshop, header_workshop

__all__ = ["header_workshop"]

# For what does not depend on compiler and width together.
FEWER = (Build("g++", 32), Build("g++", 64), Build("clang++", 64))
QEMU = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
AARCH64 = [Build("aarch64-linux-gnu-g++", width, runner=QEMU) for width in (32, 64)]
MODES = {"synchronous": {}, "asynchronous": {"CAMP_EMULATOR_ASYNC": "1"}}


@builds()
@pytest.mark.parametrize("program", HOST_ONLY)
def test_types_and_functions(header_workshop: HeaderWorkshop, build: Build, program: str) -> None:
    assert "passed" in header_workshop.run(build, header_workshop.header_program(build, program))


@builds(*FEWER)
@pytest.mark.parametrize("program", HOST_ONLY)
def test_types_and_functions_in_newer_cpp_and_optimised(
    header_workshop: HeaderWorkshop, build: Build, program: str
) -> None:
    executable = header_workshop.header_program(build, program, "-std=c++20", "-O3")
    assert "passed" in header_workshop.run(build, executable)


# There the compiler fuses products and sums as it likes.
@builds(*AARCH64)
@pytest.mark.parametrize("program", HOST_ONLY)
def test_types_and_functions_on_aarch64(header_workshop: HeaderWorkshop, build: Build, program: str) -> None:
    assert "passed" in header_workshop.run(build, header_workshop.header_program(build, program, "-O2"))


@builds(AARCH64[0])
@pytest.mark.parametrize("program", ["collectives", "errors"])
def test_runtime_on_aarch64(header_workshop: HeaderWorkshop, build: Build, program: str) -> None:
    assert "passed" in header_workshop.run(build, header_workshop.header_program(build, program))


@builds()
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", ["atomics", "collectives"])
def test_device_functions(header_workshop: HeaderWorkshop, build: Build, program: str, mode: str) -> None:
    executable = header_workshop.header_program(build, program)
    assert "passed" in header_workshop.run(build, executable, env=MODES[mode])


@builds(*FEWER)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", ["memory", "streams", "graphs", "errors", "forks"])
def test_runtime(header_workshop: HeaderWorkshop, build: Build, program: str, mode: str) -> None:
    slow = "1" if mode == "asynchronous" else "0"
    executable = header_workshop.header_program(build, program)
    assert "passed" in header_workshop.run(build, executable, slow, env=MODES[mode])


@builds(*FEWER)
@pytest.mark.parametrize("order", ["ring-reverse", "warp-first-random:4"])
def test_device_functions_in_other_orders(header_workshop: HeaderWorkshop, build: Build, order: str) -> None:
    for program in ("atomics", "collectives"):
        executable = header_workshop.header_program(build, program)
        header_workshop.run(build, executable, env={"CAMP_EMULATOR_ORDER": order})


@builds(*FEWER)
@pytest.mark.parametrize("part", ["0", "1", "2"])
def test_host_access_to_device_memory(header_workshop: HeaderWorkshop, build: Build, part: str) -> None:
    """A program that reads or writes device memory without a copy works by luck, and dies in asynchronous mode."""
    executable = header_workshop.header_program(build, "host_access")
    assert "passed" in header_workshop.run(build, executable, part)
    segmentation_fault = -11
    header_workshop.run(build, executable, part, env=MODES["asynchronous"], expect=segmentation_fault)
