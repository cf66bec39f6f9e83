"""Real sessions, started as a person starts them: help, the list, mistakes that end in one sentence.

They run where nox started this run (CAMP_NOX says how), and end before anything is built.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.nox.conftest import ROOT

NOX = shlex.split(os.environ.get("CAMP_NOX", ""))
pytestmark = pytest.mark.skipif(not NOX, reason="not started by a nox session: CAMP_NOX is not set")


def run(*words: str, **variables: str) -> tuple[int, str]:
    """Exit status and output of nox, without this test run's own variables."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CAMP_", "PYTEST_")) and name != "BUILD_DIR"
    }
    env = {**kept, "NO_COLOR": "1", **variables}
    done = subprocess.run(
        [*NOX, *words], cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def error(*words: str, **variables: str) -> str:
    """The sentence in which the session ended."""
    status, output = run(*words, **variables)
    assert status == 1, output
    assert "Traceback" not in output, output
    sentences = [line for line in output.splitlines() if " aborted: " in line and "Prerequisite" not in line]
    assert len(sentences) == 1, output
    return sentences[0].partition(" aborted: ")[2]


def test_list_is_the_learners_card() -> None:
    status, output = run("-l")
    assert status == 0
    for words in ("nox -s learn -- --op vector_add", "nox -s bench -- --op softmax"):
        assert words in output
    for verb in ("env", "configure", "build", "test", "bench", "all", "clean"):
        assert f"- {verb}-nvidia -> " in output and f"- {verb}-metax -> " in output
    for name in (
        "bench",
        "lint",
        "docs",
        "python",
        "learn",
        "check",
        "new-operator",
        "debug",
        "package",
        "compile-nvidia",
    ):
        assert re.search(rf"^- {name} (\[\w+\] )?-> ", output, re.MULTILINE)
    assert "* test -> " in output


def test_help_of_a_session() -> None:
    status, output = run("-s", "test-metax", "--", "-h")
    assert status == 0
    assert "usage: nox -s test-metax -- [options]" in output and "--technique NAME" in output and "pytest" in output


def test_unknown_option_and_nearest() -> None:
    assert "did you mean --device?" in error("-s", "build-nvidia", "--", "--devise", "gpu")


def test_one_folder_for_two_backends_is_refused(tmp_path: Path) -> None:
    assert "nvidia and metax would both use it" in error("-s", "test", BUILD_DIR=str(tmp_path / "both"))


def test_folder_that_cannot_be_written() -> None:
    assert "cannot be written" in error("-s", "build-metax", BUILD_DIR="/proc/build")


def test_no_compiler(tmp_path: Path) -> None:
    sentence = error("-s", "configure-nvidia", BUILD_DIR=str(tmp_path / "build"), CXX="no-such-compiler")
    for piece in ("no-such-compiler", "apt install g++", "dnf install gcc-c++", "conda install"):
        assert piece in sentence


def test_no_mxcc(tmp_path: Path) -> None:
    sentence = error(
        "-s", "build-metax", "--", "--device", "gpu", BUILD_DIR=str(tmp_path / "build"), MACA_PATH="/no/maca"
    )
    assert "mxcc was not found at /no/maca" in sentence


def test_device_that_is_not_here() -> None:
    assert "gpu:77" in error("-s", "test-metax", "--", "--device", "gpu:77")


def test_check_of_what_was_not_started(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    status, output = run("-s", "check", "--", "--op", "copy", "--kernels", str(tmp_path / "mine"))
    assert status == 1 and "Traceback" not in output
    assert "copy  nvidia  not started" in output and "nox -s learn -- --op copy" in output


def test_python_runs_where_nox_was_called(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import sys\nfrom pathlib import Path\nprint('here', Path.cwd(), sys.argv[1:])\n"
    )
    words = ["-f", str(ROOT / "noxfile.py"), "-s", "python", "--", "script.py", "--op", "x"]
    done = subprocess.run([*NOX, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"here {tmp_path.resolve()} ['--op', 'x']" in done.stdout
