"""Streams and events: ordered queues of device work, and marks in them."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from operator_runtime import recycling
from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import check, invalid, wrong_type
from operator_runtime.owner import Owner
from operator_runtime.selection import Place, choose, resolve, selected

_STREAM = ffi.typeof("oprt_stream_t")
_INTEGER_POINTER = ffi.typeof("uintptr_t")
# Vendors and the array protocols also call the default stream 1.
_DEFAULT_HANDLES = (0, 1)


class Stream(Owner):
    """An ordered queue of device work that does not wait for the default stream.

    Parameters
    ----------
    backend, device : str, optional
        Where; the thread's default if not given.

    Raises
    ------
    RuntimeError
        The backend or device is not there.

    Examples
    --------
    >>> with oprt.Stream() as stream, oprt.from_numpy(np.array([-1.0, 2.0], np.float32)) as x:
    ...     y = oprt.relu(x, stream=stream)
    ...     stream.synchronize()
    ...     y.numpy()
    array([0., 2.], dtype=float32)
    """

    _serials = itertools.count(1)

    def __init__(self, *, backend: str | None = None, device: str | None = None) -> None:
        self.place = resolve(choose(backend, device))
        # Unlike the handle, never used again: what is remembered for a stream must not meet another one.
        self.serial = next(Stream._serials)
        handle = ffi.new("oprt_stream_t *")
        with selected(self.place):
            check(lib.oprt_create_stream(handle))
        self._cdata: CData = handle[0]
        self._open = True

    def _release(self) -> None:
        recycling.release_stream(-self.serial)
        with selected(self.place):
            check(lib.oprt_destroy_stream(self._cdata))

    def __repr__(self) -> str:
        return f"<Stream on {self.place}{', closed' if self.closed else ''}>"

    @property
    def cdata(self) -> CData:
        """The stream as the C library takes it."""
        if self.closed:
            raise invalid(f"{self!r} cannot be used any more")
        return self._cdata

    @property
    def handle(self) -> int:
        """The stream's address; on a GPU that of the vendor's own stream (cudaStream_t, mcStream_t)."""
        return int(ffi.cast(_INTEGER_POINTER, self.cdata))

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self.place.backend_name

    @property
    def device(self) -> str:
        """Name of the device."""
        return self.place.device_name

    def synchronize(self) -> None:
        """Wait until all work of the stream is done.

        Raises
        ------
        RuntimeError
            A kernel broke since the device's last reset; the message is its report.
        """
        with selected(self.place):
            check(lib.oprt_synchronize_stream(self.cdata))

    def query(self) -> bool:
        """Whether all work of the stream is done, without waiting."""
        with selected(self.place):
            return _is_done(lib.oprt_query_stream(self.cdata))

    def wait(self, event: Event) -> None:
        """Let later work of the stream wait for an event; the host does not wait."""
        if event.place is not None:
            with selected(self.place):
                check(lib.oprt_wait_event(self.cdata, event.cdata))


class Event(Owner):
    """A mark in a stream, with its time.

    It belongs to the device of the stream that it is first recorded on.

    Examples
    --------
    >>> with oprt.Stream() as stream, oprt.Event() as start, oprt.Event() as stop:
    ...     start.record(stream)
    ...     stop.record(stream)
    ...     stop.synchronize()
    ...     stop.elapsed_ms(start) >= 0
    True
    """

    def __init__(self) -> None:
        self.place: Place | None = None
        self._cdata: CData = ffi.NULL

    def _create(self, place: Place) -> None:
        handle = ffi.new("oprt_event_t *")
        with selected(place):
            check(lib.oprt_create_event(handle))
        self._cdata, self.place, self._open = handle[0], place, True

    def _release(self) -> None:
        assert self.place is not None
        with selected(self.place):
            check(lib.oprt_destroy_event(self._cdata))
        self.place = None

    def __repr__(self) -> str:
        return f"<Event on {self.place}>" if self.place else "<Event, not recorded>"

    @property
    def cdata(self) -> CData:
        """The event as the C library takes it."""
        if self.place is None:
            raise invalid("the event was closed or never recorded")
        return self._cdata

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of the work that a stream holds now; None is the default stream of the thread's device."""
        place = stream.place if stream is not None else resolve(self.place or choose(None, None))
        if self.place is None:
            self._create(place)
        with selected(place):
            check(lib.oprt_record_event(self.cdata, ffi.NULL if stream is None else stream.cdata))

    def synchronize(self) -> None:
        """Wait on the host for the event.

        Raises
        ------
        RuntimeError
            A kernel broke since the device's last reset; the message is its report.
        """
        if self.place is not None:
            with selected(self.place):
                check(lib.oprt_synchronize_event(self.cdata))

    def query(self) -> bool:
        """Whether the event has passed, without waiting; True before it was ever recorded."""
        if self.place is None:
            return True
        with selected(self.place):
            return _is_done(lib.oprt_query_event(self.cdata))

    def elapsed_ms(self, since: Event) -> float:
        """Milliseconds from another event to this one; both must have passed.

        Raises
        ------
        ValueError, RuntimeError
            An event was never recorded, or has not passed yet.
        """
        time_ms = ffi.new("float *")
        start, stop = since.cdata, self.cdata
        assert self.place is not None
        with selected(self.place):
            check(lib.oprt_elapsed_time(time_ms, start, stop))
        return float(time_ms[0])


def _is_done(status: int) -> bool:
    if status == lib.OPRT_ERR_NOT_READY:
        return False
    check(status)
    return True


class StreamOfCall(NamedTuple):
    """The stream of one call."""

    cdata: CData
    key: int  # the address; for a Stream its serial number, negative; 0 for the default stream
    stream: Stream | int  # what the caller gave, or the address

    @classmethod
    def of(cls, stream: Stream | int) -> StreamOfCall:
        """The stream of an object or an address; the addresses 0 and 1 are the default stream."""
        if isinstance(stream, Stream):
            return cls(stream.cdata, -stream.serial, stream)
        return DEFAULT_STREAM if stream in _DEFAULT_HANDLES else cls(ffi.cast(_STREAM, stream), stream, stream)


DEFAULT_STREAM = StreamOfCall(ffi.NULL, 0, 0)


def stream_of_argument(stream: object, place: Place, operator: str) -> StreamOfCall:
    """The stream of a stream= argument: a Stream, an address, or a stream of torch or CuPy."""
    if isinstance(stream, Stream):
        if stream.place != place:
            raise invalid(f"{operator}: stream is on {stream.place}, the operator on {place}")
        return StreamOfCall.of(stream)
    for attribute in ("cuda_stream", "ptr"):  # torch.cuda.Stream, cupy.cuda.Stream
        stream = getattr(stream, attribute, stream)
    if isinstance(stream, int):
        return StreamOfCall.of(stream)
    kind = type(stream).__name__
    raise wrong_type(f"{operator}: stream is a {kind}, wanted a Stream, an address or a stream of torch or CuPy")


def order(before: Stream | int, after: Stream | int, place: Place) -> None:
    """Let later work of one stream wait for what another one holds now. Streams may be given by address."""
    if isinstance(before, Stream) and before.closed:  # nothing to record an event on: wait here for its work
        with selected(place):
            check(lib.oprt_synchronize_device())
        return
    first, second = StreamOfCall.of(before), StreamOfCall.of(after)
    if first.key == second.key:
        return
    event = ffi.new("oprt_event_t *")
    with selected(place):
        check(lib.oprt_create_event(event))
        try:
            check(lib.oprt_record_event(event[0], first.cdata))
            check(lib.oprt_wait_event(second.cdata, event[0]))
        finally:
            check(lib.oprt_destroy_event(event[0]))
