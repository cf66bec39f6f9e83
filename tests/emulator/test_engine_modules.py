"""The engine inside shared libraries: loaded by Python, two warp widths in one process, each with its own crashes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.emulator.engine_programs import Build, Workshop, builds, lines_named, workshop

__all__ = ["workshop"]

HOST = """
import ctypes, faulthandler, os, sys, threading
faulthandler_first = sys.argv[1] == "faulthandler"
if faulthandler_first:
    faulthandler.enable()
modules = [ctypes.CDLL(path) for path in sys.argv[2:]]
for module in modules:
    module.module_crash.restype = ctypes.c_char_p
for repeat in range(3):
    for module in modules:
        assert module.module_run(1) == 1 and module.module_run(2) == 1
        report = module.module_crash().decode()
        assert f"warps of {module.module_warp_size()} lanes" in report, report
        assert "a null pointer" in report
        print(report)
def work(module):
    for _ in range(5):
        assert module.module_crash() and module.module_run(1) == 1
threads = [threading.Thread(target=work, args=[module]) for module in modules * 2]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert all(module.module_run(2) == 1 for module in modules)
print("host crash", flush=True)
ctypes.string_at(8)
"""


def library(workshop: Workshop, compiler: str, width: int) -> str:
    return str(workshop.program(Build(compiler, width), "module", "-g", "-shared", "-Wl,-z,defs"))


@builds(Build("g++", 32), Build("clang++", 64))
@pytest.mark.parametrize("mode", ["plain", "faulthandler"])
@pytest.mark.parametrize(("modules", "descriptor"), [(1, "2"), (2, "2"), (1, "1000")])
def test_modules_in_one_process(workshop: Workshop, build: Build, mode: str, modules: int, descriptor: str) -> None:
    paths = [library(workshop, build.compiler, width) for width in (build.warp_size, 96 - build.warp_size)][:modules]
    # Where a test runner wants to hear of a process that dies. A number that a parent left behind, and that is not open
    # here, counts as 2.
    env = {**os.environ, "CAMP_EMULATOR_REPORT_FD": descriptor}
    command = [sys.executable, "-c", HOST, mode, *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.stdout.endswith("host crash\n"), done.stdout + done.stderr
    assert done.stdout.count(f"at {lines_named('module')['crash']} in crash(int*)") == 3 * modules
    assert done.returncode == -11
    assert ("Fatal Python error: Segmentation fault" in done.stderr) == (mode == "faulthandler"), done.stderr
    told = "emulator: signal 11 outside of any kernel ends the process" in done.stderr
    assert told == (mode == "plain"), done.stderr


@builds(Build("g++", 32), Build("clang++", 32))
def test_a_stripped_module_still_runs(workshop: Workshop, build: Build) -> None:
    path = str(workshop.program(build, "module", "-shared", "-s"))
    code = "import ctypes, sys; m = ctypes.CDLL(sys.argv[1]); m.module_crash.restype = ctypes.c_char_p;"
    code += "assert m.module_run(1) == 1; print(m.module_crash().decode())"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "a null pointer" in done.stdout
