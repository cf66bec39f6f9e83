"""Host threads: what may run at the same time runs, what may not is refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.harness.c_api import Library
from tests.harness.record import View, load_record
from tests.harness.targets import Target

random = np.random.default_rng
RUNS = 30


def together(*functions: Callable[[], Any]) -> list[Any]:
    """Run functions at the same time; their results, or the first exception."""
    barrier = threading.Barrier(len(functions))

    def start(function: Callable[[], Any]) -> Any:
        barrier.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result(timeout=120) for future in [pool.submit(start, function) for function in functions]]


def test_two_threads_with_their_own_operator_and_stream(oprt: Any, target: Target) -> None:
    def work(seed: int) -> None:
        values = random(seed).standard_normal((20, 1000 + seed), dtype=np.float32)
        with (
            oprt.Stream(**target.where) as stream,
            oprt.from_numpy(values, **target.where) as x,
            oprt.empty(values.shape, "float32", **target.where) as y,
            oprt.prepare_softmax(y, x, stream=stream) as prepared,
        ):
            for _ in range(RUNS):
                prepared.run()
                stream.synchronize()
            expected = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)

    together(lambda: work(1), lambda: work(2), lambda: work(3))


def test_one_descriptor_in_two_threads(oprt: Any, target: Target) -> None:
    library = Library()
    shape = (3, 65537)  # few long rows, so that a workspace is needed where an operator has any use for one
    views = [View(shape[:1]), View(shape)]
    made: list[Any] = []

    def select() -> None:
        oprt.set_backend(target.backend)
        oprt.set_device(target.device)

    def make() -> None:
        select()
        answer, handle = library.create(load_record("reduce_sum"), views, {"axis": 1})
        assert answer.ok, answer
        made.append(handle)

    def work(seed: int) -> None:
        select()
        values = random(seed).standard_normal(shape, dtype=np.float32)
        size_bytes = library.workspace_size("reduce_sum", made[0])
        result = np.empty(shape[0], np.float32)
        with (
            library.memory(values.nbytes) as x,
            library.memory(result.nbytes) as y,
            library.memory(size_bytes) as workspace,
        ):
            null, host = library.ffi.NULL, library.ffi.from_buffer
            library.must("copy_memory", x, host(values), values.nbytes, null)
            for _ in range(RUNS):
                library.must("execute_reduce_sum", made[0], workspace, size_bytes, y, x, null)
            library.must("copy_memory", host(result), y, result.nbytes, null)
            library.must("synchronize_device")
        np.testing.assert_allclose(result, values.sum(axis=1, dtype=np.float64), rtol=1e-4, atol=1e-2)

    together(make)
    together(lambda: work(1), lambda: work(2))
    library.must("destroy_reduce_sum_descriptor", made[0])


def test_one_prepared_operator_in_two_threads_raises(oprt: Any, target: Target) -> None:
    if not target.is_emulator:
        pytest.skip("a GPU's run() returns too soon for two threads to be sure to meet")
    x = np.ones((256, 1000), np.float32)
    prepared = oprt.prepare_softmax(np.empty_like(x), x, **target.where)
    refused = threading.Event()
    deadline = time.monotonic() + 30

    def work() -> None:
        while not refused.is_set() and time.monotonic() < deadline:
            try:
                prepared.run()
            except oprt.OperatorRuntimeError as error:
                assert "thread" in str(error)
                refused.set()

    together(work, work)
    assert refused.is_set()
    prepared.run()  # and it still works
    prepared.close()


def test_functions_in_many_threads(oprt: Any, target: Target) -> None:
    def work(seed: int) -> None:
        for rows in (1, 3, 7):
            x = random(seed).standard_normal((rows, 100 * seed), dtype=np.float32)
            np.testing.assert_array_equal(oprt.relu(x, **target.where), np.maximum(x, 0))
            np.testing.assert_array_equal(oprt.vector_add(x, x, **target.where), x + x)

    together(*(lambda seed=seed: work(seed) for seed in range(1, 6)))


def test_selection_belongs_to_the_thread(oprt: Any, target: Target) -> None:
    oprt.set_backend(target.backend)
    oprt.set_device(target.device)
    try:
        assert oprt.get_backend() == target.backend

        def other() -> None:
            for backend in oprt.backends():
                oprt.set_backend(backend)

        together(other)
        assert oprt.get_backend() == target.backend
    finally:
        oprt.set_backend(None)
        oprt.set_device(None)
