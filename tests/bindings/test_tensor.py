"""Tensor: its views are NumPy's views, its memory is freed once, and what leaves the memory is refused."""

from __future__ import annotations

import gc
import itertools
import operator
import warnings
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import Target

INDICES: list[Any] = [
    0,
    -1,
    (1, 2),
    (..., 0),
    (slice(None), 1),
    slice(None, None, -1),
    (slice(3, 0, -2), slice(1, None), None),
    (None, ..., slice(None, None, 3)),
    (slice(2, 2),),
    (slice(None), slice(9, None), 0),
    (1, ..., slice(-2, None)),
    np.int64(2),
    (),
    ...,
]


@pytest.fixture
def values() -> Any:
    return np.arange(60, dtype=np.float32).reshape(4, 3, 5)


@pytest.fixture
def tensor(oprt: Any, target: Target, values: Any) -> Any:
    with oprt.from_numpy(values, **target.where) as made:
        yield made


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(tensor: Any, values: Any, index: Any) -> None:
    view = tensor[index]
    wanted = values[index]
    assert view.shape == wanted.shape
    np.testing.assert_array_equal(view.numpy(), wanted)
    if wanted.size:
        assert [stride * 4 for stride, extent in zip(view.strides, view.shape, strict=True) if extent > 1] == [
            stride for stride, extent in zip(wanted.strides, wanted.shape, strict=True) if extent > 1
        ]


@pytest.mark.parametrize("index", [4, -5, (0, 0, 0, 0), (..., ...), 1.5, "x", [0, 1]], ids=str)
def test_bad_indices(tensor: Any, index: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        tensor[index]


def test_views_of_views(tensor: Any, values: Any) -> None:
    np.testing.assert_array_equal(tensor.T.numpy(), values.T)
    np.testing.assert_array_equal(tensor.transpose(1, 0, -1)[::-1, 1].numpy(), values.transpose(1, 0, -1)[::-1, 1])
    np.testing.assert_array_equal(tensor.transpose([2, 0, 1]).numpy(), values.transpose([2, 0, 1]))
    row = tensor[1, :, 2]
    np.testing.assert_array_equal(row.broadcast_to((2, 3)).numpy(), np.broadcast_to(values[1, :, 2], (2, 3)))
    assert [part.numpy().tolist() for part in tensor[:, 0, 0]] == values[:, 0, 0].tolist()
    assert len(tensor) == 4


def test_a_view_with_wide_gaps_is_gathered_on_the_device(oprt: Any, target: Target) -> None:
    values = np.arange(100_000, dtype=np.float32)
    with oprt.from_numpy(values, **target.where) as x:
        np.testing.assert_array_equal(x[::-9973].numpy(), values[::-9973])
        x[5::20_000].copy_from(np.full(5, -1, np.float32))
        values[5::20_000] = -1
        np.testing.assert_array_equal(x.numpy(), values)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.transpose(0, 0, 1),
        lambda t: t.transpose(0, 1),
        lambda t: t.broadcast_to((5, 3, 5)),
        lambda t: t.broadcast_to((5,)),
        lambda t: t.as_strided((61,), (1,)),
        lambda t: t.as_strided((2,), (1,), offset=59),
        lambda t: t.as_strided((2,), (-1,)),
        lambda t: t.as_strided((31,), (1,), dtype="float64"),
        lambda t: t.as_strided((2, 2), (1,)),
        lambda t: t.as_strided((-1,), (1,)),
        lambda t: t[:, 0].fill_bytes(0),
        lambda t: t.fill_bytes(256),
        lambda t: t.copy_from(np.zeros((4, 3), np.float32)),
    ],
)
def test_refused_views_and_writes(tensor: Any, call: Any) -> None:
    with pytest.raises(ValueError):
        call(tensor)


def test_writing(oprt: Any, tensor: Any, values: Any) -> None:
    tensor[1].fill_bytes(0xFF)
    values[1] = np.nan
    tensor[::-2, 1].copy_from(np.arange(10, dtype=np.float32).reshape(2, 5))
    values[::-2, 1] = np.arange(10).reshape(2, 5)
    tensor[0, 0].copy_from(tensor[2, 2])
    values[0, 0] = values[2, 2]
    np.testing.assert_array_equal(tensor.numpy(), values)
    with pytest.raises(TypeError, match="float64"):
        tensor.copy_from(np.zeros(values.shape))
    with pytest.raises(TypeError, match="numpy"):
        tensor.copy_from([[0.0]])
    with pytest.raises(TypeError, match=r"\.numpy\(\)"):
        np.asarray(tensor)


def test_fill_bytes_writes_the_elements_alone(oprt: Any, target: Target) -> None:
    """Every small layout of three dimensions: one piece is filled; gaps and repeats are refused, nothing is written."""
    extents, strides = itertools.product((1, 2, 3), repeat=3), tuple(itertools.product((-3, 0, 1, 2, 3), repeat=3))
    with oprt.from_numpy(np.zeros(41, np.uint8), **target.where) as memory:
        for shape, steps in itertools.product(extents, strides):
            offsets = [20 + sum(map(operator.mul, index, steps)) for index in np.ndindex(shape)]
            one_piece = sorted(offsets) == list(range(min(offsets), max(offsets) + 1))
            view = memory.as_strided(shape, steps, offset=20)
            if not one_piece:
                with pytest.raises(ValueError, match="not one piece"):
                    view.fill_bytes(1)
                continue
            view.fill_bytes(1)
            assert np.flatnonzero(memory.numpy()).tolist() == sorted(offsets), f"{shape}, {steps}"
            memory.fill_bytes(0)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "complex128", "datetime64[s]", "int16", ">i4"])
def test_dtypes_that_c_does_not_know_come_back(oprt: Any, target: Target, dtype: str) -> None:
    values = np.arange(6).astype(dtype)
    if not values.dtype.isnative:
        with pytest.raises(TypeError, match="byte order"):
            oprt.from_numpy(values, **target.where)
        return
    with oprt.from_numpy(values, **target.where) as x:
        assert x.dtype == f"bits{8 * values.itemsize}"
        back = x[::-1].numpy()
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values[::-1])


def test_bfloat16_goes_there_and_back(oprt: Any, target: Target) -> None:
    bits = np.array([0x3F80, 0xC000, 0x7FC0], np.uint16)
    with oprt.from_numpy(bits, dtype="bfloat16", **target.where) as x, oprt.empty(3, "bfloat16", **target.where) as y:
        assert (x.dtype, y.dtype, y.nbytes) == ("bfloat16", "bfloat16", 6)
        y.copy_from(bits)
        assert y.numpy().view(np.uint16).tolist() == x.numpy().tolist() == bits.tolist()
        positive, negative, nan = oprt.relu(x).numpy().tolist()
        assert (positive, negative, nan & 0x7F80) == (0x3F80, 0, 0x7F80)


@pytest.mark.parametrize("dtype", ["float8", "object", "S3", "O", None, 3, np.dtype(">f4"), np.dtype("i4,i8")])
def test_unknown_dtypes(oprt: Any, target: Target, dtype: Any) -> None:
    with pytest.raises(TypeError, match="float32"):
        oprt.empty(3, dtype, **target.where)


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype(np.float16), "f2", "e"])
def test_ways_to_say_a_dtype(oprt: Any, target: Target, dtype: Any) -> None:
    with oprt.empty((2, 3), dtype, **target.where) as y:
        assert (y.dtype, y.itemsize, y.numpy().dtype) == ("float16", 2, np.float16)


@pytest.mark.parametrize("shape", [(), 0, (0,), (3, 0, 2), (1, 1)], ids=str)
def test_odd_shapes(oprt: Any, target: Target, shape: Any) -> None:
    with oprt.empty(shape, **target.where) as x:
        wanted = np.empty(shape)
        assert (x.shape, x.ndim, x.size) == (wanted.shape, wanted.ndim, wanted.size)
        assert x.numpy().shape == x.T.numpy().T.shape == wanted.shape
        x.fill_bytes(0)
        assert not x.numpy().any()
    with pytest.raises(ValueError, match="negative"):
        oprt.empty((2, -1), **target.where)


def test_closing(oprt: Any, target: Target) -> None:
    x = oprt.from_numpy(np.ones(4, np.float32), **target.where)
    view = x[1:]
    view.close()
    assert not x.closed and view.numpy().tolist() == [1, 1, 1]
    x.close()
    x.close()
    assert view.closed and "closed" in repr(view)
    for use in (view.numpy, lambda: view[0], lambda: view.copy_from(np.ones(3, np.float32)), lambda: oprt.relu(view)):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match="closed"):
        _ = x.data_ptr


def test_a_view_keeps_the_memory(oprt: Any, target: Target) -> None:
    with oprt.from_numpy(np.arange(5, dtype=np.float32), **target.where) as x:
        view = oprt.relu(x)[3:]
        gc.collect()
        assert view.numpy().tolist() == [3, 4]


@pytest.mark.parametrize("make", ["tensor", "stream", "event", "graph", "prepared"])
def test_a_forgotten_owner_is_warned_about_and_released(oprt: Any, selected: Target, make: str) -> None:
    with oprt.empty(3) as x, oprt.empty(3) as y, oprt.Stream() as stream:

        def forget() -> Any:
            if make == "tensor":
                return oprt.empty(3)
            if make == "stream":
                return oprt.Stream()
            if make == "event":
                event = oprt.Event()
                event.record(stream)
                return event
            if make == "graph":
                with oprt.capture(stream) as graph:
                    oprt.copy(x, out=y, stream=stream)
                return graph
            return oprt.prepare_copy(y, x)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            forget()
            gc.collect()
        assert [warning.category for warning in caught] == [ResourceWarning]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            owner = forget()
            with owner:
                pass
            owner.close()
            del owner
            oprt.relu(x)  # a result that nobody could have closed
            gc.collect()


def test_dlpack_gives_a_copy_of_emulated_memory(oprt: Any, tensor: Any, values: Any) -> None:
    if tensor.device != "emulator":
        pytest.skip("the device is a GPU")
    assert tensor.__dlpack_device__() == (1, 0)
    copy = np.from_dlpack(tensor.T[1:])
    np.testing.assert_array_equal(copy, values.T[1:])
    tensor.fill_bytes(0)
    assert copy.any()
    for request in ({"copy": False}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            tensor.__dlpack__(**request)
    assert not hasattr(tensor, "__cuda_array_interface__")
    assert "dltensor_versioned" in repr(tensor.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(tensor.__dlpack__())


def test_dlpack_capsules_are_freed(oprt: Any, tensor: Any) -> None:
    from operator_runtime import dlpack

    if tensor.device != "emulator":
        pytest.skip("the device is a GPU")
    before = len(dlpack._exported)
    taken = np.from_dlpack(tensor)
    dropped = tensor.__dlpack__()
    assert len(dlpack._exported) == before + 2
    del dropped, taken
    gc.collect()
    assert len(dlpack._exported) == before


def test_memory_of_results_comes_back(oprt: Any, target: Target) -> None:
    from operator_runtime.tensor import Memory

    def living() -> int:
        return sum(isinstance(thing, Memory) for thing in gc.get_objects())

    with oprt.empty(1000, **target.where) as x:
        oprt.copy(x)
        before = living()
        for _ in range(5):
            oprt.copy(x)
            oprt.relu(x.numpy(), **target.where)
        assert living() == before
