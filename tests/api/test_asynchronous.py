"""The emulator with CAMP_EMULATOR_ASYNC=1: streams have workers, events are not ready at once.

Runs the stream tests and the operators' own cases once more, in child processes: the setting is read once a process.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.harness.record import operator_names
from tests.harness.targets import ROOT, Target

STREAM_TESTS = ("test_streams.py", "test_graphs.py", "test_threads.py", "test_prepared.py", "test_recycling.py")
# The schedule orders and the techniques have nothing to do with streams: their rows are left out.
OPERATOR_TESTS = "test_case or test_refused"


def run_tests(target: Target, *arguments: str) -> None:
    if not target.is_emulator:
        pytest.skip("a GPU is asynchronous anyway")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    environment["CAMP_EMULATOR_ASYNC"] = "1"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "tests" / "pytest.ini"),
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    command += [f"--backend={target.backend}", f"--device={target.device}", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        pytest.fail(f"with CAMP_EMULATOR_ASYNC=1, {' '.join(command)}\n{done.stdout}\n{done.stderr}", pytrace=False)


@pytest.mark.parametrize("file", STREAM_TESTS)
def test_stream_tests(target: Target, file: str) -> None:
    run_tests(target, str(ROOT / "tests" / "api" / file))


@pytest.mark.parametrize("op", operator_names())
def test_operators(first_target: Target, op: str) -> None:
    """For one backend: the streams of both are the same code."""
    run_tests(first_target, str(ROOT / "tests" / "op_tests"), f"--op={op}", "-k", OPERATOR_TESTS)
