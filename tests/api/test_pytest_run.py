"""The test run itself: wrong options are one sentence, a crash in native code is one failed test, and the rest still runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.targets import ROOT

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


def test_backend_that_is_not_built(oprt: Any, tmp_path: Path) -> None:
    built = {backend for backend, _ in oprt.available()}
    missing = [backend for backend in oprt.backends() if backend not in built]
    if not missing:
        pytest.skip("every backend is built")
    done = run_pytest("tests/op_tests", f"--backend={missing[0]}", "--device=emulator")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"build-{missing[0]}" in done.stdout + done.stderr


def test_a_crash_is_one_failed_test(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_three.py").write_text(THREE_TESTS)
    done = run_pytest(str(tmp_path), "-n", "1", "--dist", "worksteal", "--rootdir", str(tmp_path))
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 passed" in done.stdout
    assert "crashed while running" in done.stdout and "test_that_crashes" in done.stdout


def test_the_header_says_whose_kernels(oprt: Any) -> None:
    done = run_pytest("tests/op_tests", "--op=copy", "--level=1", "--technique=reference")
    assert done.returncode == 0, done.stdout
    for backend, device in oprt.available():
        assert f"{backend} on {device}: {oprt.module_path(backend=backend, device=device)}" in done.stdout
    assert "kernels of" in done.stdout


def test_a_failure_names_the_command_that_repeats_it(oprt: Any) -> None:
    """The ids of all cases can be typed: the first of each level, run alone, is one test a target."""
    for case in ("copy-256-float32-blocks", "copy-N-float16-every-length-offset-1"):
        done = run_pytest(
            "tests/op_tests", "--op=copy", f"--case={case}", "--technique=reference", "-k", "test_case", "-q"
        )
        assert f"{len(oprt.backends() and {backend for backend, _ in oprt.available()})} passed" in done.stdout
