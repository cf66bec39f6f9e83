"""One array of a call as the C library sees it, whatever library made the array.

Reading arrays into this form is for arrays.py; bringing host memory to the device and back is for staging.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operator_runtime._native import CData, ffi
from operator_runtime.layout import Shape
from operator_runtime.selection import Place


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
    signature: tuple[int, Shape, Shape] = field(init=False)  # all that a descriptor depends on

    def __post_init__(self) -> None:
        self.signature = self.code, self.shape, self.strides
