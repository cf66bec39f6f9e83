"""The cache of descriptors: one for each difference that matters, bounded, of its thread, and freed with it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target


class Counter:
    """How many descriptors were made and are alive, in all threads."""

    def __init__(self) -> None:
        self.made = self.freed = 0

    @property
    def alive(self) -> int:
        return self.made - self.freed


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    from operator_runtime import descriptors

    counter = Counter()
    create, release = descriptors.Descriptor.__init__, descriptors.Descriptor.release

    def counting_create(*arguments: Any) -> None:
        create(*arguments)
        counter.made += 1

    def counting_release(self: Any) -> None:
        release(self)
        counter.freed += 1

    monkeypatch.setattr(descriptors.Descriptor, "__init__", counting_create)
    monkeypatch.setattr(descriptors.Descriptor, "release", counting_release)
    monkeypatch.setattr(descriptors, "_cache", descriptors._Cache())
    yield counter
    descriptors._cache.descriptors.clear()


def test_the_same_call_makes_no_second_one(oprt: Any, target: Target, counter: Counter) -> None:
    with oprt.empty((4, 8), **target.where) as x, oprt.empty((4, 8), **target.where) as y:
        for _ in range(3):
            oprt.softmax(x, out=y)
            oprt.softmax(y)
    assert (counter.made, counter.freed) == (1, 0)


def test_whatever_differs_makes_another(oprt: Any, target: Target, counter: Counter) -> None:
    x = np.zeros((4, 8), np.float32)
    where = target.where
    calls = [
        lambda: oprt.softmax(x, **where),
        lambda: oprt.softmax(x, axis=0, **where),
        lambda: oprt.softmax(x[:3], **where),
        lambda: oprt.softmax(x[:, ::-1], **where),
        lambda: oprt.softmax(x.astype(np.float16), **where),
        lambda: oprt.relu(x, **where),
        lambda: oprt.relu(x, slope=-0.0, **where),
        lambda: oprt.relu(x, slope=1.0, **where),
        lambda: oprt.relu(x, slope=np.nan, **where),
        lambda: oprt.reduce_sum(x, **where),
        lambda: oprt.reduce_sum(x, axis=(0, 1), **where),
        lambda: oprt.reduce_sum(x, axis=(), **where),
        lambda: oprt.reduce_sum(x, axis=0, keepdims=True, **where),
        lambda: oprt.reduce_sum(x, axis=0, **where),
    ]
    for count, call in enumerate(calls, start=1):
        call()
        assert counter.made == count, count
    for call in calls:
        call()
    assert counter.made == len(calls)
    technique = oprt.techniques("softmax", **where)[0]
    with oprt.technique(technique):
        calls[0]()
    assert counter.made == len(calls) + 1


def test_each_backend_has_its_own(oprt: Any, counter: Counter) -> None:
    x = np.zeros(4, np.float32)
    places = [place for place in oprt.available() if place[1] == "emulator"]
    for backend, device in places * 2:
        oprt.relu(x, backend=backend, device=device)
    assert counter.made == len(places)


def test_the_least_recently_used_goes(
    oprt: Any, target: Target, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from operator_runtime import descriptors

    monkeypatch.setattr(descriptors, "DESCRIPTORS_PER_THREAD", 3)
    with oprt.empty(16, **target.where) as x:
        for length in (1, 2, 3, 1, 4, 1, 5):
            oprt.relu(x[:length])
        assert (counter.made, counter.freed) == (5, 2)
        oprt.relu(x[:1])
        assert counter.made == 5
        for length in range(1, 17):
            oprt.relu(x[:length])
    assert counter.alive == 3


def test_descriptors_end_with_their_thread(oprt: Any, target: Target, counter: Counter) -> None:
    def work() -> None:
        with oprt.empty((3, 4), **target.where) as x:
            oprt.softmax(x)
            oprt.relu(x)

    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    gc.collect()
    assert (counter.made, counter.alive) == (6, 0)


def test_refused_calls_leave_nothing(oprt: Any, target: Target, counter: Counter) -> None:
    for _ in range(5):
        with pytest.raises(ValueError):
            oprt.softmax(np.zeros((2, 2), np.float32), axis=7, **target.where)
    assert counter.made == 0


def test_prepared_operators_have_their_own(oprt: Any, target: Target, counter: Counter) -> None:
    with oprt.empty(4, **target.where) as x, oprt.empty(4, **target.where) as y:
        prepared = [oprt.prepare_copy(y, x) for _ in range(3)]
        assert counter.alive == 3
        for each in prepared:
            each.close()
            each.close()
    assert counter.alive == 0


def test_a_graph_keeps_what_it_uses(
    oprt: Any, target: Target, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from operator_runtime import descriptors

    monkeypatch.setattr(descriptors, "DESCRIPTORS_PER_THREAD", 1)
    with oprt.Stream(**target.where) as stream, oprt.from_numpy(np.ones(4, np.float32), **target.where) as x:
        with oprt.capture(stream) as graph:
            y = oprt.vector_add(x, x, stream=stream)
            z = oprt.vector_add(y, y[:1], stream=stream)
        shown = z[:]
        del y, z
        oprt.relu(x)
        assert counter.freed == 0
        with graph:
            graph.launch()
            assert shown.numpy().tolist() == [4, 4, 4, 4]
        del graph
        gc.collect()
    assert counter.alive == 1


def test_workspaces_belong_to_streams(oprt: Any, target: Target) -> None:
    from operator_runtime import descriptors

    with oprt.empty((1, 1 << 20), **target.where) as x, oprt.Stream(**target.where) as stream:
        x.fill_bytes(0)
        descriptors._cache.descriptors.clear()
        oprt.reduce_sum(x, axis=1)
        (descriptor,) = descriptors._cache.descriptors.values()
        if not descriptor.workspace_size_bytes:
            pytest.skip("no workspace is needed on this device")
        (first,) = descriptor._workspaces.values()
        oprt.reduce_sum(x, axis=1)
        oprt.reduce_sum(x, axis=1, stream=stream)
        assert len({memory.address for memory in descriptor._workspaces.values()}) == 2
        assert first.size_bytes == descriptor.workspace_size_bytes
        for _ in range(20):
            with oprt.Stream(**target.where) as another:
                assert oprt.reduce_sum(x, axis=1, stream=another).numpy().tolist() == [0]
        assert len(descriptor._workspaces) <= 8


def test_a_finaliser_in_the_middle_leaves_the_selection(oprt: Any) -> None:
    from operator_runtime.selection import choose, resolve, selected

    places = [resolve(choose(backend, device)) for backend, device in oprt.available()]
    oprt.set_backend(places[0].backend_name)
    try:
        with selected(places[-1]):
            with selected(places[0]):
                pass
            assert _selected_in_c() == places[-1].backend
        assert _selected_in_c() == places[0].backend
    finally:
        oprt.set_backend(None)


def _selected_in_c() -> int:
    from operator_runtime._native import ffi, lib

    backend = ffi.new("oprt_backend_t *")
    assert lib.oprt_get_backend(backend) == lib.OPRT_SUCCESS
    return int(backend[0])
