"""softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) along one axis."""

from __future__ import annotations

import operator

from operator_runtime.arrays import ArrayT
from operator_runtime.calls import Operator
from operator_runtime.prepared import Prepared

__all__ = ["prepare_softmax", "softmax", "softmax_"]

_OPERATOR = Operator("softmax", inputs=["x"])


def softmax(
    x: ArrayT,
    axis: int = -1,
    *,
    out: ArrayT | None = None,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Turn the values along an axis into numbers from 0 to 1 that add up to 1.

    Parameters
    ----------
    x : array
        float16, bfloat16, float32 or float64; any shape of 1 to 8 dimensions, any strides.
    axis : int
        -ndim to ndim - 1.
    out : array, optional
        Where to put the result; of the shape and dtype of x, not overlapping x unless it is the very same view.
    dtype : dtype-like, optional
        What the bits of integer arrays are, such as "bfloat16" for uint16; nothing is converted.
    backend, device, stream : optional
        Where it runs; else where x is, else the thread's default.

    Returns
    -------
    array
        out, or a new array in C order of the kind that x is.

    Raises
    ------
    ValueError, TypeError
        An axis, shape, layout, overlap or dtype that is not allowed.

    Notes
    -----
    y = exp(x - max(x)) / sum(exp(x - max(x))). Sums are kept in float32, in float64 for float64, and rounded once.
    A row with NaN or +inf, or only -inf, is all NaN.

    Examples
    --------
    >>> oprt.softmax(np.array([[0.0, 0.0], [-np.inf, 1.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    parameters = (operator.index(axis),)
    result: ArrayT = _OPERATOR.call(
        [x], parameters, out=out, dtype=dtype, backend=backend, device=device, stream=stream
    )
    return result


def softmax_(
    x: ArrayT,
    axis: int = -1,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Apply `softmax` in place.

    Parameters
    ----------
    x : array
        Holds the result afterwards.
    axis, dtype, backend, device, stream : optional
        As for `softmax`.

    Returns
    -------
    array
        x

    Raises
    ------
    ValueError, TypeError
        As for `softmax`.

    Examples
    --------
    >>> oprt.softmax_(np.zeros(4, np.float32))
    array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return softmax(x, axis, out=x, dtype=dtype, backend=backend, device=device, stream=stream)


def prepare_softmax(
    out: ArrayT,
    x: ArrayT,
    axis: int = -1,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> Prepared:
    """Prepare `softmax` for calling it again and again on the same arrays.

    Parameters
    ----------
    out, x, axis, dtype, backend, device, stream
        As for `softmax`.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError, TypeError
        As for `softmax`.

    Examples
    --------
    >>> x, y = np.zeros((2, 2)), np.empty((2, 2))
    >>> with oprt.prepare_softmax(y, x) as prepared:
    ...     prepared.run()
    >>> y
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    parameters = (operator.index(axis),)
    return _OPERATOR.prepare(out, [x], parameters, dtype=dtype, backend=backend, device=device, stream=stream)
