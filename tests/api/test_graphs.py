"""Graphs: captured work does not run until it is launched, and then as often as wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

random = np.random.default_rng


def test_captured_work_runs_when_launched(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream:
        x = oprt.from_numpy(np.ones((4, 500), np.float32), **target.where)
        y = oprt.from_numpy(np.full((4, 500), 7, np.float32), **target.where)
        with oprt.prepare_softmax(y, x, stream=stream) as prepared:
            with oprt.capture(stream) as graph:
                prepared.run()
            stream.synchronize()
            np.testing.assert_array_equal(y.numpy(), 7)
            for seed in range(3):
                values = random(seed).standard_normal((4, 500), dtype=np.float32)
                x.copy_from(values)
                graph.launch(stream)
                stream.synchronize()
                expected = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
                np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)
            graph.close()
        x.close()
        y.close()


def test_every_operator_can_be_captured(oprt: Any, target: Target) -> None:
    values = random(5).standard_normal((16, 4096), dtype=np.float32)
    with oprt.Stream(**target.where) as stream:
        x = oprt.from_numpy(values, **target.where)
        full = [oprt.empty((16, 4096), "float32", **target.where) for _ in range(4)]
        total = oprt.empty((), "float32", **target.where)
        prepared = [
            oprt.prepare_copy(full[0], x, stream=stream),
            oprt.prepare_vector_add(full[1], full[0], x, stream=stream),
            oprt.prepare_relu(full[2], full[1], stream=stream),
            oprt.prepare_softmax(full[3], full[2], stream=stream),
            oprt.prepare_reduce_sum(total, full[3], stream=stream),
        ]
        with oprt.capture(stream) as graph:
            for item in prepared:
                item.run()
        graph.launch(stream)
        graph.launch(stream)
        stream.synchronize()
        np.testing.assert_array_equal(full[2].numpy(), np.maximum(values + values, 0))
        np.testing.assert_allclose(total.numpy(), 16, rtol=1e-4)
        for item in (graph, *prepared, *full, total, x):
            item.close()


def test_the_default_stream_cannot_be_captured(oprt: Any, target: Target) -> None:
    from tests.harness.c_api import Library

    library = Library()
    oprt.set_backend(target.backend)
    oprt.set_device(target.device)
    try:
        assert library.call("begin_capture", library.ffi.NULL).status == "OPRT_ERR_INVALID_ARGUMENT"
        assert library.call("destroy_graph", library.ffi.NULL).ok
    finally:
        oprt.set_backend(None)
        oprt.set_device(None)


def test_an_error_inside_a_capture_ends_it(oprt: Any, target: Target) -> None:
    x = oprt.from_numpy(np.ones(8, np.float32), **target.where)
    with oprt.Stream(**target.where) as stream:
        with pytest.raises(oprt.OperatorRuntimeError, match="axis"), oprt.capture(stream):
            oprt.softmax(x, axis=5, stream=stream)
        with oprt.copy(x, stream=stream) as y:
            stream.synchronize()
            np.testing.assert_array_equal(y.numpy(), 1)
    x.close()
