"""The learner's path with real builds: the exercise fails as given, a right kernel passes, a broken one is explained.

Uses the build folder that this run tests; nothing is configured by hand in between.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.project import ROOT, learner_file
from tests.nox.test_sessions import NOX, run

pytestmark = [
    pytest.mark.skipif(not NOX, reason="not started by a nox session: CAMP_NOX is not set"),
    pytest.mark.skipif(not (ROOT / "build-nvidia/camp_ops_nvidia_emulator.so").is_file(), reason="nvidia is not built"),
]
LOOP = """\
    const int64_t first = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
    for (int64_t i = first; i < elements; i += int64_t{gridDim.x} * blockDim.x) {
        y[i] = from_accumulate<T>(to_accumulate(a[i]) + to_accumulate(b[i]));
    }
"""


def test_given_solved_broken_deleted(tmp_path: Path) -> None:
    workspace = tmp_path / "mine"
    words = ("--", "--op", "vector_add", "--backend", "nvidia", "--kernels", str(workspace))

    def check() -> tuple[int, str]:
        return run("-s", "check", *words, "--device", "emulator", "--level", "1")

    status, output = run("-s", "learn", *words)
    assert status == 0, output
    file = learner_file(workspace, "vector_add", "nvidia")

    status, output = check()
    assert status == 1, output
    assert "level 1 fails, smallest failing case vector_add-256-float32-blocks" in output
    assert "still the exercise" in output and f"kernel is {file}" in output

    text = file.read_text()
    start = text.index("__global__")
    body = text.index("{\n", start) + 2
    file.write_text(text[:body] + LOOP + text[body:])
    status, output = check()
    assert status == 0, output
    assert "level 1: " in output and f"kernel is {file}" in output

    file.write_text(file.read_text() + "garbage(((\n")
    status, output = check()
    assert status == 1, output
    assert f"{file}:{len(file.read_text().splitlines())}:" in output and "garbage(((" in output
    assert "FAILED" not in output and "Traceback" not in output

    file.unlink()
    status, output = check()
    assert status == 1 and "vector_add  nvidia  not started" in output, output
