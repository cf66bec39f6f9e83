"""copy: y = x, bit for bit."""

from __future__ import annotations

from operator_runtime.arrays import ArrayT
from operator_runtime.calls import Operator
from operator_runtime.prepared import Prepared

__all__ = ["copy", "prepare_copy"]

_OPERATOR = Operator("copy", inputs=["x"])


def copy(
    x: ArrayT,
    *,
    out: ArrayT | None = None,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Copy an array bit for bit.

    Parameters
    ----------
    x : array
        Any shape up to 8 dimensions, any strides (reversed and broadcast ones too), elements of 1, 2, 4, 8 or 16 bytes.
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
        A shape, layout, overlap or dtype that is not allowed.

    Notes
    -----
    y[i] = x[i]. NaN keeps its bits.

    Examples
    --------
    >>> oprt.copy(np.arange(4, dtype=np.int16)[::-1])
    array([3, 2, 1, 0], dtype=int16)
    """
    result: ArrayT = _OPERATOR.call([x], out=out, dtype=dtype, backend=backend, device=device, stream=stream)
    return result


def prepare_copy(
    out: ArrayT,
    x: ArrayT,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> Prepared:
    """Prepare `copy` for calling it again and again on the same arrays.

    Parameters
    ----------
    out, x, dtype, backend, device, stream
        As for `copy`.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError, TypeError
        As for `copy`.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0]), np.empty(2)
    >>> with oprt.prepare_copy(y, x) as prepared:
    ...     prepared.run()
    >>> y
    array([1., 2.])
    """
    return _OPERATOR.prepare(out, [x], dtype=dtype, backend=backend, device=device, stream=stream)
