"""relu: y = x where x > 0, else slope * x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operator_runtime.arrays import ArrayT
from operator_runtime.calls import Operator, Parameters
from operator_runtime.prepared import Prepared

__all__ = ["prepare_relu", "relu", "relu_"]


def _c_arguments(parameters: Parameters) -> Sequence[Any]:
    return [float.fromhex(parameters[0])]


_OPERATOR = Operator("relu", inputs=["x"], c_arguments=_c_arguments)


def _parameters(slope: float) -> Parameters:
    return (float(slope).hex(),)  # as text, because as numbers -0.0 equals 0.0 and NaN does not equal itself


def relu(
    x: ArrayT,
    slope: float = 0.0,
    *,
    out: ArrayT | None = None,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Keep what is above 0 and multiply the rest by a slope.

    Parameters
    ----------
    x : array
        float16, bfloat16, float32 or float64; any shape up to 8 dimensions, any strides.
    slope : float
        0 makes the rest +0.0, any other number makes it the leaky form.
    out : array, optional
        Where to put the result; x broadcasts to its shape. Not overlapping x unless it is the very same view.
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
    y[i] = x[i] if x[i] > 0 else slope * x[i]. NaN stays NaN. 16-bit types compute in float32, rounded once.

    Examples
    --------
    >>> oprt.relu(np.array([-2.0, 0.0, 3.0]), slope=0.5)
    array([-1.,  0.,  3.])
    """
    result: ArrayT = _OPERATOR.call(
        [x], _parameters(slope), out=out, dtype=dtype, backend=backend, device=device, stream=stream
    )
    return result


def relu_(
    x: ArrayT,
    slope: float = 0.0,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Apply `relu` in place.

    Parameters
    ----------
    x : array
        Holds the result afterwards.
    slope, dtype, backend, device, stream : optional
        As for `relu`.

    Returns
    -------
    array
        x

    Raises
    ------
    ValueError, TypeError
        As for `relu`.

    Examples
    --------
    >>> oprt.relu_(np.array([-2.0, 3.0]))
    array([0., 3.])
    """
    return relu(x, slope, out=x, dtype=dtype, backend=backend, device=device, stream=stream)


def prepare_relu(
    out: ArrayT,
    x: ArrayT,
    slope: float = 0.0,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> Prepared:
    """Prepare `relu` for calling it again and again on the same arrays.

    Parameters
    ----------
    out, x, slope, dtype, backend, device, stream
        As for `relu`.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError, TypeError
        As for `relu`.

    Examples
    --------
    >>> x, y = np.array([-1.0, 2.0]), np.empty(2)
    >>> with oprt.prepare_relu(y, x) as prepared:
    ...     prepared.run()
    >>> y
    array([0., 2.])
    """
    return _OPERATOR.prepare(out, [x], _parameters(slope), dtype=dtype, backend=backend, device=device, stream=stream)
