"""Probes: what they write, what they leave alone, what they refuse, and the time of a bare launch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

# In float32: one access, less than a tile, whole tiles, a last one that is not whole, and so many that grids loop.
ELEMENTS = (4, 4 * 255, 4 * 256 * 8, 4 * 4099, 4 * 600_011)
POISON = 0xAB


@contextmanager
def buffers(oprt: Any, target: Target, elements: int) -> Iterator[tuple[Any, Any, Any]]:
    """A poisoned destination, a source on the device, and the source's values."""
    values = np.random.default_rng(elements).standard_normal(elements, dtype=np.float32)
    with oprt.from_numpy(values, **target.where) as source, oprt.empty(elements, **target.where) as destination:
        destination.fill_bytes(POISON)
        yield destination, source, values


@pytest.mark.parametrize("probe", ["copy", "read_twice"])
@pytest.mark.parametrize("elements", ELEMENTS)
def test_every_variant_copies(oprt: Any, target: Target, probe: str, elements: int) -> None:
    with buffers(oprt, target, elements) as (destination, source, values):
        for variant in range(oprt.probe_variants(probe, **target.where)):
            destination.fill_bytes(POISON)
            oprt.run_probe(probe, variant, destination, source)
            np.testing.assert_array_equal(destination.numpy(), values, err_msg=f"variant {variant}")
        np.testing.assert_array_equal(source.numpy(), values)


@pytest.mark.parametrize("elements", ELEMENTS)
def test_read_leaves_the_destination_alone(oprt: Any, target: Target, elements: int) -> None:
    with buffers(oprt, target, elements) as (destination, source, values):
        for variant in range(oprt.probe_variants("read", **target.where)):
            oprt.run_probe("read", variant, destination, source)
            assert (destination.numpy().view(np.uint8) == POISON).all(), f"variant {variant}"
        np.testing.assert_array_equal(source.numpy(), values)


def test_nothing_beyond_the_end_is_written(oprt: Any, target: Target) -> None:
    with buffers(oprt, target, 4096) as (destination, source, values):
        for variant in range(oprt.probe_variants("copy", **target.where)):
            destination.fill_bytes(POISON)
            oprt.run_probe("copy", variant, destination[:2052], source[:2052])
            found = destination.numpy()
            np.testing.assert_array_equal(found[:2052], values[:2052], err_msg=f"variant {variant}")
            assert (found[2052:].view(np.uint8) == POISON).all(), f"variant {variant}"


def test_empty_runs_and_takes_no_memory(oprt: Any, target: Target) -> None:
    assert oprt.probe_variants("empty", **target.where) == 1
    oprt.run_probe("empty", **target.where)
    oprt.synchronize(**target.where)
    with oprt.empty(4, **target.where) as x, pytest.raises(ValueError, match="takes no destination"):
        oprt.run_probe("empty", 0, x, x)


def test_nothing_is_done_with_no_bytes(oprt: Any, target: Target) -> None:
    with oprt.empty(0, **target.where) as x, oprt.empty(0, **target.where) as y:
        for probe in ("copy", "read", "read_twice"):
            oprt.run_probe(probe, 0, y, x)


def test_probes_run_in_a_graph(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream, buffers(oprt, target, 1024) as (destination, source, values):
        with oprt.capture(stream) as graph:
            oprt.run_probe("empty", stream=stream)
            oprt.run_probe("copy", 0, destination, source, stream=stream)
        stream.synchronize()
        assert (destination.numpy().view(np.uint8) == POISON).all()
        with graph:
            graph.launch()
            stream.synchronize()
        np.testing.assert_array_equal(destination.numpy(), values)


def test_wrong_arguments_are_refused(oprt: Any, target: Target) -> None:
    with buffers(oprt, target, 64) as (y, x, values):
        count = oprt.probe_variants("copy", **target.where)
        refused = [
            ("unknown probe 'write'", ("write", 0, y, x)),
            (f"variant is {count}, wanted 0 to {count - 1}", ("copy", count, y, x)),
            ("variant is -1", ("copy", -1, y, x)),
            ("no probe has", ("copy", 1 << 40, y, x)),
            ("size_bytes is 20, wanted a multiple of 16", ("copy", 0, y[:5], x[:5])),
            (r"source \(.*\) is not aligned to 16 bytes", ("copy", 0, y[:8], x[1:9])),
            (r"destination \(.*\) is not aligned to 16 bytes", ("read", 0, y[1:9], x[:8])),
            ("destination overlaps source", ("copy", 0, x[4:36], x[:32])),
            ("destination overlaps source", ("read", 0, x, x)),
            ("destination has 256 bytes, source 128", ("copy", 0, y, x[:32])),
            ("source has strides", ("copy", 0, y[:32], x[::2])),
        ]
        for message, arguments in refused:
            with pytest.raises(ValueError, match=message):
                oprt.run_probe(*arguments)
        with pytest.raises(TypeError, match="source is in host memory"):
            oprt.run_probe("copy", 0, y, values)
        assert (y.numpy().view(np.uint8) == POISON).all()
        np.testing.assert_array_equal(x.numpy(), values)


def test_bare_launches_are_measured(oprt: Any, target: Target) -> None:
    samples = oprt.measure_launches(samples=5, burst=3, **target.where)
    assert len(samples) == 5
    assert all(0 < sample < 1e6 for sample in samples)
    with oprt.Stream(**target.where) as stream:
        assert len(oprt.measure_launches(1, 1, stream=stream)) == 1
        for samples, burst in ((0, 1), (1, 0), (-1, 1), (1, 1 << 40)):
            with pytest.raises(ValueError, match="measure_launches: samples is"):
                oprt.measure_launches(samples, burst, stream=stream)
        with oprt.capture(stream) as graph, pytest.raises(ValueError, match="does not allow"):
            oprt.measure_launches(1, 1, stream=stream)
        graph.close()


def test_c_refuses_what_python_cannot_pass(oprt: Any, target: Target) -> None:
    from operator_runtime._native import ffi, lib
    from operator_runtime.selection import choose, selected

    with selected(choose(target.backend, target.device)):
        assert lib.oprt_get_probe_variant_count(ffi.new("int32_t *"), 4) == lib.OPRT_ERR_INVALID_ARGUMENT
        assert "unknown probe 4" in ffi.string(lib.oprt_last_error_message()).decode()
        assert lib.oprt_get_probe_variant_count(ffi.NULL, 0) == lib.OPRT_ERR_INVALID_ARGUMENT
        assert lib.oprt_run_probe(1, 0, ffi.NULL, ffi.NULL, 16, ffi.NULL) == lib.OPRT_ERR_INVALID_ARGUMENT
        assert "destination is null with 16 bytes" in ffi.string(lib.oprt_last_error_message()).decode()
        assert lib.oprt_measure_launches(ffi.NULL, 1, 1, ffi.NULL) == lib.OPRT_ERR_INVALID_ARGUMENT
