"""Number formats: how an element type is stored in NumPy, and rounding to it from float64.

bfloat16 is kept as its bits in uint16, so that the tests need no package that knows the type.
What an operator accepts is the operator's affair; here are only facts of the formats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.generic]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Format:
    """One element type. precision counts significand bits with the hidden one; 0 for opaque bits."""

    name: str
    storage: np.dtype
    precision: int = 0
    accumulator: str = ""

    @property
    def size_bytes(self) -> int:
        return self.storage.itemsize

    @property
    def is_floating(self) -> bool:
        return self.precision > 0

    @property
    def roundoff(self) -> float:
        """The largest relative error of one rounding to nearest."""
        return 2.0**-self.precision


FORMATS = {
    item.name: item
    for item in (
        Format("float16", np.dtype(np.float16), 11, "float32"),
        Format("bfloat16", np.dtype(np.uint16), 8, "float32"),
        Format("float32", np.dtype(np.float32), 24, "float32"),
        Format("float64", np.dtype(np.float64), 53, "float64"),
        Format("bits8", np.dtype(np.uint8)),
        Format("bits16", np.dtype(np.uint16)),
        Format("bits32", np.dtype(np.uint32)),
        Format("bits64", np.dtype(np.uint64)),
        Format("bits128", np.dtype("V16")),
    )
}
FLOATING = tuple(name for name, item in FORMATS.items() if item.is_floating)
# The smallest normal float32: what a device that flushes subnormal numbers may lose.
SMALLEST_NORMAL_FLOAT32 = 2.0**-126


def accumulator_roundoff(dtype: str) -> float:
    """Relative error of one rounding in the type that an operator computes in."""
    return FORMATS[FORMATS[dtype].accumulator].roundoff


def encode(values: Values, dtype: str) -> Bits:
    """Round float64 to a floating format, to nearest even; the result has the format's storage type."""
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype != "bfloat16":
            return values.astype(FORMATS[dtype].storage)
        return _encode_bfloat16(values)


def decode(bits: Bits, dtype: str) -> Values:
    """The exact values of elements of a floating format."""
    if dtype != "bfloat16":
        return bits.astype(np.float64)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _encode_bfloat16(values: Values) -> Bits:
    # float64 -> float32 rounded to odd, then -> bfloat16 to nearest even: no double rounding, because 24 >= 8 + 2.
    single = values.astype(np.float32)
    bits = single.view(np.uint32)
    exact = single.astype(np.float64)
    away = np.abs(exact) > np.abs(values)
    bits = np.where(away, bits - np.uint32(1), bits)
    inexact = (exact != values) & ~np.isnan(values)
    bits = np.where(inexact, bits | np.uint32(1), bits).astype(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)
