"""Probes: kernels that show what a device can do, to compare operators with."""

from __future__ import annotations

import math
from typing import Any

from operator_runtime import arrays, dtypes, graph, layout
from operator_runtime._native import CData, ffi, lib
from operator_runtime.calls import note_use, place_of_call, stream_of_call
from operator_runtime.errors import check, invalid, wrong_type
from operator_runtime.operand import Operand
from operator_runtime.selection import Place, choose, resolve, selected
from operator_runtime.stream import DEFAULT_STREAM, Stream, StreamOfCall, stream_of_argument

_PROBES: dict[str, int] = {
    name.removeprefix("OPRT_PROBE_").lower(): value
    for value, name in sorted(ffi.typeof("oprt_probe_t").elements.items())
}


def _probe(name: str) -> int:
    if name not in _PROBES:
        raise invalid(f"unknown probe {name!r}; known: {', '.join(_PROBES)}")
    return _PROBES[name]


def probe_variants(name: str, *, backend: str | None = None, device: str | None = None) -> int:
    """How many variants a probe has, all of them right; which is fastest depends on the device and the size.

    Parameters
    ----------
    name : str
        "empty", "copy", "read" or "read_twice".
    backend, device : str, optional
        Where; the thread's default if not given.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        An unknown probe.
    RuntimeError
        The module is not built, or the device is not there.

    Examples
    --------
    >>> oprt.probe_variants("copy") > 1
    True
    """
    count, probe = ffi.new("int32_t *"), _probe(name)
    with selected(resolve(choose(backend, device))):
        check(lib.oprt_get_probe_variant_count(count, probe))
    return int(count[0])


def run_probe(
    name: str,
    variant: int = 0,
    destination: Any = None,
    source: Any = None,
    *,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> None:
    """Queue a probe: an empty launch, a copy, a read, or two reads and a write of the same bytes.

    Parameters
    ----------
    name : str
        "empty"; "copy": destination = source; "read": all of source is read and nothing written; "read_twice": source
        is read, then, in a second kernel, copied.
    variant : int
        0 to `probe_variants(name)` - 1.
    destination, source : Tensor or array of another library in device memory
        Contiguous, of the same number of bytes, a multiple of 16. "empty" takes none.
    backend, device, stream : optional
        Where it runs; else where source is, else the thread's default.

    Raises
    ------
    ValueError, TypeError
        An unknown probe or variant, host memory, another layout, size or alignment.

    Examples
    --------
    >>> with oprt.from_numpy(np.arange(8, dtype=np.float32)) as x, oprt.empty(8) as y:
    ...     oprt.run_probe("copy", 0, y, x)
    ...     y.numpy()
    array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    probe = _probe(name)
    if probe == lib.OPRT_PROBE_EMPTY:
        if destination is not None or source is not None:
            raise invalid(f'run_probe: the probe "{name}" takes no destination and no source')
        place = resolve(choose(backend, device, stream.place if isinstance(stream, Stream) else None))
        queue = DEFAULT_STREAM if stream is None else stream_of_argument(stream, place, "run_probe")
        _run(probe, variant, ffi.NULL, ffi.NULL, 0, place, queue)
        return
    operands = [_read(destination, "destination"), _read(source, "source")]
    sizes = [math.prod(operand.shape) * dtypes.SIZES_BYTES[operand.code] for operand in operands]
    if sizes[0] != sizes[1]:
        raise invalid(f"run_probe: destination has {sizes[0]} bytes, source {sizes[1]}; wanted the same number")
    if not operands[0].writable:
        raise invalid("run_probe: destination is read-only")
    place = place_of_call(operands, backend, device, stream)
    queue = stream_of_call("run_probe", operands, place, stream)
    _run(probe, variant, operands[0].pointer, operands[1].pointer, sizes[0], place, queue)
    note_use([destination, source], queue)


def _read(array: Any, argument: str) -> Operand:
    operand = arrays.read(array, "run_probe", argument)
    if operand.host is not None:
        raise wrong_type(f"run_probe: {argument} is in host memory; move it with from_numpy()")
    if not layout.is_contiguous(operand.shape, operand.strides):
        raise invalid(f"run_probe: {argument} has strides {operand.strides}, wanted one contiguous piece of memory")
    return operand


def _run(
    probe: int, variant: int, destination: CData, source: CData, size_bytes: int, place: Place, queue: StreamOfCall
) -> None:
    try:
        with selected(place):
            check(lib.oprt_run_probe(probe, variant, destination, source, size_bytes, queue.cdata))
    except OverflowError as error:
        raise invalid(f"run_probe: variant is {variant}, which no probe has") from error


def measure_launches(
    samples: int = 32,
    burst: int = 64,
    *,
    backend: str | None = None,
    device: str | None = None,
    stream: Stream | None = None,
) -> list[float]:
    """What the host pays for one bare launch of an empty kernel, measured in C++.

    Parameters
    ----------
    samples : int
        How many measurements, 1 or more.
    burst : int
        Launches a sample, 1 or more, on an idle stream; the time is divided by it. A device queues about a thousand
        before it makes the host wait.
    backend, device, stream : optional
        Where; the thread's default, and its default stream, if not given.

    Returns
    -------
    list of float
        Microseconds a launch, one number a sample.

    Raises
    ------
    ValueError
        A count below 1, or the call is inside `capture`.

    Examples
    --------
    >>> len(oprt.measure_launches(samples=3, burst=2))
    3
    """
    if graph.current.graph is not None:
        raise invalid("measure_launches: it waits for its stream, which a graph that is being captured does not allow")
    if samples < 1:
        raise invalid(f"measure_launches: samples is {samples}, wanted 1 or more")
    place = resolve(choose(backend, device, None if stream is None else stream.place))
    queue = DEFAULT_STREAM if stream is None else stream_of_argument(stream, place, "measure_launches")
    try:
        samples_us = ffi.new("double[]", samples)
        with selected(place):
            check(lib.oprt_measure_launches(samples_us, samples, burst, queue.cdata))
    except OverflowError as error:
        raise invalid(f"measure_launches: samples is {samples} and burst {burst}, which is too many") from error
    return [float(samples_us[i]) for i in range(samples)]
