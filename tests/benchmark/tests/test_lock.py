"""The lock of a GPU: who comes second waits and hears for whom; a process that ends lets go."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.benchmark import lock
from tests.harness.targets import ROOT

HOLD = """
import sys
from pathlib import Path
from tests.benchmark import lock
with lock.exclusive("GPU-1", folder=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it is written to or ended."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_who_comes_second_waits_and_says_for_whom(tmp_path: Path) -> None:
    entered = threading.Event()
    said: list[str] = []
    told = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        told.set()

    def second() -> None:
        with lock.exclusive("GPU-1", folder=tmp_path, say=say):
            entered.set()

    with holder(tmp_path) as child:
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(30)
        assert not entered.is_set()
        assert f"waiting for GPU-1: process {child.pid} (" in said[0]
        child.communicate("end\n")
    thread.join(30)
    assert entered.is_set()


def test_a_process_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path) as child:
        child.kill()
        child.wait()
    said: list[str] = []
    with lock.exclusive("GPU-1", folder=tmp_path, say=said.append):
        assert said == []


def test_gpus_do_not_wait_for_each_other(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        lock.exclusive("nvidia-gpu:0", folder=tmp_path),
        lock.exclusive("nvidia-gpu:1", folder=tmp_path, say=said.append),
    ):
        assert said == []
    assert len(list(tmp_path.iterdir())) == 2
