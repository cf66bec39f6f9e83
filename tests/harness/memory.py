"""Operands in guarded device memory: a poisoned byte buffer, and a view of it that the operator gets.

The buffer has a guard band on both sides of the view and keeps a copy of itself on the host, so that after a call
every byte can be told: an element of the view, a gap between elements, a guard.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.harness.formats import FORMATS, Bits
from tests.harness.layout import Layout, Shape, extent

GUARD_BYTES = 512
ALIGNMENT_BYTES = 256
# Outputs start as this byte in every place. As a number of any format it is negative and tiny: no result by chance.
SENTINEL = 0x91
# What lies around inputs: NaN in every floating format, so that a value read from outside shows in the result.
NEIGHBOURS = 0xFF


@dataclass
class Operand:
    """One operand of a case, on the host. Call send() to make its device memory and receive() to read that back."""

    name: str
    dtype: str
    shape: Shape
    strides: Shape
    first: int  # byte offset of element [0, ..., 0] in image
    image: NDArray[np.uint8]

    @classmethod
    def blank(cls, name: str, dtype: str, shape: Shape, layout: Layout, fill: int) -> Operand:
        """An operand whose every byte, guards included, is fill."""
        size_bytes = FORMATS[dtype].size_bytes
        strides = layout.strides(shape)
        lowest, highest = extent(shape, strides)
        lead = max(GUARD_BYTES, ALIGNMENT_BYTES) + layout.offset * size_bytes
        total = lead + (highest - lowest + 1) * size_bytes + GUARD_BYTES
        total += -total % 16  # a whole number of elements of every format
        image = np.full(total, fill, dtype=np.uint8)
        return cls(name, dtype, shape, strides, lead - lowest * size_bytes, image)

    @classmethod
    def bare(cls, name: str, dtype: str, shape: Shape) -> Operand:
        """A contiguous output without guards, for send_nothing."""
        size_bytes = FORMATS[dtype].size_bytes * math.prod(shape)
        return cls(name, dtype, shape, Layout().strides(shape), 0, np.zeros(size_bytes + -size_bytes % 16, np.uint8))

    def elements(self) -> Bits:
        """The view's elements in the image: writable, of the format's storage type."""
        return self.view_of(self.image)

    def view_of(self, image: NDArray[np.uint8]) -> Bits:
        """The view's elements in another image of the same buffer."""
        storage = FORMATS[self.dtype].storage
        strides = tuple(stride * storage.itemsize for stride in self.strides)
        return np.ndarray(self.shape, storage, image.data, self.first, strides)

    def send(self, oprt: Any, where: dict[str, Any]) -> tuple[Any, Any]:
        """The device buffer and the view of it."""
        buffer = oprt.empty((self.image.size,), "uint8", **where)
        buffer.copy_from(self.image)
        return buffer, self._view_on_device(buffer)

    def send_nothing(self, oprt: Any, where: dict[str, Any]) -> tuple[Any, Any]:
        """The same with elements that nobody wrote, for tools that look for reads of such memory."""
        buffer = oprt.empty((self.image.size,), "uint8", **where)
        size_bytes = FORMATS[self.dtype].size_bytes * math.prod(self.shape)
        if size_bytes < self.image.size:
            buffer[size_bytes:].copy_from(self.image[size_bytes:])
        return buffer, self._view_on_device(buffer)

    def _view_on_device(self, buffer: Any) -> Any:
        offset = self.first // FORMATS[self.dtype].size_bytes
        return buffer.as_strided(self.shape, self.strides, offset, dtype=self.dtype)

    def stray_bytes(self, image: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Positions in a buffer read back from the device that are no element and yet changed."""
        changed = image != self.image
        mine = np.zeros(image.size, dtype=np.uint8)
        size_bytes = FORMATS[self.dtype].size_bytes
        strides = tuple(stride * size_bytes for stride in self.strides)
        np.ndarray((*self.shape, size_bytes), np.uint8, mine.data, self.first, (*strides, 1))[...] = 1
        return np.flatnonzero(changed & (mine == 0))

    def describe_place(self, position: int) -> str:
        """Where a byte of the buffer lies, in words."""
        size_bytes = FORMATS[self.dtype].size_bytes
        lowest, highest = extent(self.shape, self.strides)
        start = self.first + lowest * size_bytes
        end = self.first + (highest + 1) * size_bytes
        if position < start:
            return f"{start - position} bytes before the first element of {self.name}"
        if position >= end:
            return f"{position - end} bytes after the last element of {self.name}"
        return f"in a gap between elements of {self.name}, {position - start} bytes after its lowest element"
