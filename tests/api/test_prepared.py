"""Prepared operators: made once, run often, on device tensors and on arrays.

Streams, graphs and threads have files of their own.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

random = np.random.default_rng


def test_runs_see_new_inputs(oprt: Any, target: Target) -> None:
    x = np.zeros((4, 100), np.float32)
    with (
        oprt.from_numpy(x, **target.where) as device_x,
        oprt.empty((4, 100), "float32", **target.where) as y,
        oprt.prepare_relu(y, device_x) as prepared,
    ):
        for seed in range(3):
            x = random(seed).standard_normal((4, 100), dtype=np.float32)
            device_x.copy_from(x)
            prepared.run()
            np.testing.assert_array_equal(y.numpy(), np.maximum(x, 0))


def test_arrays_are_copied_in_and_out(oprt: Any, target: Target) -> None:
    x, y = np.ones((3, 5), np.float32), np.zeros((3, 5), np.float32)
    with oprt.prepare_copy(y, x, **target.where) as prepared:
        prepared.run()
        np.testing.assert_array_equal(y, 1)
        x[...] = 2
        prepared.run()
        np.testing.assert_array_equal(y, 2)


def test_every_operator_can_be_prepared(oprt: Any, target: Target) -> None:
    a, b = random(1).standard_normal((2, 6, 70), dtype=np.float32)
    full, rows = np.empty((6, 70), np.float32), np.empty(6, np.float32)
    made = (
        (oprt.prepare_copy(full, a, **target.where), full, a),
        (oprt.prepare_vector_add(full, a, b, **target.where), full, a + b),
        (oprt.prepare_relu(full, a, slope=0.5, **target.where), full, np.where(a > 0, a, a / 2)),
        (oprt.prepare_reduce_sum(rows, a, axis=1, **target.where), rows, a.sum(axis=1)),
        (oprt.prepare_softmax(full, a, axis=1, **target.where), full, np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)),
    )
    for prepared, result, expected in made:
        with prepared:
            prepared.run()
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
            assert prepared.workspace_size_bytes >= 0


def test_close_is_idempotent_and_final(oprt: Any, target: Target) -> None:
    x = np.ones(5, np.float32)
    prepared = oprt.prepare_copy(np.empty_like(x), x, **target.where)
    prepared.close()
    prepared.close()
    with pytest.raises(oprt.OperatorRuntimeError, match="closed"):
        prepared.run()


def test_operands_live_as_long_as_the_prepared_operator(oprt: Any, target: Target) -> None:
    with oprt.empty((1000,), "float32", **target.where) as y:
        prepared = oprt.prepare_copy(y, oprt.from_numpy(np.arange(1000, dtype=np.float32), **target.where))
        gc.collect()
        prepared.run()
        np.testing.assert_array_equal(y.numpy(), np.arange(1000))
        with pytest.warns(ResourceWarning, match="not closed"):  # of the tensor that nobody else held
            prepared.close()
            del prepared
            gc.collect()


def test_the_same_shapes_give_the_same_bits(oprt: Any, target: Target) -> None:
    x = random(2).standard_normal((3, 70001), dtype=np.float32)
    results = []
    with (
        oprt.from_numpy(x, **target.where) as device_x,
        oprt.empty((3,), "float32", **target.where) as y,
        oprt.prepare_reduce_sum(y, device_x, axis=1) as prepared,
    ):
        for _ in range(3):
            prepared.run()
            results.append(y.numpy().tobytes())
    assert len(set(results)) == 1


def test_technique_and_backend_are_kept(oprt: Any, target: Target) -> None:
    x = random(3).standard_normal((4, 256), dtype=np.float32)
    expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    y = np.empty_like(x)
    oprt.set_backend(target.backend)
    oprt.set_device(target.device)
    try:
        for technique in (None, *oprt.techniques("softmax")):
            with oprt.technique(technique):
                prepared = oprt.prepare_softmax(y, x)
            for other in oprt.backends():  # none of these has to be built: it is used by nobody
                oprt.set_backend(other)
                y[...] = 0
                prepared.run()
                np.testing.assert_allclose(y, expected, rtol=1e-5)
            prepared.close()
            oprt.set_backend(target.backend)
    finally:
        oprt.set_backend(None)
        oprt.set_device(None)
