"""Record of vector_add: y = a + b, elementwise, with NumPy's broadcasting.

The result is exact: 16-bit types add in float32, and rounding that to 16 bits equals one rounding of the exact sum,
because 24 >= 2 p + 2 for p = 11 and p = 8 (and 53 >= 2 * 24 + 2 makes float64 an exact reference for float32).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.harness.comparison import Wanted
from tests.harness.formats import FLOATING, decode
from tests.harness.layout import Layout
from tests.harness.lengths import LENGTHS, ODD_LENGTHS, PAST_GRID_LIMIT
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.refusals import tensor_refusals


def wanted(case: Case, inputs: Mapping[str, Any]) -> Wanted:
    with np.errstate(invalid="ignore", over="ignore"):
        return Wanted(decode(inputs["a"], case.dtype) + decode(inputs["b"], case.dtype))


TRANSPOSED = Layout(order=(1, 0))
GAPS = Layout(steps=(1, 3))
REVERSED = Layout(steps=(-1,))
ODD = {operand: Layout(offset=1) for operand in ("y", "a", "b")}

CASES = [
    *(Case("blocks", 1, (n,), orders=n == 1024) for n in (256, 1024, 4096, 65536)),
    Case("blocks", 1, (64, 256)),
    *(Case("length", 2, (n,)) for n in LENGTHS),
    *(Case("rows", 2, (n, 3), techniques=n < 1000) for n in LENGTHS),
    Case("empty", 2, (0,)),
    Case("empty-columns", 2, (7, 0)),
    Case("scalar", 2, ()),
    Case("specials", 2, (1000,), values="specials"),
    Case("cancelling", 2, (1000,), values="cancelling"),
    Case("offset", 2, (1000,), values="offset"),
    Case("signed-zeros", 2, (1000,), values="signed-zeros"),
    Case("subnormal", 2, (1000,), values="subnormal"),
    Case("long", 2, (1048577,)),
    *(Case("prime", 3, (4099,), dtype, values="spread") for dtype in FLOATING),
    *(Case("specials", 3, (1000,), dtype, values="specials") for dtype in FLOATING if dtype != "float32"),
    *(Case("subnormal", 3, (1000,), dtype, values="subnormal") for dtype in FLOATING if dtype != "float32"),
    *(Case("every-length-offset-1", 4, (-1,), dtype, sweep=ODD_LENGTHS, layouts=ODD) for dtype in FLOATING),
    *(
        Case(
            f"every-length-{operand}-offset-1", 4, (-1,), dtype, sweep=ODD_LENGTHS, layouts={operand: Layout(offset=1)}
        )
        for operand in ("a", "b", "y")
        for dtype in ("float16", "float32")
    ),
    Case("every-length-in-place", 4, (-1,), sweep=ODD_LENGTHS, in_place="a"),
    Case("long-offset-1", 4, (65537,), "bfloat16", layouts=ODD),
    Case("in-place-b", 4, (1000,), in_place="b"),
    Case("in-place-transposed", 4, (37, 41), layouts={"a": TRANSPOSED}, in_place="a"),
    Case("transposed-a", 4, (37, 41), layouts={"a": TRANSPOSED}),
    Case("transposed-b", 4, (37, 41), layouts={"b": TRANSPOSED}),
    Case("transposed-y", 4, (37, 41), layouts={"y": TRANSPOSED}),
    Case("gaps", 4, (37, 41), layouts={"a": GAPS, "b": Layout(steps=(2, 1)), "y": Layout(pitch=5)}),
    Case("pitch-16-bytes", 4, (37, 64), layouts={"a": Layout(pitch=4), "b": Layout(pitch=8), "y": Layout(pitch=12)}),
    Case("reversed-a", 4, (1000,), layouts={"a": REVERSED}),
    Case("reversed-all", 4, (1000,), layouts={"a": REVERSED, "b": REVERSED, "y": REVERSED}),
    Case("repeated-b", 4, (1000,), layouts={"b": Layout(steps=(0,))}),
    Case("broadcast-row", 4, (37, 41), shapes={"b": (41,)}),
    Case("broadcast-row", 4, (64, 256), shapes={"b": (256,)}),
    Case("broadcast-column", 4, (37, 41), shapes={"b": (37, 1)}),
    Case("broadcast-scalar", 4, (37, 41), shapes={"b": ()}),
    Case("broadcast-both", 4, (37, 1), shapes={"b": (41,), "y": (37, 41)}),
    Case("broadcast-middle", 4, (5, 1, 11), "float16", shapes={"b": (7, 1), "y": (5, 7, 11)}),
    Case("broadcast-empty", 4, (0, 1), shapes={"b": (41,), "y": (0, 41)}),
    Case("eight-dims", 4, (2, 3, 1, 2, 3, 2, 1, 4)),
    Case("eight-dims-permuted", 4, (2, 3, 2, 2, 3, 2, 2, 4), layouts={"a": Layout(order=(7, 6, 5, 4, 3, 2, 1, 0))}),
    Case("grid-rows", 4, (PAST_GRID_LIMIT, 3), layouts={"a": Layout(pitch=1)}),
]

REFUSED = [
    *tensor_refusals("vector_add", ("y", "a", "b")),
    Refused(
        "vector_add-refused-shapes",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("vector_add", "b"),
        (View((4, 8)), View((4, 8)), View((4, 7))),
    ),
    Refused(
        "vector_add-refused-rank",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("vector_add", "a"),
        (View((8,)), View((4, 8)), View((8,))),
    ),
    Refused(
        "vector_add-refused-output",
        "OPRT_ERR_INVALID_ARGUMENT",
        ("vector_add",),
        (View((1, 8)), View((4, 8)), View((4, 8))),
    ),
    Refused(
        "vector_add-refused-dtype-pair",
        "OPRT_ERR_UNSUPPORTED_DTYPE",
        ("vector_add", "float16"),
        (View((8,)), View((8,)), View((8,), "float16")),
    ),
]

RECORD = OperatorRecord(
    name="vector_add",
    inputs=("a", "b"),
    cases=CASES,
    refused=REFUSED,
    wanted=wanted,
    output_shape=lambda case: case.shape,
    descriptor_arguments=lambda ffi, parameters: (),
    valid_views=(View((4, 64)),) * 3,
    valid_parameters={},
    numpy_call=lambda a, b, out: np.add(a, b, out=out),
)
