"""The test run itself: a wrong option is one sentence, a crash in native code is one failed test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.record import load_record
from tests.harness.running import rerun_command
from tests.harness.targets import ROOT, Target

INI = ROOT / "tests" / "pytest.ini"
THREE_TESTS = """
import ctypes

def test_before():
    pass

def test_that_crashes():
    ctypes.string_at(0)

def test_after():
    pass
"""


CRASH_AFTER_A_KERNEL = """
import ctypes
import numpy

def test_that_crashes(oprt, first_target):
    oprt.relu(numpy.ones(4, numpy.float32), **first_target.where)
    ctypes.string_at(8)
"""


def run_pytest(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-c", str(INI), "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, env={**own, **environment}, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("options", "pieces"),
    [
        ("--op=sofmax", ("operator 'sofmax'", "did you mean softmax")),
        ("--backend=nvida", ("backend 'nvida'", "did you mean nvidia")),
        ("--device=emulatr", ("device 'emulatr'", "did you mean emulator")),
        ("--op=softmax --case=nonsense", ("case 'nonsense'",)),
        ("--technique=warpp", ("technique 'warpp'", "did you mean warp")),
    ],
)
def test_unknown_names(oprt: Any, options: str, pieces: tuple[str, ...]) -> None:
    done = run_pytest("tests/op_tests", *options.split())
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    said = done.stdout + done.stderr
    assert "INTERNALERROR" not in said and "Traceback" not in said
    assert [piece for piece in pieces if piece not in said] == []


def test_backend_that_is_not_built(lone_build: tuple[str, str, Path]) -> None:
    _, missing, folder = lone_build
    done = run_pytest("tests/op_tests", f"--backend={missing}", "--device=emulator", CAMP_BUILD_DIR=str(folder))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    said = done.stdout + done.stderr
    assert f"build-{missing}" in said and "INTERNALERROR" not in said


def test_a_crash_is_one_failed_test(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_three.py").write_text(THREE_TESTS)
    done = run_pytest(str(tmp_path), "-n", "1", "--dist", "worksteal", "--rootdir", str(tmp_path))
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 passed" in done.stdout
    assert "crashed while running" in done.stdout and "test_that_crashes" in done.stdout


@pytest.mark.parametrize("workers", [0, 1])
def test_a_crash_behind_the_capture_is_told(oprt: Any, tmp_path: Path, workers: int) -> None:
    if workers:
        pytest.importorskip("xdist")
    if all(device != "emulator" for _, device in oprt.available()):
        pytest.skip("no backend is built for the emulator")
    (tmp_path / "test_crash.py").write_text(CRASH_AFTER_A_KERNEL)
    options = [str(tmp_path), "-p", "tests.conftest", "--device=emulator", "--rootdir", str(tmp_path)]
    options += ["-n", str(workers), "--dist", "worksteal"] if workers else []
    done = run_pytest(*options)
    assert done.returncode == (pytest.ExitCode.TESTS_FAILED if workers else -signal.SIGSEGV), done.stdout
    assert "emulator: signal 11 outside of any kernel ends the process" in done.stderr


def test_the_header_says_whose_kernels(oprt: Any) -> None:
    done = run_pytest("tests/op_tests", "--op=copy", "--level=1", "--technique=reference")
    assert done.returncode == 0, done.stdout
    for backend, device in oprt.available():
        assert f"{backend} on {device}: {oprt.module_path(backend=backend, device=device)}" in done.stdout
    assert "kernels of" in done.stdout


@pytest.mark.parametrize("case", ["copy-256-float32-blocks", "copy-N-float16-every-length-offset-1"])
def test_one_case_can_be_run_alone(oprt: Any, case: str) -> None:
    done = run_pytest("tests/op_tests", "--op=copy", f"--case={case}", "--technique=reference", "-k", "test_case")
    assert f"{len({backend for backend, _ in oprt.available()})} passed" in done.stdout


@pytest.mark.parametrize(
    ("kernel", "option"),
    [
        ("operators/copy/nvidia/kernel.cuh", ""),
        ("workspace/copy/nvidia/kernel.cuh", " --kernels"),
        ("/home/me/mine/copy/nvidia/kernel.cuh", " --kernels /home/me/mine"),
    ],
)
def test_the_command_of_one_case_names_the_learners_folder(kernel: str, option: str) -> None:
    command = rerun_command(load_record("copy"), "copy-1", Target("nvidia", "gpu"), kernel=str(ROOT / kernel))
    assert command == f"nox -s test-nvidia -- --op copy --case copy-1 --device gpu{option}"
