"""Element types: the C library's numbers and names, and the dtypes of NumPy and other libraries that they stand for.

bfloat16 is recognised by its name; ml_dtypes, which gives it to NumPy, is never imported.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, NamedTuple

import numpy as np

from operator_runtime._native import ffi, lib
from operator_runtime.errors import OperatorTypeError, Status, check


def _size_bytes(code: int) -> int:
    size = ffi.new("size_t *")
    check(lib.oprt_dtype_size(size, code))
    return int(size[0])


_CODES = sorted(ffi.typeof("oprt_dtype_t").elements)
NAMES: dict[int, str] = {code: ffi.string(lib.oprt_dtype_name(code)).decode() for code in _CODES}
SIZES_BYTES: dict[int, int] = {code: _size_bytes(code) for code in _CODES}
BFLOAT16 = lib.OPRT_DTYPE_BFLOAT16
_BY_NAME: dict[str, int] = {name: code for code, name in NAMES.items()}
# An opaque type for every size that has one: what copy takes for dtypes that C has no name for.
_OPAQUE: dict[int, int] = {SIZES_BYTES[code]: code for code, name in NAMES.items() if name.startswith("bits")}


class Element(NamedTuple):
    """An element type: C's number, and the NumPy dtype in which values come back to the host."""

    code: int
    numpy: np.dtype[Any]


def is_opaque(code: int) -> bool:
    """Whether only the size of the element is known."""
    return _OPAQUE.get(SIZES_BYTES[code]) == code


def numpy_dtype(code: int) -> np.dtype[Any]:
    """The NumPy dtype of a code. bfloat16 is ml_dtypes' if the program has imported that, else uint16 with its bits."""
    if code == BFLOAT16:
        ml_dtypes = sys.modules.get("ml_dtypes")
        return np.dtype(ml_dtypes.bfloat16 if ml_dtypes else np.uint16)
    if is_opaque(code):
        size = SIZES_BYTES[code]
        return np.dtype(f"u{size}" if size <= 8 else f"V{size}")
    return np.dtype(NAMES[code])


def code_of(name: str, size_bytes: int) -> int:
    """The code of a dtype of any library, by its name, else by its size; -1 when C has neither."""
    code = _BY_NAME.get(name)
    if code is not None and SIZES_BYTES[code] == size_bytes:
        return code
    return _OPAQUE.get(size_bytes, -1)


@functools.lru_cache(maxsize=256)
def element_of(dtype: np.dtype[Any]) -> Element | None:
    """The element type of a NumPy dtype; None without a counterpart (objects, odd sizes, the other byte order)."""
    code = -1 if dtype.hasobject or not dtype.isnative else code_of(dtype.name, dtype.itemsize)
    return None if code < 0 else Element(code, dtype)


def parse(dtype: object) -> Element:
    """The element type of a dtype= argument: a name, a NumPy dtype or class, or another library's dtype."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    if name is None:
        name = str(dtype).rpartition(".")[2]  # torch.float32
    element: Element | None = None
    if name in _BY_NAME and not isinstance(dtype, np.dtype):
        element = Element(_BY_NAME[name], numpy_dtype(_BY_NAME[name]))
    else:
        with contextlib.suppress(TypeError):  # NumPy's way to say that it does not know the name
            element = element_of(dtype if isinstance(dtype, np.dtype) else np.dtype(name))
    if element is None:
        raise OperatorTypeError(
            f"unknown dtype {dtype!r}; known: {', '.join(_BY_NAME)}, and NumPy's native ones of 1, 2, 4, 8 or 16 bytes",
            Status.UNSUPPORTED_DTYPE,
        )
    return element
