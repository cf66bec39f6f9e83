"""Memory of results is used again on its stream where that is safe, and on no other occasion.

Only a GPU's memory is, so these tests let the emulator's take part.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

ELEMENTS = 1000


class Kept:
    """What the calling thread keeps."""

    def __init__(self, recycling: Any) -> None:
        self._recycling = recycling

    @property
    def size_bytes(self) -> int:
        return self._recycling._of_thread.blocks.size_bytes

    @property
    def count(self) -> int:
        return sum(map(len, self._recycling._of_thread.blocks.by_key.values()))


@pytest.fixture
def kept(oprt: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    from operator_runtime import recycling
    from operator_runtime._native import lib

    gc.collect()
    recycling.release_all()
    monkeypatch.setattr(recycling, "KINDS", {lib.OPRT_DEVICE_EMULATOR, lib.OPRT_DEVICE_GPU})
    yield Kept(recycling)
    gc.collect()
    recycling.release_all()


@pytest.fixture
def x(oprt: Any, target: Target) -> Iterator[Any]:
    with oprt.from_numpy(np.arange(ELEMENTS, dtype=np.float32), **target.where) as made:
        yield made


def address(tensor: Any) -> int:
    """As data_ptr, but without telling that it was asked for."""
    return int(tensor._memory.address)


def test_the_next_result_takes_the_memory_of_the_last(oprt: Any, x: Any, kept: Kept) -> None:
    addresses = set()
    for i in range(5):
        y = oprt.relu(x, 1.0)
        addresses.add(address(y))
        z = oprt.vector_add(y, x)
        addresses.add(address(z))
        np.testing.assert_array_equal(z.numpy(), 2 * np.arange(ELEMENTS))
        del y, z
        assert kept.count == 2, i
    assert len(addresses) == 2
    assert kept.size_bytes == 2 * 4 * ELEMENTS


def test_other_sizes_and_streams_take_none(oprt: Any, target: Target, x: Any, kept: Kept) -> None:
    oprt.relu(x).close()
    assert kept.count == 1
    with oprt.Stream(**target.where) as stream:
        shorter, elsewhere = oprt.relu(x[:10]), oprt.relu(x, stream=stream)
        assert kept.count == 1
        stream.synchronize()
        del shorter, elsewhere
        assert kept.count == 3
    assert kept.count == 2  # what was kept for the stream went with it
    with oprt.empty(ELEMENTS, **target.where):
        assert kept.count == 2


def use_on_another_stream(oprt: Any, target: Target, y: Any) -> None:
    with oprt.Stream(**target.where) as stream:
        oprt.relu(y, out=y, stream=stream)
        stream.synchronize()


def use_on_another_stream_again(oprt: Any, target: Target, y: Any) -> None:
    with oprt.Stream(**target.where) as stream:
        for _ in range(2):
            oprt.relu(y[:7], out=y[:7], stream=stream)
            oprt.relu(y[:7], out=y[:7])
        stream.synchronize()


def use_in_a_graph(oprt: Any, target: Target, y: Any) -> None:
    with oprt.Stream(**target.where) as stream, oprt.capture(stream) as graph:
        oprt.relu(y, out=y, stream=stream)
    graph.close()


def use_prepared(oprt: Any, target: Target, y: Any) -> None:
    with oprt.prepare_relu(y, y) as prepared:
        prepared.run()


def use_by_address(oprt: Any, target: Target, y: Any) -> None:
    assert y[3:].data_ptr == address(y) + 12


def use_by_dlpack(oprt: Any, target: Target, y: Any) -> None:
    y.__dlpack__()


@pytest.mark.parametrize(
    "use",
    [
        use_on_another_stream,
        use_on_another_stream_again,
        use_in_a_graph,
        use_prepared,
        use_by_address,
        use_by_dlpack,
    ],
)
def test_memory_that_others_may_use_is_freed(oprt: Any, target: Target, x: Any, kept: Kept, use: Any) -> None:
    y = oprt.relu(x)
    use(oprt, target, y)
    del y
    gc.collect()
    assert kept.count == 0


def test_results_in_a_capture_take_none(oprt: Any, target: Target, x: Any, kept: Kept) -> None:
    with oprt.Stream(**target.where) as stream:
        oprt.relu(x, stream=stream).close()
        assert kept.count == 1
        with oprt.capture(stream) as graph:
            y = oprt.relu(x, stream=stream)
            assert kept.count == 1
        graph.launch()
        np.testing.assert_array_equal(y.numpy(), np.arange(ELEMENTS))
        graph.close()
        del y
        assert kept.count == 1


def test_memory_that_was_made_by_hand_is_freed(oprt: Any, target: Target, x: Any, kept: Kept) -> None:
    with oprt.empty(ELEMENTS, **target.where) as y:
        oprt.relu(x, out=y)
    assert kept.count == 0


def test_it_is_bounded(oprt: Any, x: Any, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    from operator_runtime import recycling

    monkeypatch.setattr(recycling, "MOST_BYTES", 400)
    for length in (20, 30, 40, 50, 101):
        oprt.relu(x[:length]).close()
        assert kept.size_bytes <= 400
    assert kept.size_bytes == 4 * (40 + 50)  # the oldest went; 101 is too large by itself
    oprt.relu(x[:40]).close()
    oprt.relu(x[:20]).close()
    assert kept.size_bytes == 4 * (40 + 20)  # 50 was used before 40


def test_it_goes_when_memory_is_exhausted(
    oprt: Any, target: Target, x: Any, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    oprt.relu(x).close()
    with pytest.raises(MemoryError):
        oprt.empty(1 << 55, "bits8", **target.where)
    assert kept.count == 0


def test_it_goes_with_its_thread(oprt: Any, x: Any, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    from operator_runtime import recycling

    released = []
    release = recycling._Blocks.release
    monkeypatch.setattr(recycling._Blocks, "release", lambda self, key: (released.append(key), release(self, key)))
    thread = threading.Thread(target=lambda: oprt.relu(x).close())
    thread.start()
    thread.join()
    gc.collect()
    assert len(released) == 1
    assert kept.count == 0


def test_the_emulator_keeps_none(oprt: Any, target: Target, x: Any) -> None:
    from operator_runtime import recycling

    if not target.is_emulator:
        pytest.skip(f"{target.device} is no emulator")
    gc.collect()
    recycling.release_all()
    oprt.relu(x).close()
    assert not recycling._of_thread.blocks.by_key
