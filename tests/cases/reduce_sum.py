"""Record of reduce_sum: y = sum of x over one axis, several or all; an empty sum is 0.

The public header gives the bound that is checked here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.harness.comparison import Wanted
from tests.harness.formats import FLOATING, FORMATS, accumulator_roundoff, decode
from tests.harness.layout import Layout, Shape
from tests.harness.lengths import LENGTHS, LONG_LENGTHS, ODD_LENGTHS, PAST_GRID_LIMIT
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.refusals import tensor_refusals


def wanted(case: Case, inputs: Mapping[str, Any]) -> Wanted:
    """The sum in float64, and the bound of the header: (ceil(log2(n)) + 16) u sum(|x|) for n terms.

    u is the accumulator's roundoff. For float64 the reference rounds too (pairwise, within the same bound): twice the
    allowance. The sum of zeros may have either sign.
    """
    x = decode(inputs["x"], case.dtype)
    axis = case.parameters.get("axis")
    keepdims = case.parameters.get("keepdims", False)
    with np.errstate(invalid="ignore", over="ignore"):
        y = np.sum(x, axis=axis, keepdims=keepdims)
        magnitude = np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    terms = x.size // y.size if y.size and x.size else 0
    if terms == 0:
        return Wanted(np.asarray(y))
    roundings = math.ceil(math.log2(terms)) + 16
    reference = 2 if FORMATS[case.dtype].accumulator == "float64" else 1
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    return Wanted(np.asarray(y), reference * roundings * accumulator_roundoff(case.dtype) * finite + 2.0**-1074)


def output_shape(case: Case) -> Shape:
    axis, keepdims = case.parameters.get("axis"), case.parameters.get("keepdims", False)
    return tuple(np.sum(np.broadcast_to(np.float32(0), case.shape), axis=axis, keepdims=keepdims).shape)


def descriptor_arguments(ffi: Any, parameters: Any) -> tuple[Any, ...]:
    """axis as in Python: None for all, one, or a tuple. axis_count is given only to be wrong."""
    axis = parameters.get("axis")
    if axis is None:
        return ffi.NULL, -1
    axes = [axis] if isinstance(axis, int) else list(axis)
    return ffi.new("int32_t[]", axes), parameters.get("axis_count", len(axes))


LAST = {"axis": -1}
FIRST = {"axis": 0}
TRANSPOSED = Layout(order=(1, 0))

CASES = [
    Case("blocks", 1, (1, 256), parameters=LAST, orders=True),
    Case("blocks", 1, (4, 1024), parameters=LAST, orders=True),
    Case("blocks", 1, (64, 256), parameters=LAST),
    Case("blocks", 1, (8, 4096), parameters=LAST, orders=True),
    *(Case("columns", 2, (3, n), parameters=LAST, orders=n in (33, 257, 2047)) for n in LENGTHS),
    *(Case("rows", 2, (n, 5), parameters=LAST, techniques=n < 3000) for n in LENGTHS),
    *(
        Case("long", 2, (2 if n < 10**6 else 1, n), parameters=LAST, techniques=n < 10**6)
        for n in LONG_LENGTHS
        if n not in LENGTHS
    ),
    Case("long-whole", 2, (1, 32768), parameters=LAST),
    Case("all", 2, (1000,)),
    Case("all", 2, (37, 41)),
    Case("all", 2, (1048577,), values="spread", techniques=False),
    Case("scalar", 2, ()),
    Case("empty", 2, (0,)),
    Case("empty-columns", 2, (7, 0), parameters=LAST),
    Case("empty-rows", 2, (0, 7), parameters=LAST),
    Case("cancelling", 2, (3, 1000), values="cancelling", parameters=LAST),
    Case("cancelling", 2, (1, 65537), values="cancelling", parameters=LAST),
    # Allowed here by the header: 18 roundings of 2e8, so that anything from -213 to 215 is right.
    Case("large-small-large", 2, (1, 3), values="large-small-large", parameters=LAST),
    # Short enough for one plain running sum a thread of a block.
    Case("large-then-small", 2, (4, 999), values="large-then-small", parameters=LAST),
    Case("offset", 2, (3, 1000), values="offset", parameters=LAST),
    Case("spread", 2, (3, 1000), values="spread", parameters=LAST),
    Case("subnormal", 2, (3, 1000), values="subnormal", parameters=LAST),
    Case("signed-zeros", 2, (3, 100), values="signed-zeros", parameters=LAST),
    *(
        Case(f"nan-{place}", 2, (4, n), values=f"nan-{place}", parameters=LAST)
        for place in ("first", "middle", "last")
        for n in (257, 2048)
    ),
    *(
        Case("infinities-of-both-signs", 2, (8, n), values="infinities-of-both-signs", parameters=LAST)
        for n in (3, 257, 2048)
    ),
    *(
        Case("columns", 3, (3, n), dtype, values="spread", parameters=LAST)
        for dtype in FLOATING
        if dtype != "float32"
        for n in (1, 33, 256, 1025, 4099)
    ),
    Case("large-small-large", 3, (4, 999), "float64", values="large-small-large", parameters=LAST),
    *(
        Case("ones-and-halves", 3, (3, 8192), dtype, values="ones-and-halves", parameters=LAST)
        for dtype in ("float16", "bfloat16")
    ),
    *(
        Case("cancelling", 3, (3, 1000), dtype, values="cancelling", parameters=LAST)
        for dtype in FLOATING
        if dtype != "float32"
    ),
    Case("overflow", 3, (3, 1000), "float16", values="offset", parameters=LAST),
    Case("long", 3, (1, 131073), "float16", parameters=LAST),
    Case("long", 3, (1, 65537), "float64", parameters=LAST),
    *(
        Case(
            "every-length-offset-1",
            4,
            (3, -1),
            dtype,
            parameters=LAST,
            sweep=ODD_LENGTHS,
            layouts={"x": Layout(offset=1), "y": Layout(offset=1)},
        )
        for dtype in FLOATING
    ),
    Case("every-length-all", 4, (-1,), "float16", sweep=ODD_LENGTHS, layouts={"x": Layout(offset=1)}),
    Case("long-offset-1", 4, (2, 65537), "bfloat16", parameters=LAST, layouts={"x": Layout(offset=1)}),
    *(Case("axis-0", 4, (n, 3), parameters=FIRST) for n in LENGTHS),
    Case("axis-0", 4, (5, 65537), parameters=FIRST),
    Case("axis-0", 4, (33, 257), parameters=FIRST, orders=True),
    Case("axis-0", 4, (33, 257), "float16", parameters=FIRST),
    Case("axis-0", 4, (1000, 1), parameters=FIRST),
    Case("axis-0-nan-middle", 4, (2048, 4), values="nan-middle", parameters=FIRST),
    Case("axis-1-of-three", 4, (5, 129, 7), parameters={"axis": 1}),
    Case("axis-minus-2-of-three", 4, (5, 129, 7), parameters={"axis": -2}),
    Case("axes-0-2", 4, (5, 33, 70), parameters={"axis": (0, 2)}),
    Case("axes-2-0", 4, (5, 33, 70), parameters={"axis": (2, 0)}),
    Case("axes-0-1", 4, (33, 70, 5), parameters={"axis": (0, 1)}),
    Case("axes-minus-1-1", 4, (5, 33, 7, 11), parameters={"axis": (-1, 1)}),
    Case("axes-all-named", 4, (5, 33, 7), parameters={"axis": (0, 1, 2)}),
    Case("axes-none", 4, (5, 33), parameters={"axis": ()}),
    Case("keepdims", 4, (5, 33), parameters={"axis": 0, "keepdims": True}),
    Case("keepdims-last", 4, (5, 33), parameters={"axis": -1, "keepdims": True}),
    Case("keepdims-all", 4, (5, 33), parameters={"keepdims": True}),
    Case("keepdims-axes", 4, (5, 33, 7), "float64", parameters={"axis": (0, 2), "keepdims": True}),
    Case("empty-axis-0", 4, (0, 7), parameters=FIRST),
    Case("empty-axes", 4, (5, 0, 7), parameters={"axis": (1, 2)}),
    Case("empty-output", 4, (5, 0, 7), parameters={"axis": 0}),
    Case("transposed-x", 4, (37, 41), parameters=LAST, layouts={"x": TRANSPOSED}),
    Case("transposed-axis-0", 4, (257, 37), parameters=FIRST, layouts={"x": TRANSPOSED}),
    Case("transposed-all", 4, (37, 41), layouts={"x": TRANSPOSED}),
    Case("transposed-y", 4, (5, 129, 7), parameters={"axis": 1}, layouts={"y": TRANSPOSED}),
    Case("gaps", 4, (5, 257), parameters=LAST, layouts={"x": Layout(steps=(1, 3)), "y": Layout(steps=(2,))}),
    Case("pitch", 4, (5, 257), parameters=LAST, layouts={"x": Layout(pitch=7)}),
    Case("pitch-16-bytes", 4, (5, 256), parameters=LAST, layouts={"x": Layout(pitch=4)}),
    Case("pitch-all", 4, (5, 257), layouts={"x": Layout(pitch=7)}),
    Case("reversed", 4, (5, 257), parameters=LAST, layouts={"x": Layout(steps=(-1, -1)), "y": Layout(steps=(-1,))}),
    Case("repeated-columns", 4, (5, 257), parameters=LAST, layouts={"x": Layout(steps=(1, 0))}),
    Case("repeated-rows", 4, (5, 257), parameters=FIRST, layouts={"x": Layout(steps=(0, 1))}),
    Case("eight-dims", 4, (2, 3, 1, 2, 3, 2, 1, 40), parameters=LAST),
    Case("eight-dims-axes", 4, (2, 3, 2, 2, 3, 2, 2, 4), parameters={"axis": (0, 2, 4, 6)}),
    Case(
        "eight-dims-permuted",
        4,
        (2, 3, 2, 2, 3, 2, 2, 4),
        parameters={"axis": (1, 3, 5)},
        layouts={"x": Layout(order=(7, 6, 5, 4, 3, 2, 1, 0))},
    ),
    Case("grid-rows", 4, (PAST_GRID_LIMIT, 2), parameters=LAST, layouts={"x": Layout(pitch=1)}),
]

MATRIX, ROW = View((4, 8)), View((8,))
SCALAR = View(())
REFUSED = [
    *tensor_refusals("reduce_sum", ("y", "x"), axis=()),
    Refused(
        "reduce_sum-refused-axis-2",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "axis", "2", "-2"),
        (ROW, MATRIX),
        {"axis": 2},
    ),
    Refused(
        "reduce_sum-refused-axis-minus-3",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "axis", "-3"),
        (ROW, MATRIX),
        {"axis": -3},
    ),
    Refused(
        "reduce_sum-refused-axis-twice",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "twice"),
        (ROW, MATRIX),
        {"axis": (0, -2)},
    ),
    Refused(
        "reduce_sum-refused-axis-count",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "axis_count"),
        (ROW, MATRIX),
        {"axis": 0, "axis_count": -2},
    ),
    Refused(
        "reduce_sum-refused-scalar-axis",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "axis"),
        (SCALAR, SCALAR),
        {"axis": 0},
    ),
    Refused(
        "reduce_sum-refused-output-shape",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "y"),
        (View((4,)), MATRIX),
        {"axis": 0},
    ),
    Refused(
        "reduce_sum-refused-output-rank",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("reduce_sum", "y"),
        (View((1, 1, 8)), MATRIX),
        {"axis": 0},
    ),
    Refused(
        "reduce_sum-refused-dtype-pair",
        "OPRT_ERR_UNSUPPORTED_DTYPE",
        ("reduce_sum", "float64"),
        (View((8,), "float64"), MATRIX),
        {"axis": 0},
    ),
]

RECORD = OperatorRecord(
    name="reduce_sum",
    inputs=("x",),
    cases=CASES,
    refused=REFUSED,
    wanted=wanted,
    output_shape=output_shape,
    descriptor_arguments=descriptor_arguments,
    valid_views=(View((64,)), View((4, 64))),
    valid_parameters={"axis": 0},
    numpy_call=lambda x, out, axis=None: np.sum(x, axis=axis, out=out),
)
