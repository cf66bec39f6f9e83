"""Capture of a stream's work into a graph that can be launched again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import check, invalid
from operator_runtime.owner import Owner
from operator_runtime.selection import selected
from operator_runtime.stream import Stream


class _Capture(threading.local):
    """The graph that the calling thread records, if it does."""

    graph: Graph | None = None


current = _Capture()


class Graph(Owner):
    """Work that was captured from a stream; made by `capture`.

    It keeps alive the tensors and workspaces of the operators that were called during the capture. A prepared operator
    that ran during the capture has to stay open as long as the graph is launched.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._cdata: CData = ffi.NULL
        self._kept: list[object] = []

    def keep(self, *borrowed: object) -> None:
        """Hold what the captured work uses."""
        self._kept += borrowed

    def _begin(self) -> None:
        with selected(self._stream.place):
            check(lib.oprt_begin_capture(self._stream.cdata))

    def _end(self) -> None:
        handle = ffi.new("oprt_graph_t *")
        with selected(self._stream.place):
            check(lib.oprt_end_capture(handle, self._stream.cdata))
        self._cdata, self._open = handle[0], True

    def _release(self) -> None:
        with selected(self._stream.place):
            check(lib.oprt_destroy_graph(self._cdata))
        self._kept.clear()

    def __repr__(self) -> str:
        return f"<Graph of {self._stream!r}>"

    def launch(self, stream: Stream | None = None) -> None:
        """Run the captured work in the order of a stream; of the captured one if none is given.

        Raises
        ------
        ValueError
            The capture has not ended, or the graph was closed.
        """
        if self.closed:
            raise invalid("the graph is still being captured, or was closed")
        target = self._stream if stream is None else stream
        with selected(target.place):
            check(lib.oprt_launch_graph(self._cdata, target.cdata))


@contextmanager
def capture(stream: Stream) -> Iterator[Graph]:
    """Record the work that the with statement gives to a stream instead of running it.

    Parameters
    ----------
    stream : Stream
        Calls inside have to name it; work of other streams runs as always.

    Yields
    ------
    Graph
        To be launched after the with statement.

    Raises
    ------
    ValueError
        This thread captures already, or an operator inside was given host arrays.

    Examples
    --------
    >>> with oprt.Stream() as stream, oprt.from_numpy(np.array([-1.0, 2.0], np.float32)) as x, oprt.empty(2) as y:
    ...     with oprt.capture(stream) as graph:
    ...         _ = oprt.relu(x, out=y, stream=stream)
    ...     with graph:
    ...         graph.launch()
    ...         y.numpy()
    array([0., 2.], dtype=float32)
    """
    if current.graph is not None:
        raise invalid("this thread captures a graph already")
    graph = Graph(stream)
    graph._begin()
    current.graph = graph
    try:
        yield graph
    except BaseException:
        current.graph = None
        _abandon(graph)
        raise
    current.graph = None
    graph._end()


def _abandon(graph: Graph) -> None:
    """End a capture whose body failed. The body's own error is what the caller has to see, so this one reports none."""
    handle = ffi.new("oprt_graph_t *")
    with selected(graph._stream.place):
        if lib.oprt_end_capture(handle, graph._stream.cdata) == lib.OPRT_SUCCESS:
            lib.oprt_destroy_graph(handle[0])
