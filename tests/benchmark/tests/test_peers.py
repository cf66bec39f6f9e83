"""Peers without a GPU: stand-ins for PyTorch and CuPy record what would be queued, and fail on demand."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.benchmark import peers
from tests.benchmark.peer_subjects import CupySubject, TorchSubject
from tests.harness.record import Case, load_record

CASE = Case("bench", 1, (4, 8))


class Queue:
    """Work runs at once, or goes into the graph that is being captured."""

    def __init__(self) -> None:
        self.captured: list[Callable[[], object]] | None = None

    def __call__(self, work: Callable[[], object]) -> None:
        work() if self.captured is None else self.captured.append(work)

    def begin(self) -> None:
        assert self.captured is None
        self.captured = []

    def end(self) -> list[Callable[[], object]]:
        assert self.captured is not None
        work, self.captured = self.captured, None
        return work


class Sets(list[Any]):
    """Operand sets on the host."""

    def __init__(self, count: int) -> None:
        super().__init__(SimpleNamespace(inputs=[np.zeros((4, 8))], output=np.zeros((4, 8))) for _ in range(count))
        self.refill(0)

    def refill(self, seed: int) -> None:
        for index, each in enumerate(self):
            each.inputs[0][:] = 100 * seed + index

    def outputs(self, index: int) -> Any:
        return self[index].output.copy()


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def stream() -> Any:
    return SimpleNamespace(device="gpu:1", handle=4096, synchronize=lambda: None)


def nothing(*_: object) -> Any:
    return nullcontext()


def module(name: str, **contents: Any) -> ModuleType:
    made = ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    vars(made).update(contents)
    return made


@pytest.fixture
def torch(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """PyTorch, as far as a subject needs it."""

    class CUDAGraph:
        work: list[Callable[[], object]] | None = None

        def capture_begin(self, capture_error_mode: str) -> None:
            assert capture_error_mode == "relaxed"
            queue.begin()

        def capture_end(self) -> None:
            self.work = queue.end()

        def replay(self) -> None:
            assert self.work is not None
            for each in self.work:
                each()

        def reset(self) -> None:
            self.work = None

    def external_stream(handle: int, device: str) -> tuple[int, str]:
        assert (handle, device) == (4096, "cuda:1")
        return handle, device

    cuda = SimpleNamespace(CUDAGraph=CUDAGraph, ExternalStream=external_stream, stream=nothing)
    made = module("torch", cuda=cuda, from_dlpack=lambda array: array)
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """CuPy, as far as a subject needs it."""
    pool = SimpleNamespace(malloc=None, free_all_blocks=lambda: None)
    cuda = SimpleNamespace(MemoryPool=lambda: pool, ExternalStream=nothing, Device=nothing, using_allocator=nothing)
    made = module("cupy", cuda=cuda, from_dlpack=lambda array: array, copyto=np.copyto)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def oprt_with(queue: Queue) -> Any:
    """Our own capture, on the same queue."""

    class Graph:
        work: Sequence[Callable[[], object]] = ()

        def launch(self, stream: Any = None) -> None:
            for each in self.work:
                each()

        def close(self) -> None:
            self.work = ()

    @contextmanager
    def capture(stream: Any) -> Iterator[Graph]:
        graph = Graph()
        queue.begin()
        yield graph
        graph.work = queue.end()

    return SimpleNamespace(capture=capture)


def doubling(queue: Queue) -> Callable[[list[Any], Any], None]:
    """A library's call that writes into the given output."""
    return lambda inputs, out: queue(lambda: np.copyto(out, 2 * inputs[0]))


def test_torch_is_captured_by_its_own_graph(torch: ModuleType, queue: Queue, stream: Any) -> None:
    sets = Sets(3)
    subject = TorchSubject("torch", doubling(queue), None, sets, stream)
    assert (subject.kind, subject.name, subject.note) == ("peer", "torch", "captured by torch")
    with subject.capture() as graph:
        for index in range(3):
            subject.launch(index)
    sets.refill(7)
    assert not (subject.outputs(2) == 2 * 702).any()
    graph.launch(stream)
    assert [subject.outputs(index)[0, 0] for index in range(3)] == [1400, 1402, 1404]
    with pytest.raises(ValueError, match="its own stream"):
        graph.launch(object())
    graph.close()
    subject.close()


def test_a_failed_capture_ends_and_shows_its_own_error(torch: ModuleType, queue: Queue, stream: Any) -> None:
    subject = TorchSubject("torch", doubling(queue), None, Sets(1), stream)
    with pytest.raises(MemoryError, match="no scratch"), subject.capture():
        raise MemoryError("no scratch")
    assert queue.captured is None


def test_cupy_keeps_the_results_of_each_graph(cupy: ModuleType, queue: Queue, stream: Any) -> None:
    def summing(inputs: list[Any], out: Any) -> Any:
        result = np.full_like(out, -1)
        queue(lambda: np.copyto(result, inputs[0] + 1))
        return result

    sets = Sets(2)
    subject = CupySubject("cub", summing, oprt_with(queue), sets, stream)
    graphs = []
    for _ in range(2):
        with subject.capture() as graph:
            for index in range(2):
                subject.launch(index)
        graphs.append(graph)
    for seed, graph in ((3, graphs[0]), (5, graphs[1]), (6, graphs[0])):
        sets.refill(seed)
        graph.launch(stream)
        assert [subject.outputs(index)[0, 0] for index in range(2)] == [100 * seed + 1, 100 * seed + 2]
    subject.close()


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replaces the list of peers by one."""

    def replace(find: Any, modules: tuple[str, ...] = ("torch",)) -> None:
        monkeypatch.setattr(peers, "PEERS", (peers.Peer("example", modules, "example", find, TorchSubject),))

    return replace


def available(stream: Any, case: Case = CASE) -> peers.Available:
    return peers.available(None, load_record("softmax"), case, Sets(1), stream)


def test_a_missing_library_is_listed_with_what_to_do(only: Callable[..., None], stream: Any) -> None:
    only(lambda record, case: None, modules=("no_such_library",))
    subjects, absent = available(stream)
    assert subjects == []
    assert absent[0]["peer"] == "example" and "no_such_library" in absent[0]["reason"]
    assert "nox --no-venv" in absent[0]["hint"] and "pip install example" in absent[0]["hint"]


@pytest.mark.parametrize("when", ["found", "launched"])
def test_a_library_that_fails_is_listed_with_its_reason(
    torch: ModuleType, only: Callable[..., None], stream: Any, when: str
) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError("no kernel image\nmany more lines")

    only(fail if when == "found" else lambda record, case: fail)
    subjects, absent = available(stream)
    assert subjects == []
    assert absent == [{"peer": "example", "reason": "softmax float32: RuntimeError: no kernel image", "hint": ""}]


def test_what_a_peer_cannot_do_is_no_failure(torch: ModuleType, only: Callable[..., None], stream: Any) -> None:
    only(lambda record, case: None)
    assert available(stream) == ([], [])


def test_only_the_named_peers_are_made(torch: ModuleType, queue: Queue, only: Callable[..., None], stream: Any) -> None:
    only(lambda record, case: doubling(queue))
    for names, count in (((), 0), (("another",), 0), (("another", "example"), 1)):
        found = peers.available(None, load_record("softmax"), CASE, Sets(1), stream, names=names)
        assert (len(found.subjects), found.absent) == (count, [])


def test_emulators_and_other_dtypes_have_no_peers(
    torch: ModuleType, queue: Queue, only: Callable[..., None], stream: Any
) -> None:
    only(lambda record, case: doubling(queue))
    assert len(available(stream).subjects) == 1
    assert available(stream, Case("bench", 1, (4, 8), "float64")) == ([], [])
    stream.device = "emulator"
    assert available(stream) == ([], [])


def test_every_real_peer_says_what_it_needs() -> None:
    assert [peer.name for peer in peers.PEERS] == ["torch", "torch.compile", "triton", "quack", "cub"]
    assert all(peer.modules and peer.packages for peer in peers.PEERS)
