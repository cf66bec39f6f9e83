"""Streams and events: work keeps its order, across streams too, and the host can wait and ask.

On the emulator these tests run once more with real asynchrony (test_asynchronous.py).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tests.harness.targets import Target

ELEMENTS = 300_000
ROUNDS = 20


def long_producer(oprt: Any, target: Target, stream: Any, tensor: Any) -> float:
    """Queue work that takes long and ends with a known value in every element of the tensor, which holds 1."""
    for _ in range(ROUNDS):
        oprt.vector_add_(tensor, tensor, stream=stream)
    return 2.0**ROUNDS


def test_producer_operator_and_read_on_one_stream(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream:
        x = oprt.from_numpy(np.ones(ELEMENTS, np.float32), **target.where)
        y = oprt.empty((ELEMENTS,), "float32", **target.where)
        with oprt.prepare_relu(y, x, stream=stream) as prepared:
            assert prepared.stream is stream
            value = long_producer(oprt, target, stream, x)
            prepared.run()
            stream.synchronize()
            np.testing.assert_array_equal(y.numpy(), np.float32(value))
        x.close()
        y.close()


def test_every_operator_waits_for_the_stream(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream:
        x = oprt.from_numpy(np.ones((3, ELEMENTS // 3), np.float32), **target.where)
        value = long_producer(oprt, target, stream, x)
        made = [
            oprt.copy(x, stream=stream),
            oprt.vector_add(x, x, stream=stream),
            oprt.relu(x, stream=stream),
            oprt.softmax(x, stream=stream),
            oprt.reduce_sum(x, axis=1, stream=stream),
        ]
        stream.synchronize()
        columns = ELEMENTS // 3
        expected = (value, 2 * value, value, 1 / columns, value * columns)
        for result, number in zip(made, expected, strict=True):
            np.testing.assert_allclose(result.numpy(), number, rtol=1e-5)
            result.close()
        x.close()


def test_another_stream_waits_for_an_event(oprt: Any, target: Target) -> None:
    with (
        oprt.Stream(**target.where) as producer,
        oprt.Stream(**target.where) as consumer,
        oprt.Event() as done,
    ):
        x = oprt.from_numpy(np.ones(ELEMENTS, np.float32), **target.where)
        y = oprt.empty((ELEMENTS,), "float32", **target.where)
        value = long_producer(oprt, target, producer, x)
        done.record(producer)
        consumer.wait(done)
        oprt.copy(x, out=y, stream=consumer)
        consumer.synchronize()
        np.testing.assert_array_equal(y.numpy(), np.float32(value))
        x.close()
        y.close()


def test_reading_a_tensor_waits_for_its_work(oprt: Any, target: Target) -> None:
    x = oprt.from_numpy(np.ones(ELEMENTS, np.float32), **target.where)
    value = long_producer(oprt, target, None, x)
    np.testing.assert_array_equal(x.numpy(), np.float32(value))
    x.close()


def test_queries_end_with_ready(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream, oprt.Event() as event:
        x = oprt.from_numpy(np.ones(ELEMENTS, np.float32), **target.where)
        long_producer(oprt, target, stream, x)
        event.record(stream)
        seen = event.query()
        if target.is_emulator:
            asynchronous = os.environ.get("CAMP_EMULATOR_ASYNC") == "1"
            assert seen is not asynchronous
        event.synchronize()
        assert event.query() is True
        stream.synchronize()
        assert stream.query() is True
        x.close()


def test_time_between_events(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream, oprt.Event() as start, oprt.Event() as stop:
        x = oprt.from_numpy(np.ones(ELEMENTS, np.float32), **target.where)
        start.record(stream)
        long_producer(oprt, target, stream, x)
        stop.record(stream)
        stop.synchronize()
        assert 0 < stop.elapsed_ms(start) < 60_000
        x.close()


def test_arrays_on_a_stream(oprt: Any, target: Target) -> None:
    x = np.arange(ELEMENTS, dtype=np.float32)
    with oprt.Stream(**target.where) as stream:
        y = oprt.copy(x, **target.where, stream=stream)
        stream.synchronize()
    np.testing.assert_array_equal(y, x)
