"""How a call of another library is launched, captured and verified: the benchmark's subjects for PyTorch and CuPy.

Which libraries and calls there are is said in peers.py.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# One call of a library on the current stream. What CupySubject gets back is the result, where output was not written.
Call = Callable[[list[Any], Any], Any]


class PeerSubject:
    """A library's call on every operand set, to be launched, captured and verified like a technique."""

    kind = "peer"
    note = ""  # for the row's timer text

    def __init__(self, name: str, call: Call, oprt: Any, sets: Any, stream: Any) -> None:
        self.name, self.oprt, self.sets, self.stream = name, oprt, sets, stream
        self._call = call
        with self.current():
            self._arrays = [([self.array(x) for x in each.inputs], self.array(each.output)) for each in sets]
        self.launch(0)  # compiles, tunes and allocates, which a capture must not
        stream.synchronize()

    def array(self, tensor: Any) -> Any:
        """The library's view of a Tensor's memory."""
        raise NotImplementedError

    def current(self) -> Any:
        """A context in which the library queues on the stream."""
        raise NotImplementedError

    def launch(self, index: int) -> None:
        """Queue one launch on an operand set."""
        inputs, output = self._arrays[index]
        with self.current():
            self._call(inputs, output)

    def capture(self) -> Any:
        """A context whose launches go into the graph that it gives."""
        return self.oprt.capture(self.stream)

    def outputs(self, index: int) -> Any:
        """The result of an operand set, on the host."""
        return self.sets.outputs(index)

    def close(self) -> None:
        """Let go of the operand sets."""
        self._arrays = []


class TorchSubject(PeerSubject):
    """Everything that runs on PyTorch's current stream: PyTorch itself, Triton, quack."""

    note = "captured by torch"

    def __init__(self, name: str, call: Call, oprt: Any, sets: Any, stream: Any) -> None:
        self.torch = importlib.import_module("torch")
        index = int(stream.device.partition(":")[2] or 0)
        self.torch_stream = self.torch.cuda.ExternalStream(stream.handle, device=f"cuda:{index}")
        super().__init__(name, call, oprt, sets, stream)

    def array(self, tensor: Any) -> Any:
        return self.torch.from_dlpack(tensor)

    def current(self) -> Any:
        return self.torch.cuda.stream(self.torch_stream)

    @contextmanager
    def capture(self) -> Iterator[TorchGraph]:
        # PyTorch's own capture keeps the scratch memory of a graph in a pool that nothing else gets.
        graph = self.torch.cuda.CUDAGraph()
        self.stream.synchronize()
        with self.current():
            graph.capture_begin(capture_error_mode="relaxed")
            try:
                yield TorchGraph(self, graph)
            except BaseException:
                with suppress(Exception):  # the body's own error is what the caller has to see
                    graph.capture_end()
                raise
            graph.capture_end()


class TorchGraph:
    """A graph of PyTorch with the interface of ours."""

    def __init__(self, subject: TorchSubject, graph: Any) -> None:
        self._subject, self._graph = subject, graph

    def launch(self, stream: Any = None) -> None:
        """Queue the graph on the stream that it was captured from."""
        if stream is not None and stream is not self._subject.stream:
            raise ValueError(f"{self._subject.name}: a graph captured by torch runs on its own stream only")
        with self._subject.current():
            self._graph.replay()

    def close(self) -> None:
        """Free the graph."""
        self._subject.stream.synchronize()
        self._graph.reset()


class CupySubject(PeerSubject):
    """CuPy. Results and scratch memory come from a pool of its own, which lives as long as the graphs that use it.

    CuPy's sum with out= sums into memory of its own and copies that, so it may keep its results; outputs() copies them.
    """

    def __init__(self, name: str, call: Call, oprt: Any, sets: Any, stream: Any) -> None:
        self.cupy = import_cupy()
        self.results: dict[int, Any] = {}  # of the launches or the graph that ran last
        self.pool = self.cupy.cuda.MemoryPool()
        self.cupy_stream = self.cupy.cuda.ExternalStream(stream.handle)
        self.device = self.cupy.cuda.Device(int(stream.device.partition(":")[2] or 0))
        super().__init__(name, call, oprt, sets, stream)

    def array(self, tensor: Any) -> Any:
        return self.cupy.from_dlpack(tensor)

    @contextmanager
    def current(self) -> Iterator[None]:
        with self.device, self.cupy.cuda.using_allocator(self.pool.malloc), self.cupy_stream:
            yield

    def launch(self, index: int) -> None:
        inputs, output = self._arrays[index]
        with self.current():
            self.results[index] = self._call(inputs, output)

    @contextmanager
    def capture(self) -> Iterator[CupyGraph]:
        self.results = {}  # those of another graph stay with that
        with self.oprt.capture(self.stream) as graph:
            yield CupyGraph(self, graph, self.results)

    def outputs(self, index: int) -> Any:
        with self.current():
            self.cupy.copyto(self._arrays[index][1], self.results[index])
        self.stream.synchronize()
        return super().outputs(index)

    def close(self) -> None:
        super().close()
        self.stream.synchronize()
        self.results = {}
        self.pool.free_all_blocks()


class CupyGraph:
    """A graph together with the results that it writes."""

    def __init__(self, subject: CupySubject, graph: Any, results: dict[int, Any]) -> None:
        self._subject, self._graph, self._results = subject, graph, results

    def launch(self, stream: Any = None) -> None:
        """Queue the graph."""
        self._subject.results = self._results
        self._graph.launch(stream)

    def close(self) -> None:
        """Free the graph and its results."""
        self._subject.stream.synchronize()
        self._graph.close()
        self._results.clear()


def import_cupy() -> Any:
    """CuPy, set to reduce with CUB."""
    os.environ["CUPY_ACCELERATORS"] = "cub"  # read when CuPy is imported
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("cupy")
