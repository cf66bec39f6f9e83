"""A call that was made before is made again by a short way, which changes nothing but the time that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

VALUES = np.array([[-1.0, 2.0, -3.0, 4.0]], np.float32)


class Ways:
    """How many calls went the long way, which reads each array anew."""

    def __init__(self) -> None:
        self.long = 0


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ways]:
    from operator_runtime.calls import Operator

    counted, read = Ways(), Operator._read_inputs

    def counting_read(self: Any, *arguments: Any) -> Any:
        counted.long += 1
        return read(self, *arguments)

    monkeypatch.setattr(Operator, "_read_inputs", counting_read)
    yield counted


@pytest.fixture
def tensors(oprt: Any, target: Target) -> Iterator[tuple[Any, Any]]:
    with oprt.from_numpy(VALUES, **target.where) as x, oprt.empty(VALUES.shape, **target.where) as y:
        oprt.relu(x, out=y)
        oprt.vector_add(x, x, out=y)
        y.fill_bytes(0xFF)
        yield x, y


def test_a_call_made_before_takes_the_short_way(oprt: Any, target: Target, tensors: Any, ways: Ways) -> None:
    x, y = tensors
    assert oprt.relu(x, out=y) is y
    np.testing.assert_array_equal(y.numpy(), np.maximum(VALUES, 0))
    oprt.vector_add(x, x, out=y)
    np.testing.assert_array_equal(y.numpy(), 2 * VALUES)
    with oprt.Stream(**target.where) as stream:
        oprt.relu(x, out=y, stream=stream)
        assert x._memory.last_stream is stream
        assert y._memory.last_stream is stream
        stream.synchronize()
    oprt.relu(x, out=y)
    assert y._memory.last_stream == 0
    with oprt.from_numpy(VALUES + 1, **target.where) as other:  # other memory, the same layout
        before = ways.long
        oprt.relu(other, out=y)
        assert ways.long == before
        np.testing.assert_array_equal(y.numpy(), np.maximum(VALUES + 1, 0))
    assert ways.long == 0


def test_whatever_differs_takes_the_long_way(oprt: Any, target: Target, tensors: Any, ways: Ways) -> None:
    x, y = tensors
    calls = [
        lambda: oprt.relu(x, 0.5, out=y),
        lambda: oprt.relu(x[:, :2], out=y[:, :2]),
        lambda: oprt.relu(x[:, ::-1], out=y),
        lambda: oprt.relu(x, out=y, dtype="float32"),
        lambda: oprt.relu(x, out=y, **target.where),
        lambda: oprt.relu(x, out=y, stream=0),
        lambda: oprt.relu(x),
    ]
    for count, call in enumerate(calls, start=1):
        call()
        assert ways.long == count, count
    with oprt.technique(oprt.techniques("vector_add", **target.where)[0]):
        oprt.vector_add(x, x, out=y)
    with oprt.launch_overlap(True):
        oprt.relu(x, out=y)
    assert ways.long == len(calls) + 2


def test_a_capture_keeps_what_it_uses(oprt: Any, target: Target, tensors: Any, ways: Ways) -> None:
    x, y = tensors
    with oprt.Stream(**target.where) as stream, oprt.capture(stream) as graph:
        oprt.relu(x, out=y, stream=stream)
        assert any(kept is y for kept in graph._kept)
    graph.close()
    assert ways.long == 1


def test_errors_are_those_of_the_long_way(oprt: Any, target: Target, tensors: Any) -> None:
    x, y = tensors
    closed_stream = oprt.Stream(**target.where)
    closed_stream.close()
    with pytest.raises(ValueError, match="cannot be used any more"):
        oprt.relu(x, out=y, stream=closed_stream)
    with pytest.raises(TypeError, match="relu: x is in host memory, out is in device memory"):
        oprt.relu(VALUES, out=y)
    with pytest.raises(TypeError, match="stream is a str"):
        oprt.relu(x, out=y, stream="side")
    with oprt.empty(8, **target.where) as memory:
        oprt.relu(memory[:4], out=memory[4:])
        with pytest.raises(ValueError, match="relu: y overlaps x"):
            oprt.relu(memory[:4], out=memory[2:6])
    gone = oprt.from_numpy(VALUES, **target.where)
    oprt.relu(gone, out=y)
    gone.close()
    with pytest.raises(ValueError, match="relu: x was closed"):
        oprt.relu(gone, out=y)
    with pytest.raises(ValueError, match="relu: out was closed"):
        oprt.relu(x, out=gone)


def test_a_tensor_of_another_place(oprt: Any, target: Target, tensors: Any) -> None:
    others = [place for place in oprt.available() if place[1] == "emulator" and place[0] != target.backend]
    if not others:
        pytest.skip("only one place is there")
    x, y = tensors
    where = {"backend": others[0][0], "device": others[0][1]}
    with oprt.from_numpy(VALUES, **where) as elsewhere, oprt.Stream(**where) as stream:
        with pytest.raises(ValueError, match="wanted"):
            oprt.relu(elsewhere, out=y)
        with pytest.raises(ValueError, match="stream is on"):
            oprt.relu(x, out=y, stream=stream)


def test_signatures_outlive_their_table(oprt: Any, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    from operator_runtime.operand import Signature

    monkeypatch.setattr(Signature, "_made", {})
    monkeypatch.setattr(Signature, "_MOST", 3)
    with oprt.from_numpy(np.arange(-8, 8, dtype=np.float32), **target.where) as x, oprt.empty(16, **target.where) as y:
        for length in [*range(1, 17), *range(1, 17)]:
            oprt.relu(x[:length], out=y[:length])
            np.testing.assert_array_equal(y[:length].numpy(), np.maximum(x[:length].numpy(), 0))
        assert len(Signature._made) <= 3
    assert Signature.of(2, (1,), (1,)) is Signature.of(2, (1,), (1,))
