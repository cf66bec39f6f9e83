"""vector_add: y = a + b."""

from __future__ import annotations

from operator_runtime.arrays import ArrayT
from operator_runtime.calls import Operator
from operator_runtime.prepared import Prepared

__all__ = ["prepare_vector_add", "vector_add", "vector_add_"]

_OPERATOR = Operator("vector_add", inputs=["a", "b"])


def vector_add(
    a: ArrayT,
    b: ArrayT,
    *,
    out: ArrayT | None = None,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Add two arrays element by element.

    Parameters
    ----------
    a, b : arrays
        One dtype of float16, bfloat16, float32 and float64; shapes that broadcast together, up to 8 dimensions.
    out : array, optional
        Where to put the result; of the common shape, not overlapping a or b unless it is the very same view.
    dtype : dtype-like, optional
        What the bits of integer arrays are, such as "bfloat16" for uint16; nothing is converted.
    backend, device, stream : optional
        Where it runs; else where a and b are, else the thread's default.

    Returns
    -------
    array
        out, or a new array in C order of the kind that a is.

    Raises
    ------
    ValueError, TypeError
        Shapes that do not broadcast; a layout, overlap or dtype that is not allowed.

    Notes
    -----
    y[i] = a[i] + b[i]. 16-bit types are added in float32 and rounded once.

    Examples
    --------
    >>> oprt.vector_add(np.array([[1.0], [2.0]]), np.array([10.0, 20.0]))
    array([[11., 21.],
           [12., 22.]])
    """
    result: ArrayT = _OPERATOR.call([a, b], out=out, dtype=dtype, backend=backend, device=device, stream=stream)
    return result


def vector_add_(
    a: ArrayT,
    b: ArrayT,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> ArrayT:
    """Add an array to another one in place.

    Parameters
    ----------
    a : array
        Holds the sum afterwards.
    b : array
        Broadcasts to the shape of a.
    dtype, backend, device, stream : optional
        As for `vector_add`.

    Returns
    -------
    array
        a

    Raises
    ------
    ValueError, TypeError
        As for `vector_add`.

    Examples
    --------
    >>> total = np.ones(3, np.float32)
    >>> oprt.vector_add_(total, np.full(3, 2.0, np.float32))
    array([3., 3., 3.], dtype=float32)
    """
    return vector_add(a, b, out=a, dtype=dtype, backend=backend, device=device, stream=stream)


def prepare_vector_add(
    out: ArrayT,
    a: ArrayT,
    b: ArrayT,
    *,
    dtype: object = None,
    backend: str | None = None,
    device: str | None = None,
    stream: object = None,
) -> Prepared:
    """Prepare `vector_add` for calling it again and again on the same arrays.

    Parameters
    ----------
    out, a, b, dtype, backend, device, stream
        As for `vector_add`.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError, TypeError
        As for `vector_add`.

    Examples
    --------
    >>> a, y = np.array([1.0, 2.0]), np.empty(2)
    >>> with oprt.prepare_vector_add(y, a, a) as prepared:
    ...     prepared.run()
    >>> y
    array([2., 4.])
    """
    return _OPERATOR.prepare(out, [a, b], dtype=dtype, backend=backend, device=device, stream=stream)
