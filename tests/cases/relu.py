"""Record of relu: y = x where x > 0, else slope * x; with slope 0 everything not above 0 is +0.0 and NaN stays.

With slope 0 the result is exact. With another slope the product is rounded once in float32 (float64 for float64), after
the slope itself was rounded to that type: one more relative error of that type's roundoff.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.harness.comparison import Wanted
from tests.harness.formats import FLOATING, accumulator_roundoff, decode
from tests.harness.layout import Layout
from tests.harness.lengths import LENGTHS, ODD_LENGTHS, PAST_GRID_LIMIT
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.refusals import tensor_refusals


def wanted(case: Case, inputs: Mapping[str, Any]) -> Wanted:
    x = decode(inputs["x"], case.dtype)
    slope = float(case.parameters.get("slope", 0.0))
    if slope == 0.0:
        return Wanted(np.where(np.isnan(x) | (x > 0), x, 0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        y = np.where(x > 0, x, slope * x)
    # A slope that float16 holds needs no rounding in any accumulator.
    if case.dtype == "float64" or not math.isfinite(slope) or float(np.float16(slope)) == slope:
        return Wanted(y)
    return Wanted(y, np.where(np.isfinite(y), np.abs(y), 0.0) * accumulator_roundoff(case.dtype))


TRANSPOSED = Layout(order=(1, 0))
ODD = {"x": Layout(offset=1), "y": Layout(offset=1)}
SLOPES = {
    "quarter": 0.25,
    "hundredth": 0.01,
    "negative": -1.5,
    "infinite": math.inf,
    "negative-infinite": -math.inf,
    "nan": math.nan,
}

CASES = [
    *(Case("blocks", 1, (n,), orders=n == 1024) for n in (256, 1024, 4096, 65536)),
    Case("blocks", 1, (64, 256)),
    *(Case("length", 2, (n,)) for n in LENGTHS),
    *(Case("rows", 2, (n, 3)) for n in LENGTHS),
    Case("empty", 2, (0,)),
    Case("empty-columns", 2, (7, 0)),
    Case("scalar", 2, ()),
    Case("specials", 2, (1000,), values="specials"),
    Case("signed-zeros", 2, (1000,), values="signed-zeros"),
    Case("subnormal", 2, (1000,), values="subnormal"),
    Case("slope-minus-zero", 2, (1000,), values="specials", parameters={"slope": -0.0}),
    *(
        Case(f"slope-{name}", 2, (1000,), values="specials", parameters={"slope": slope})
        for name, slope in SLOPES.items()
    ),
    Case("long", 2, (1048577,)),
    *(Case("prime", 3, (4099,), dtype, values="spread") for dtype in FLOATING),
    *(Case("specials", 3, (1000,), dtype, values="specials") for dtype in FLOATING if dtype != "float32"),
    *(Case("subnormal", 3, (1000,), dtype, values="subnormal") for dtype in FLOATING if dtype != "float32"),
    *(
        Case(f"slope-{name}", 3, (1000,), dtype, values="specials", parameters={"slope": SLOPES[name]})
        for dtype in FLOATING
        if dtype != "float32"
        for name in SLOPES
    ),
    *(Case("every-length-offset-1", 4, (-1,), dtype, sweep=ODD_LENGTHS, layouts=ODD) for dtype in FLOATING),
    *(
        Case(
            f"every-length-{operand}-offset-1", 4, (-1,), dtype, sweep=ODD_LENGTHS, layouts={operand: Layout(offset=1)}
        )
        for operand in ("x", "y")
        for dtype in ("float16", "float32")
    ),
    Case("every-length-in-place", 4, (-1,), sweep=ODD_LENGTHS, in_place="x"),
    Case("long-offset-1", 4, (65537,), "bfloat16", layouts=ODD),
    Case("in-place-slope", 4, (1000,), parameters={"slope": 0.25}, in_place="x"),
    Case("in-place-transposed", 4, (37, 41), layouts={"x": TRANSPOSED}, in_place="x"),
    Case("in-place-gaps", 4, (37, 41), layouts={"x": Layout(steps=(1, 3))}, in_place="x"),
    Case("transposed-x", 4, (37, 41), layouts={"x": TRANSPOSED}),
    Case("transposed-y", 4, (37, 41), layouts={"y": TRANSPOSED}),
    Case("gaps", 4, (37, 41), layouts={"x": Layout(steps=(1, 3)), "y": Layout(pitch=5)}),
    Case("pitch-16-bytes", 4, (37, 64), layouts={"x": Layout(pitch=4), "y": Layout(pitch=8)}),
    Case("reversed-x", 4, (1000,), layouts={"x": Layout(steps=(-1,))}),
    Case("reversed-y", 4, (1000,), layouts={"y": Layout(steps=(-1,))}),
    Case("repeated", 4, (1000,), layouts={"x": Layout(steps=(0,))}),
    Case("broadcast-row", 4, (41,), shapes={"y": (37, 41)}),
    Case("broadcast-column", 4, (37, 1), "float16", shapes={"y": (37, 41)}),
    Case("broadcast-scalar", 4, (), shapes={"y": (37, 41)}),
    Case("eight-dims", 4, (2, 3, 1, 2, 3, 2, 1, 4)),
    Case("eight-dims-permuted", 4, (2, 3, 2, 2, 3, 2, 2, 4), layouts={"x": Layout(order=(7, 6, 5, 4, 3, 2, 1, 0))}),
    Case("grid-rows", 4, (PAST_GRID_LIMIT, 3), layouts={"x": Layout(pitch=1)}),
]

REFUSED = [
    *tensor_refusals("relu", ("y", "x"), slope=0.0),
    Refused(
        "relu-refused-shapes", "OPRT_ERR_INVALID_ARGUMENT", ("relu", "x"), (View((4, 8)), View((4, 7))), {"slope": 0.0}
    ),
    Refused(
        "relu-refused-output", "OPRT_ERR_INVALID_ARGUMENT", ("relu",), (View((1, 8)), View((4, 8))), {"slope": 0.0}
    ),
    Refused(
        "relu-refused-dtype-pair",
        "OPRT_ERR_UNSUPPORTED_DTYPE",
        ("relu", "float16"),
        (View((8,)), View((8,), "float16")),
        {"slope": 0.0},
    ),
]

RECORD = OperatorRecord(
    name="relu",
    inputs=("x",),
    cases=CASES,
    refused=REFUSED,
    wanted=wanted,
    output_shape=lambda case: case.shape,
    descriptor_arguments=lambda ffi, parameters: (parameters.get("slope", 0.0),),
    valid_views=(View((4, 64)), View((4, 64))),
    valid_parameters={"slope": 0.0},
    numpy_call=lambda x, out: np.maximum(x, 0, out=out),
)
