"""Overlapped launches: chosen for a thread, kept by what was made meanwhile, and without any effect on results."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target


@pytest.mark.parametrize("shape", [(37, 1003), (64, 1024), (2, 131072), (70, 32776)])
def test_results_are_the_same(oprt: Any, target: Target, shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    with oprt.Stream(**target.where) as stream, oprt.from_numpy(values, **target.where) as x:

        def chain() -> list[Any]:
            """Each reads what the one before wrote; the first output is written again while it may still be read."""
            with oprt.empty(values.shape, **target.where) as y, oprt.empty(values.shape, **target.where) as z:
                for _ in range(5):
                    oprt.softmax(x, out=y, stream=stream)
                    oprt.vector_add(y, x, out=z, stream=stream)
                    oprt.relu(z, out=y, stream=stream)
                total = oprt.reduce_sum(y, axis=1, stream=stream)
                stream.synchronize()
                return [y.numpy(), z.numpy(), total.numpy()]

        ordinary = chain()
        with oprt.launch_overlap(True):
            overlapped = chain()
    for have, want in zip(overlapped, ordinary, strict=True):
        np.testing.assert_array_equal(have, want)


def test_it_nests_and_belongs_to_the_thread(oprt: Any) -> None:
    from operator_runtime.selection import defaults

    seen: list[bool] = []
    with oprt.launch_overlap(True):
        assert defaults.kernels.launch_overlap
        with oprt.launch_overlap(False):
            assert not defaults.kernels.launch_overlap
        assert defaults.kernels.launch_overlap
        other = threading.Thread(target=lambda: seen.append(defaults.kernels.launch_overlap))
        other.start()
        other.join()
        with pytest.raises(ZeroDivisionError), oprt.launch_overlap(False):
            _ = 1 / 0
        assert defaults.kernels.launch_overlap
    assert not defaults.kernels.launch_overlap
    assert seen == [False]


def test_cached_descriptors_are_told_apart(oprt: Any, target: Target) -> None:
    from operator_runtime import descriptors

    with oprt.from_numpy(np.ones(51, np.float32), **target.where) as x, oprt.empty(51, **target.where) as y:
        oprt.relu(x, 0.125, out=y)
        before = set(descriptors._cache.descriptors)
        oprt.relu(x, 0.125, out=y)
        assert set(descriptors._cache.descriptors) == before
        with oprt.launch_overlap(True):
            oprt.relu(x, 0.125, out=y)
        assert len(set(descriptors._cache.descriptors) - before) == 1


@pytest.mark.parametrize(("value", "printed"), [("1", "True"), ("0", "False"), ("", "False")])
def test_the_process_default(monkeypatch: pytest.MonkeyPatch, value: str, printed: str) -> None:
    monkeypatch.setenv("CAMP_LAUNCH_OVERLAP", value)
    program = "import operator_runtime.selection as s; print(s.defaults.kernels.launch_overlap)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed


def test_a_wrong_process_default_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMP_LAUNCH_OVERLAP", "yes")
    command = [sys.executable, "-c", "import operator_runtime"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'CAMP_LAUNCH_OVERLAP is "yes", wanted 0 or 1' in done.stderr
