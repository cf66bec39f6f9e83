"""The engine's other builds: aarch64 under qemu, the portable stack switch, the undefined-behaviour sanitizer."""

from __future__ import annotations

import pytest

from tests.emulator.engine_programs import Build, Workshop, builds, workshop
from tests.emulator.test_engine_facilities import FACILITIES
from tests.emulator.test_engine_faults import REPORTS, check, expected

__all__ = ["workshop"]

QEMU = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
AARCH64 = [Build("aarch64-linux-gnu-g++", width, runner=QEMU) for width in (32, 64)]
PORTABLE = Build("g++", 32, flags=("-DOPRT_EMULATOR_FIBRE_ASM=0",), name="ucontext")
CHECKED = [
    Build(compiler, 64, flags=("-fsanitize=undefined", "-fno-sanitize-recover=all"), name="ubsan")
    for compiler in ("g++", "clang++")
]


@builds(*AARCH64)
@pytest.mark.parametrize("facility", ["lazy_suspension", "barriers", "votes"])
def test_aarch64(workshop: Workshop, build: Build, facility: str) -> None:
    program = workshop.program(build, facility)
    for order in ("ring", "warp-first-random:1"):
        workshop.run(build, program, env={"CAMP_EMULATOR_ORDER": order})


@builds(AARCH64[0])
@pytest.mark.parametrize(
    ("program", "part"),
    [("broken_synchronisation", "deadlock"), ("broken_memory", "past_end"), ("broken_crashes", "endless")],
)
def test_aarch64_report(workshop: Workshop, build: Build, program: str, part: str) -> None:
    executable = workshop.program(build, program, "-g")
    output = workshop.run(build, executable, part, env={"CAMP_EMULATOR_TIME_LIMIT": "2"})
    assert f"code {REPORTS[program, part][0].removeprefix('code ')}" in output
    assert output.endswith("alive\n")


@builds(PORTABLE)
@pytest.mark.parametrize("facility", ["lazy_suspension", "barriers", "yields"])
def test_portable_switch(workshop: Workshop, build: Build, facility: str) -> None:
    workshop.run(build, workshop.program(build, facility))


@builds(PORTABLE)
@pytest.mark.parametrize(
    ("program", "part"),
    [("broken_memory", "past_end"), ("broken_crashes", "stack_overflow"), ("broken_crashes", "endless_barriers")],
)
def test_portable_switch_contains_crashes(workshop: Workshop, build: Build, program: str, part: str) -> None:
    output = workshop.run(build, workshop.program(build, program, "-g"), part, env={"CAMP_EMULATOR_TIME_LIMIT": "0.3"})
    check(output, expected(build, program, REPORTS[program, part]))


@pytest.mark.slow
@builds(*CHECKED)
@pytest.mark.parametrize("program", [*FACILITIES, "host_threads", "orders"])
def test_no_undefined_behaviour(workshop: Workshop, build: Build, program: str) -> None:
    executable = workshop.program(build, program)
    for order in ("ring", "ring-reverse", "warp-first-random:1"):
        workshop.run(build, executable, env={"CAMP_EMULATOR_ORDER": order})
