"""Arithmetic on shapes and strides. Strides count elements and may be negative or 0, as in the C API.

Whether a layout is allowed is for the C library to say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

Shape = tuple[int, ...]


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Strides of an array of that shape in C order."""
    return _contiguous_strides(tuple(shape))


@functools.lru_cache(maxsize=1024)
def _contiguous_strides(shape: Shape) -> Shape:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def element_span(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Offsets of the lowest element and one past the highest, from element [0, ..., 0]; (0, 0) when there is none."""
    if 0 in shape:
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(reach for reach in reaches if reach < 0), 1 + sum(reach for reach in reaches if reach > 0)


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether it is the plain array of its elements in C order."""
    if 0 in shape:
        return True
    wanted = contiguous_strides(shape)
    return all(extent == 1 or have == want for extent, have, want in zip(shape, strides, wanted, strict=True))


def is_one_piece(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill their span, each once, in whatever order."""
    if 0 in shape:
        return True
    step = 1
    for stride, extent in sorted((abs(stride), extent) for extent, stride in zip(shape, strides, strict=True)):
        if extent > 1:
            if stride != step:
                return False
            step *= extent
    return True


def is_sparse(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the span is so much larger than the elements that copying the elements one by one is cheaper."""
    low, high = element_span(shape, strides)
    return high - low > 4 * math.prod(shape) + 1024


def broadcast_shape(*shapes: Shape) -> Shape:
    """The common shape of several, as in NumPy; where extents do not fit the larger one, for C to refuse."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    return tuple(0 if 0 in extents and max(extents) <= 1 else max(extents) for extents in zip(*padded, strict=True))
