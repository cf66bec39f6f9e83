"""reduce_sum: y = sum of x over one axis, several or all."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from operator_runtime._native import ffi
from operator_runtime.arrays import ArrayT
from operator_runtime.calls import Operator, Parameters
from operator_runtime.layout import Shape
from operator_runtime.prepared import Prepared

__all__ = ["prepare_reduce_sum", "reduce_sum"]

_ALL_AXES = -1  # as C counts the axes


def _result_shape(shapes: Sequence[Shape], parameters: Parameters) -> Shape:
    """The shape without the summed axes. Axes that do not exist sum nothing here; C refuses them."""
    axes, keepdims = parameters
    (shape,) = shapes
    summed = range(len(shape)) if axes is None else [axis + len(shape) if axis < 0 else axis for axis in axes]
    if keepdims:
        return tuple(1 if axis in summed else extent for axis, extent in enumerate(shape))
    return tuple(extent for axis, extent in enumerate(shape) if axis not in summed)


def _c_arguments(parameters: Parameters) -> Sequence[Any]:
    axes, _ = parameters
    return [ffi.NULL, _ALL_AXES] if axes is None else [ffi.new("int32_t[]", list(axes)), len(axes)]


_OPERATOR = Operator("reduce_sum", inputs=["x"], result_shape=_result_shape, c_arguments=_c_arguments)


def _parameters(axis: int | Sequence[int] | None, keepdims: bool) -> Parameters:
    if axis is None:
        return None, bool(keepdims)
    axes = tuple(map(operator.index, axis)) if isinstance(axis, Sequence) else (operator.index(axis),)
    return axes, bool(keepdims)


def reduce_sum(
    x: ArrayT,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    *,
    out: ArrayT | None = None,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Sum the elements over one axis, several or all.

    Parameters
    ----------
    x : array
        float16, bfloat16, float32 or float64; any shape up to 8 dimensions, any strides.
    axis : int, sequence of int, or None
        Each -ndim to ndim - 1, none twice. None sums over all axes, an empty sequence over none.
    keepdims : bool
        Keep the summed axes with extent 1.
    out : array, optional
        Where to put the result; of the result's shape, with the summed axes removed or kept. Must not overlap x.
    dtype : dtype-like, optional
        What the bits of integer arrays are, such as "bfloat16" for uint16; nothing is converted.
    backend, device, stream : optional
        Where it runs; else where x is, else the thread's default.

    Returns
    -------
    array
        out, or a new array in C order of the kind that x is; of 0 dimensions when nothing is left.

    Raises
    ------
    ValueError, TypeError
        An axis, shape, layout, overlap or dtype that is not allowed.

    Notes
    -----
    y = sum of x. Sums are kept in float32, in float64 for float64, and rounded once. The sum of nothing is 0.

    Examples
    --------
    >>> x = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> oprt.reduce_sum(x, axis=1)
    array([ 3., 12.], dtype=float32)
    >>> oprt.reduce_sum(x)
    array(15., dtype=float32)
    """
    parameters = _parameters(axis, keepdims)
    result: ArrayT = _OPERATOR.call(
        [x], parameters, out=out, dtype=dtype, backend=backend, device=device, stream=stream
    )
    return result


def prepare_reduce_sum(
    out: ArrayT,
    x: ArrayT,
    axis: int | Sequence[int] | None = None,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> Prepared:
    """Prepare `reduce_sum` for calling it again and again on the same arrays.

    Parameters
    ----------
    out, x, axis, dtype, backend, device, stream
        As for `reduce_sum`; out says whether the summed axes are kept.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError, TypeError
        As for `reduce_sum`.

    Examples
    --------
    >>> x, y = np.ones((2, 3)), np.empty(2)
    >>> with oprt.prepare_reduce_sum(y, x, axis=1) as prepared:
    ...     prepared.run()
    >>> y
    array([3., 3.])
    """
    parameters = _parameters(axis, False)
    return _OPERATOR.prepare(out, [x], parameters, dtype=dtype, backend=backend, device=device, stream=stream)
