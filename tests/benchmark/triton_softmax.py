"""Softmax in Triton as its tutorials teach it: one program a row, the row in registers, padded to a power of two.

A peer for the benchmark, imported only where Triton is. Annotations are real objects here: Triton reads them.
"""

from typing import Any

import triton
import triton.language as tl

MAX_COLUMNS = 1 << 16  # 128 registers a thread at 16 warps; longer rows spill


@triton.jit
def _softmax_row(y, x, columns, block: tl.constexpr):  # type: ignore[no-untyped-def]
    start = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, block)
    inside = column < columns
    values = tl.load(x + start + column, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    quotient = powers / tl.sum(powers, axis=0)
    tl.store(y + start + column, quotient.to(y.dtype.element_ty), mask=inside)


def softmax(x: Any, out: Any) -> None:
    """Softmax over the last axis of a dense torch tensor with two dimensions."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    warps = 4 if block < 2048 else 8 if block < 4096 else 16
    _softmax_row[(rows,)](out, x, columns, block=block, num_warps=warps)
