"""Where the elements of an operand lie: strides of every kind, made from a short description.

Strides count elements, as in the public API. Allocating and guarding the memory is memory.py's part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """How an operand lies in memory; the default is row-major without gaps.

    order: dimensions from the outermost to the innermost in memory; () is row-major.
    steps: per dimension, the distance of neighbours in units of the packed distance; () is all 1.
        2 leaves gaps, -1 reverses, 0 repeats.
    pitch: elements left unused after each run of the innermost dimension.
    offset: elements between a 256-byte boundary and the lowest element.
    """

    order: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    pitch: int = 0
    offset: int = 0

    def strides(self, shape: Shape) -> Shape:
        """Strides in elements for a shape."""
        strides = [0] * len(shape)
        running = 1
        for position, dim in enumerate(reversed(self.order or range(len(shape)))):
            step = self.steps[dim] if self.steps else 1
            strides[dim] = step * running
            running *= max(shape[dim], 1) * abs(step) if step else 1
            if position == 0:
                running += self.pitch
        return tuple(strides)

    @property
    def is_plain(self) -> bool:
        """Row-major, no gaps; only the base address may be odd."""
        return not self.order and not self.pitch and all(step == 1 for step in self.steps)


PLAIN = Layout()


def extent(shape: Shape, strides: Shape) -> tuple[int, int]:
    """The lowest and the highest element offset of a view, from its element [0, ..., 0]; (0, -1) when empty."""
    if math.prod(shape) == 0:
        return 0, -1
    spans = [stride * (size - 1) for size, stride in zip(shape, strides, strict=True)]
    return sum(span for span in spans if span < 0), sum(span for span in spans if span > 0)
