"""Host arrays as operands: they reach C as they lie in memory, aliases too, and only elements are written back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.harness.targets import Target


@pytest.fixture
def base() -> Any:
    return np.arange(1, 4001, dtype=np.float32)


VIEWS = {
    "plain": lambda base: base[:60].reshape(6, 10),
    "transposed": lambda base: base[:60].reshape(10, 6).T,
    "reversed": lambda base: base[59::-1].reshape(6, 10)[::-1, ::-1],
    "steps": lambda base: base[3:183:3].reshape(6, 10),
    "sparse": lambda base: as_strided(base[7:], (6, 10), (4 * 600, 4 * 60)),
    "sparse reversed": lambda base: as_strided(base[7:], (6, 10), (4 * 600, 4 * 60))[::-1, ::-1],
    "odd start": lambda base: base[1:61].reshape(6, 10),
}


@pytest.mark.parametrize("out_view", VIEWS)
@pytest.mark.parametrize("x_view", VIEWS)
def test_any_layout(oprt: Any, target: Target, base: Any, x_view: str, out_view: str) -> None:
    x, before = VIEWS[x_view](base), base.copy()
    memory = np.full(4000, -1, np.float32)
    out = VIEWS[out_view](memory)
    assert oprt.vector_add(x, x, out=out, **target.where) is out
    np.testing.assert_array_equal(out, x + x)
    np.testing.assert_array_equal(base, before)
    out[...] = -1
    assert (memory == -1).all()


@pytest.mark.parametrize("view", VIEWS)
def test_in_place(oprt: Any, target: Target, base: Any, view: str) -> None:
    base -= 2000
    x = VIEWS[view](base)
    wanted = base.copy()
    VIEWS[view](wanted)[...] = np.maximum(x, 0)
    assert oprt.relu_(x, **target.where) is x
    np.testing.assert_array_equal(base, wanted)


@pytest.mark.parametrize(
    ("make_x", "make_out"),
    [
        (lambda b: b[:50], lambda b: b[1:51]),
        (lambda b: b[:50], lambda b: b[49::-1]),
        (lambda b: b[0:100:2], lambda b: b[1:101:2]),
        (lambda b: b[0:4000:400], lambda b: b[1:4000:400]),
        (lambda b: b[:10], lambda b: as_strided(b[100:], (10,), (0,))),
        (lambda b: b[:4].reshape(2, 2), lambda b: as_strided(b[100:], (2, 2), (4, 4))),
        (lambda b: b[:4].reshape(2, 2), lambda b: as_strided(b[100:], (2, 2), (8000, 8000))),
    ],
    ids=["shifted", "reversed", "interleaved", "sparse interleaved", "repeated", "overlapping", "sparse overlapping"],
)
def test_overlaps_are_refused_as_on_the_device(
    oprt: Any, target: Target, base: Any, make_x: Any, make_out: Any
) -> None:
    before = base.copy()
    with pytest.raises(ValueError, match="overlap"):
        oprt.copy(make_x(base), out=make_out(base), **target.where)
    np.testing.assert_array_equal(base, before)


def test_inputs_may_overlap(oprt: Any, target: Target, base: Any) -> None:
    np.testing.assert_array_equal(oprt.vector_add(base[:50], base[49::-1], **target.where), np.full(50, 51))
    np.testing.assert_array_equal(oprt.vector_add(base[:50], base[20:70], **target.where), base[:50] + base[20:70])


def test_broadcast_inputs(oprt: Any, target: Target, base: Any) -> None:
    row = np.broadcast_to(base[:5], (1000, 5))
    np.testing.assert_array_equal(oprt.copy(row, **target.where), row)
    np.testing.assert_array_equal(oprt.reduce_sum(row, axis=0, **target.where), 1000 * base[:5])


def test_what_numpy_can_hold_and_c_cannot(oprt: Any, target: Target) -> None:
    packed = np.zeros(5, dtype=[("a", "u1"), ("b", "<f4")])
    refused = {
        "aligned": packed["b"],
        "byte order": np.zeros(3, ">f4"),
        "objects": np.array([1, 2], object),
        "12 bytes": np.zeros(3, "V12"),
        "masked": np.ma.masked_array([1.0, 2.0], [True, False]),
        "int32": np.zeros(3, np.int32),
    }
    for piece, array in refused.items():
        with pytest.raises((ValueError, TypeError), match=piece) as caught:
            oprt.relu(array, **target.where)
        assert isinstance(caught.value, oprt.OperatorRuntimeError)
        assert str(caught.value).startswith("relu: ")


def test_out_is_for_c_to_judge(oprt: Any, target: Target) -> None:
    x = np.ones((2, 3), np.float32)
    for out, kind in ((np.empty((3, 2), np.float32), ValueError), (np.empty((2, 3)), TypeError)):
        with pytest.raises(kind, match="softmax"):
            oprt.softmax(x, out=out, **target.where)
    with pytest.raises(ValueError, match="9"):
        oprt.copy(x.reshape((1,) * 7 + (2, 3)), **target.where)
    with pytest.raises(ValueError, match="range"):
        oprt.softmax(x, axis=2**40, **target.where)


def test_host_and_device_arrays_do_not_mix(oprt: Any, target: Target) -> None:
    x = np.ones(3, np.float32)
    with oprt.from_numpy(x, **target.where) as there:
        with pytest.raises(TypeError, match="a is in device memory, b is in host memory"):
            oprt.vector_add(there, x)
        with pytest.raises(TypeError, match="out is in device memory"):
            oprt.relu(x, out=there)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # numpy.matrix
def test_subclasses_and_scalars(oprt: Any, target: Target) -> None:
    result = oprt.relu(np.float32(-3), **target.where)
    assert (result.shape, result.dtype, float(result)) == ((), np.float32, 0.0)
    assert type(oprt.relu(np.matrix([[1.0]]), **target.where)) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        oprt.relu_(np.float32(-3), **target.where)


def test_dtype_says_what_bits_are(oprt: Any, target: Target) -> None:
    ones = np.full(4, 0x3C00, np.uint16)
    assert oprt.vector_add(ones, ones, dtype="float16", **target.where).tolist() == [0x4000] * 4
    out = np.empty(4, np.float16)
    assert oprt.vector_add(ones, ones, out=out, dtype="float16", **target.where).tolist() == [2.0] * 4
    for wrong in ("float32", "bfloat16"):
        with pytest.raises(TypeError, match="not converted"):
            oprt.relu(np.ones(4, np.float16), dtype=wrong, **target.where)


def test_prepared_arrays_of_any_layout(oprt: Any, target: Target, base: Any) -> None:
    for view in VIEWS.values():
        x, memory = view(base), np.full(4000, -1, np.float32)
        out = view(memory)
        with oprt.prepare_vector_add(out, x, x, **target.where) as prepared:
            for _ in range(2):
                prepared.run()
                np.testing.assert_array_equal(out, x + x)
                x += 1
        out[...] = -1
        assert (memory == -1).all()
