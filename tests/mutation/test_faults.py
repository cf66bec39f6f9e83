"""A kernel that breaks the device: it is reported by name, the device refuses work, a reset brings the emulator back.

What the reports say of each kind of fault is the emulator's own tests' part.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.harness.targets import ROOT, Target
from tests.mutation.mutable_module import build, build_tree_of
from tests.mutation.run_fault import KERNEL

pytestmark = pytest.mark.mutation

BAD_ADDRESS, NO_END = 1, 2


@pytest.mark.parametrize(("kind", "words"), [(BAD_ADDRESS, ("address",)), (NO_END, ("time limit",))])
def test_broken_kernel(oprt: Any, target: Target, kind: int, words: tuple[str, ...]) -> None:
    if not target.is_emulator:
        pytest.skip("a GPU that broke ends with its process")
    tree = build_tree_of(oprt.module_path(**target.where))
    if tree is None:
        pytest.skip("the module under test lies in no build folder")
    folder = build(tree, target.backend, "vector_add")
    environment = {**os.environ, "CAMP_BUILD_DIR": os.pathsep.join((str(folder), str(tree)))}
    environment["CAMP_EMULATOR_TIME_LIMIT"] = "1"
    command = [sys.executable, "-m", "tests.mutation.run_fault", target.backend, str(kind)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for word in (KERNEL, "block (0, 0, 0), thread (0, 0, 0)", *words):
        assert word in done.stdout.partition("then:")[0], done.stdout
