"""One array of a call as the C library sees it, whatever library made the array.

Reading arrays into this form is for arrays.py; bringing host memory to the device and back is for staging.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from operator_runtime._native import CData, ffi
from operator_runtime.layout import Shape
from operator_runtime.selection import Place


class Signature:
    """dtype, shape and strides of one operand: all that a descriptor depends on.

    Equal ones are one object, so that looking a descriptor up compares addresses. The exception are those from before
    the table of them was emptied, for which a descriptor is made once more.
    """

    __slots__ = ("code", "shape", "strides")
    _made: ClassVar[dict[tuple[int, Shape, Shape], Signature]] = {}
    _MOST = 4096

    def __init__(self, code: int, shape: Shape, strides: Shape) -> None:
        self.code, self.shape, self.strides = code, shape, strides

    @classmethod
    def of(cls, code: int, shape: Shape, strides: Shape) -> Signature:
        """The signature with these values."""
        values = code, shape, strides
        found = cls._made.get(values)
        if found is None:
            if len(cls._made) >= cls._MOST:
                cls._made.clear()
            found = cls._made.setdefault(values, cls(*values))
        return found


@dataclass(slots=True)
class Operand:
    """An array: where its memory is, and its layout."""

    array: Any  # the object that the caller gave; keeps the memory alive
    library: str  # "numpy", "operator_runtime", "torch", "cupy", ...
    code: int  # dtype
    shape: Shape
    strides: Shape  # in elements
    numpy_dtype: np.dtype[Any]  # in which values come back to the host
    pointer: CData = ffi.NULL  # of element [0, ..., 0] in device memory
    place: Place | None = None  # of device memory
    host: NDArray[Any] | None = None  # host memory, with this dtype, shape and strides
    writable: bool = True
    ready_on: int | None = None  # the stream that last wrote it, where the array's interface tells one
    signature: Signature = field(init=False)

    def __post_init__(self) -> None:
        self.signature = Signature.of(self.code, self.shape, self.strides)
