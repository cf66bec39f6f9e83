"""Record of softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) along one axis.

Rows with NaN or +inf and rows of only -inf are NaN throughout; -inf beside finite values gives exactly 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.harness.comparison import Wanted
from tests.harness.formats import FLOATING, FORMATS, accumulator_roundoff, decode
from tests.harness.layout import Layout
from tests.harness.lengths import LENGTHS, LONG_LENGTHS, ODD_LENGTHS, PAST_GRID_LIMIT
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.refusals import tensor_refusals


def wanted(case: Case, inputs: Mapping[str, Any]) -> Wanted:
    """The formula in float64, and what one accumulator of the dtype may lose.

    With d = max - x, u the accumulator's roundoff and n terms, relative to y:
      (6 + 3 d) u       exp of one element: the vendors' fast exp is good to 2 + 1.173 d ulp (an ulp is at most 2 u),
                        and rounding x - max turns into d u;
      (6 + 3 D) u       the same in the sum, D being the mean of d weighted by y;
      (log2(n) + 16) u  the additions of the sum, of which every term is positive;
      2 u               the division.
    Results below the smallest normal number of the accumulator may be flushed to 0. -inf gives 0 without allowance.
    """
    x = decode(inputs["x"], case.dtype)
    axis = case.parameters.get("axis", -1)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        distance = np.max(x, axis=axis, keepdims=True, initial=-np.inf) - x
        terms = np.exp(-distance)
        y = terms / np.sum(terms, axis=axis, keepdims=True)
    finite_distance = np.where(np.isfinite(distance), distance, 0.0)
    mean_distance = np.sum(np.where(np.isfinite(y), y, 0.0) * finite_distance, axis=axis, keepdims=True)
    columns = max(x.shape[axis], 1)
    roundings = 6 + 3 * finite_distance + 6 + 3 * mean_distance + math.ceil(math.log2(columns)) + 16 + 2
    lost_to_flush = 2.0**-126 if FORMATS[case.dtype].accumulator == "float32" else 2.0**-1022
    allowed = np.where(np.isfinite(y), y, 0.0) * roundings * accumulator_roundoff(case.dtype) + lost_to_flush
    return Wanted(y, np.where(np.isneginf(x), 0.0, allowed))


def numpy_softmax(x: Any, out: Any, axis: int = -1) -> None:
    np.subtract(x, x.max(axis=axis, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=axis, keepdims=True)


TRANSPOSED = Layout(order=(1, 0))
AXIS_0 = {"axis": 0}
ODD = {"x": Layout(offset=1), "y": Layout(offset=1)}
INFINITIES = ("lanes", "warps", "first-half", "second-half", "but-first", "but-last", "rows")

CASES = [
    Case("blocks", 1, (1, 256), orders=True),
    Case("blocks", 1, (4, 1024), orders=True),
    Case("blocks", 1, (64, 256)),
    Case("blocks", 1, (8, 4096), values="ascending", orders=True),
    Case("blocks-offset", 1, (4, 1024), values="offset"),
    *(Case("columns", 2, (3, n), orders=n in (33, 257, 2047)) for n in LENGTHS),
    *(Case("rows", 2, (n, 5), techniques=n < 3000) for n in LENGTHS),
    *(
        Case("long", 2, (2 if n < 10**6 else 1, n), values="normal", techniques=n < 10**6)
        for n in LONG_LENGTHS
        if n not in LENGTHS
    ),
    Case("long-ascending", 2, (1, 65537), values="ascending"),
    # Rows for clusters of blocks, which a GPU takes when there are enough of them.
    Case("wide-rows", 2, (70, 32776)),
    Case("wide", 2, (1, 32768)),
    Case("wide", 2, (2, 131072)),
    Case("wide", 2, (1, 1048576)),
    Case("one-dim", 2, (1000,)),
    Case("three-dims", 2, (3, 5, 100)),
    Case("empty-rows", 2, (0, 7)),
    Case("empty-columns", 2, (7, 0)),
    *(Case("offset", 2, (3, n), values="offset") for n in (100, 1000)),
    Case("negative-offset", 2, (3, 1000), values="negative-offset"),
    Case("ascending", 2, (3, 1000), values="ascending"),
    Case("spread", 2, (3, 1000), values="spread"),
    Case("near-tie", 2, (3, 2), values="near-tie"),
    Case("near-tie", 2, (3, 1000), values="near-tie"),
    Case("subnormal", 2, (3, 1000), values="subnormal"),
    *(
        Case(f"minus-infinity-{place}", 2, (4, n), values=f"minus-infinity-{place}")
        for place in INFINITIES
        for n in (257, 2048, 4099)
    ),
    Case("minus-infinity-but-last", 2, (1, 131073), values="minus-infinity-but-last"),
    Case("minus-infinity-but-last", 2, (3, 2), values="minus-infinity-but-last"),
    Case("plus-infinity", 2, (4, 2), values="plus-infinity"),
    *(Case("plus-infinity", 2, (4, n), values="plus-infinity") for n in (257, 2048)),
    *(
        Case(f"nan-{place}", 2, (4, n), values=f"nan-{place}")
        for place in ("first", "middle", "last")
        for n in (257, 2048)
    ),
    Case("nan-last", 2, (1, 65537), values="nan-last"),
    Case("specials", 2, (64, 100), values="specials"),
    *(
        Case("columns", 3, (3, n), dtype, values="spread")
        for dtype in FLOATING
        if dtype != "float32"
        for n in (1, 33, 256, 1025, 4099)
    ),
    *(
        Case("minus-infinity-warps", 3, (4, 2048), dtype, values="minus-infinity-warps")
        for dtype in FLOATING
        if dtype != "float32"
    ),
    *(Case("specials", 3, (64, 100), dtype, values="specials") for dtype in FLOATING if dtype != "float32"),
    Case("offset", 3, (3, 1000), "float16", values="offset"),
    *(Case("wide-rows", 3, (70, 65544), dtype) for dtype in ("float16", "bfloat16")),
    *(Case("wide", 3, (2, 32768), dtype, orders=True) for dtype in ("float16", "bfloat16")),
    Case("long", 3, (1, 131073), "float16"),
    Case("long", 3, (1, 65537), "float64"),
    *(Case("every-length-offset-1", 4, (3, -1), dtype, sweep=ODD_LENGTHS, layouts=ODD) for dtype in FLOATING),
    Case("every-length-x-offset-1", 4, (3, -1), "float16", sweep=ODD_LENGTHS, layouts={"x": Layout(offset=1)}),
    Case("every-length-y-offset-1", 4, (3, -1), sweep=ODD_LENGTHS, layouts={"y": Layout(offset=1)}),
    Case("every-length-in-place", 4, (3, -1), sweep=ODD_LENGTHS, in_place="x"),
    Case("offset-1", 4, (3, 4096), "bfloat16", layouts=ODD),
    Case("wide-rows-offset-1", 4, (70, 65541), "float16", layouts=ODD),
    *(Case("axis-0", 4, (n, 3), parameters=AXIS_0) for n in LENGTHS),
    Case("axis-0", 4, (5, 65537), parameters=AXIS_0),
    Case("axis-0", 4, (33, 257), parameters=AXIS_0, orders=True),
    Case("axis-0", 4, (33, 257), "float16", parameters=AXIS_0),
    Case("axis-0-minus-infinity-lanes", 4, (2048, 4), values="minus-infinity-lanes", parameters=AXIS_0),
    Case("axis-1-of-three", 4, (5, 129, 7), parameters={"axis": 1}),
    Case("axis-minus-2-of-three", 4, (5, 129, 7), parameters={"axis": -2}),
    Case("axis-minus-3-of-three", 4, (65, 3, 7), parameters={"axis": -3}),
    Case("in-place", 4, (3, 1000), in_place="x"),
    Case("in-place", 4, (2, 65537), in_place="x"),
    Case("in-place-axis-0", 4, (100, 7), parameters=AXIS_0, in_place="x"),
    Case("in-place-transposed", 4, (37, 41), layouts={"x": TRANSPOSED}, in_place="x"),
    Case("transposed-x", 4, (37, 41), layouts={"x": TRANSPOSED}),
    Case("transposed-y", 4, (37, 41), layouts={"y": TRANSPOSED}),
    Case("transposed-both", 4, (37, 257), layouts={"x": TRANSPOSED, "y": TRANSPOSED}),
    Case("transposed-axis-0", 4, (257, 37), parameters=AXIS_0, layouts={"x": TRANSPOSED}),
    Case("gaps", 4, (5, 257), layouts={"x": Layout(steps=(1, 3)), "y": Layout(steps=(1, 2))}),
    Case("pitch", 4, (5, 257), layouts={"x": Layout(pitch=7), "y": Layout(pitch=9)}),
    Case("pitch-16-bytes", 4, (5, 256), layouts={"x": Layout(pitch=4), "y": Layout(pitch=8)}),
    Case("reversed", 4, (5, 257), layouts={"x": Layout(steps=(1, -1)), "y": Layout(steps=(-1, 1))}),
    Case("repeated-rows", 4, (5, 257), layouts={"x": Layout(steps=(0, 1))}),
    Case("repeated-columns", 4, (5, 257), layouts={"x": Layout(steps=(1, 0))}),
    Case("eight-dims", 4, (2, 3, 1, 2, 3, 2, 1, 40)),
    Case("eight-dims-axis-3", 4, (2, 3, 1, 40, 3, 2, 1, 4), parameters={"axis": 3}),
    Case("eight-dims-permuted", 4, (2, 3, 2, 2, 3, 2, 2, 4), layouts={"x": Layout(order=(7, 6, 5, 4, 3, 2, 1, 0))}),
    Case("grid-rows", 4, (PAST_GRID_LIMIT, 2), layouts={"x": Layout(pitch=1)}),
]

MATRICES = (View((4, 8)), View((4, 8)))
REFUSED = [
    *tensor_refusals("softmax", ("y", "x"), axis=-1),
    Refused(
        "softmax-refused-axis-2", "OPRT_ERR_INVALID_ARGUMENT", ("softmax", "axis", "2", "-2"), MATRICES, {"axis": 2}
    ),
    Refused(
        "softmax-refused-axis-minus-3",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("softmax", "axis", "-3", "1"),
        MATRICES,
        {"axis": -3},
    ),
    Refused(
        "softmax-refused-scalar", "OPRT_ERR_INVALID_ARGUMENT", ("softmax", "axis"), (View(()), View(())), {"axis": 0}
    ),
    Refused(
        "softmax-refused-shapes",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("softmax", "shape"),
        (View((4, 8)), View((4, 7))),
        {"axis": -1},
    ),
    Refused(
        "softmax-refused-dtype-pair",
        "OPRT_ERR_UNSUPPORTED_DTYPE",
        ("softmax", "float16"),
        (View((8,)), View((8,), "float16")),
        {"axis": -1},
    ),
]

RECORD = OperatorRecord(
    name="softmax",
    inputs=("x",),
    cases=CASES,
    refused=REFUSED,
    wanted=wanted,
    output_shape=lambda case: case.shape,
    descriptor_arguments=lambda ffi, parameters: (parameters.get("axis", -1),),
    valid_views=(View((4, 64)), View((4, 64))),
    valid_parameters={"axis": -1},
    numpy_call=numpy_softmax,
)
