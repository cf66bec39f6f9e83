"""NumPy arrays in and out: what a user types, for every operator.

Device tensors, strides and values are the records' part; here it is the host side: views, dtypes, outputs, defaults.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.harness.formats import FORMATS, decode, encode
from tests.harness.targets import Target

random = np.random.default_rng


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    terms = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return np.asarray(terms / terms.sum(axis=axis, keepdims=True))


def test_the_readme_call(oprt: Any, target: Target) -> None:
    x = random(1).standard_normal((64, 1000), dtype=np.float32)
    before = x.copy()
    y = oprt.softmax(x, axis=-1, **target.where)
    assert isinstance(y, np.ndarray) and y.dtype == np.float32 and y.shape == x.shape
    np.testing.assert_allclose(y, softmax(x), rtol=2e-6, atol=1e-8)
    np.testing.assert_array_equal(x, before)


def test_every_operator_on_plain_arrays(oprt: Any, target: Target) -> None:
    a, b = random(2).standard_normal((2, 5, 7), dtype=np.float32)
    np.testing.assert_array_equal(oprt.copy(a, **target.where), a)
    np.testing.assert_array_equal(oprt.vector_add(a, b, **target.where), a + b)
    np.testing.assert_array_equal(oprt.relu(a, **target.where), np.maximum(a, 0))
    np.testing.assert_array_equal(oprt.relu(a, slope=0.5, **target.where), np.where(a > 0, a, a / 2))
    np.testing.assert_allclose(oprt.reduce_sum(a, **target.where), a.sum(), rtol=1e-5)
    np.testing.assert_allclose(
        oprt.reduce_sum(a, axis=1, keepdims=True, **target.where), a.sum(axis=1, keepdims=True), rtol=1e-5
    )
    assert oprt.reduce_sum(a, axis=1, keepdims=True, **target.where).shape == (5, 1)
    assert oprt.reduce_sum(a, **target.where).shape == ()


@pytest.mark.parametrize("view", ["transposed", "reversed", "every-second", "broadcast", "fortran", "read-only"])
def test_views_of_arrays(oprt: Any, target: Target, view: str) -> None:
    base = random(3).standard_normal((12, 20), dtype=np.float32)
    x = {
        "transposed": base.T,
        "reversed": base[::-1, ::-1],
        "every-second": base[1::2, ::3],
        "broadcast": np.broadcast_to(base[3], (6, 20)),
        "fortran": np.asfortranarray(base),
        "read-only": base.copy(),
    }[view]
    if view == "read-only":
        x.flags.writeable = False
    np.testing.assert_array_equal(oprt.copy(x, **target.where), x)
    np.testing.assert_array_equal(oprt.relu(x, **target.where), np.maximum(x, 0))
    np.testing.assert_allclose(oprt.softmax(x, axis=0, **target.where), softmax(x, 0), rtol=2e-6, atol=1e-8)
    np.testing.assert_allclose(
        oprt.reduce_sum(x, axis=0, **target.where), x.sum(axis=0, dtype=np.float64), rtol=1e-5, atol=1e-5
    )


def test_output_array_is_used(oprt: Any, target: Target) -> None:
    x = random(4).standard_normal((4, 33), dtype=np.float32)
    out = np.full((4, 33), 7, np.float32)
    result = oprt.relu(x, out=out, **target.where)
    assert result is out
    np.testing.assert_array_equal(out, np.maximum(x, 0))


def test_output_view_leaves_its_neighbours(oprt: Any, target: Target) -> None:
    x = random(5).standard_normal((4, 8), dtype=np.float32)
    whole = np.full((8, 24), 7, np.float32)
    oprt.copy(x, out=whole[1::2, 2::3], **target.where)
    expected = np.full((8, 24), 7, np.float32)
    expected[1::2, 2::3] = x
    np.testing.assert_array_equal(whole, expected)


def test_in_place_names(oprt: Any, target: Target) -> None:
    x = random(6).standard_normal((4, 33), dtype=np.float32)
    y, z, total = x.copy(), x.copy(), x.copy()
    oprt.relu_(y, **target.where)
    oprt.softmax_(z, axis=0, **target.where)
    oprt.vector_add_(total, x, **target.where)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    np.testing.assert_allclose(z, softmax(x, 0), rtol=2e-6, atol=1e-8)
    np.testing.assert_array_equal(total, x + x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_come_back(oprt: Any, target: Target, dtype: str) -> None:
    x = random(7).standard_normal((3, 50)).astype(dtype)
    assert oprt.softmax(x, **target.where).dtype == dtype
    assert oprt.reduce_sum(x, **target.where).dtype == dtype


def test_bfloat16_as_its_bits(oprt: Any, target: Target) -> None:
    bits = encode(random(8).standard_normal((3, 50)), "bfloat16")
    y = oprt.relu(bits, dtype="bfloat16", **target.where)
    assert y.dtype.itemsize == 2
    np.testing.assert_array_equal(decode(y.view(np.uint16), "bfloat16"), np.maximum(decode(bits, "bfloat16"), 0))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "bool", "int16", "int32", "int64", "complex64", "complex128", "datetime64[ns]"]
)
def test_copy_takes_any_element(oprt: Any, target: Target, dtype: str) -> None:
    x = random(9).integers(0, 2, (5, 16), dtype=np.uint8).repeat(np.dtype(dtype).itemsize, axis=1).view(dtype)
    y = oprt.copy(x, **target.where)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0)])
def test_empty_arrays(oprt: Any, target: Target, shape: tuple[int, ...]) -> None:
    x = np.empty(shape, np.float32)
    assert oprt.copy(x, **target.where).shape == shape
    assert oprt.softmax(x, **target.where).shape == shape
    np.testing.assert_array_equal(oprt.reduce_sum(x, axis=-1, **target.where), np.zeros(shape[:-1], np.float32))


def test_scalars(oprt: Any, target: Target) -> None:
    x = np.array(-3.5, np.float32)
    assert oprt.copy(x, **target.where) == x
    assert oprt.vector_add(x, x, **target.where) == -7
    assert oprt.reduce_sum(x, **target.where) == x


def test_broadcasting_of_operands(oprt: Any, target: Target) -> None:
    a, b = random(10).standard_normal((4, 1), dtype=np.float32), random(11).standard_normal((9,), dtype=np.float32)
    np.testing.assert_array_equal(oprt.vector_add(a, b, **target.where), a + b)


def test_tensors_stay_on_the_device(oprt: Any, target: Target) -> None:
    x = random(12).standard_normal((6, 40), dtype=np.float32)
    with oprt.from_numpy(x, **target.where) as device_x:
        assert (device_x.shape, device_x.strides, device_x.ndim, device_x.size, device_x.nbytes) == (
            (6, 40),
            (40, 1),
            2,
            240,
            960,
        )
        assert (device_x.backend, device_x.device.partition(":")[0]) == (
            target.backend,
            target.device.partition(":")[0],
        )
        with oprt.softmax(device_x) as y:
            assert isinstance(y, oprt.Tensor)
            np.testing.assert_allclose(y.numpy(), softmax(x), rtol=2e-6, atol=1e-8)
        np.testing.assert_array_equal(device_x.T.numpy(), x.T)
        np.testing.assert_array_equal(device_x[1:5:2, ::-1].numpy(), x[1:5:2, ::-1])
        with oprt.copy(device_x[1:, ::2].T) as turned:
            np.testing.assert_array_equal(turned.numpy(), x[1:, ::2].T)
        with oprt.softmax(device_x.T, axis=0) as y:
            np.testing.assert_allclose(y.numpy(), softmax(x.T, 0), rtol=2e-6, atol=1e-8)


def test_every_format_has_a_name(oprt: Any, target: Target) -> None:
    for name, item in FORMATS.items():
        with oprt.empty((4, 3), name, **target.where) as tensor:
            assert tensor.nbytes == 12 * item.size_bytes
