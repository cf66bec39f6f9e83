"""Record of copy: y = x, bit for bit, between tensors of any strides.

Every dtype is taken, opaque ones of 1 to 16 bytes included. Nothing is computed, so bits are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.harness.comparison import Wanted
from tests.harness.formats import FORMATS
from tests.harness.layout import Layout
from tests.harness.lengths import LENGTHS, ODD_LENGTHS
from tests.harness.record import Case, OperatorRecord, Refused, View
from tests.harness.refusals import tensor_refusals


def wanted(case: Case, inputs: Mapping[str, Any]) -> Wanted:
    return Wanted(inputs["x"], bitwise=True)


TRANSPOSED = Layout(order=(1, 0))
GAPS = Layout(steps=(1, 3))

CASES = [
    *(Case("blocks", 1, (n,), values="bits", orders=n == 1024) for n in (256, 1024, 4096, 65536)),
    Case("blocks", 1, (64, 256), values="bits"),
    *(Case("length", 2, (n,), values="bits") for n in LENGTHS),
    *(Case("rows", 2, (n, 3), values="bits", techniques=n < 1000) for n in LENGTHS),
    Case("empty", 2, (0,), values="bits"),
    Case("empty-rows", 2, (0, 7), values="bits"),
    Case("empty-columns", 2, (7, 0), values="bits"),
    Case("scalar", 2, (), values="bits"),
    Case("subnormal", 2, (1000,), values="subnormal"),
    Case("specials", 2, (1000,), values="specials"),
    Case("long", 2, (1048577,), values="bits"),
    *(
        Case("prime", 3, (4099,), dtype, values="bits", orders=dtype == "bits8")
        for dtype in FORMATS
        if dtype != "float32"
    ),
    *(Case("gaps", 3, (37, 41), dtype, values="bits", layouts={"x": GAPS}) for dtype in FORMATS if dtype != "float32"),
    *(
        Case(
            "every-length-offset-1",
            4,
            (-1,),
            dtype,
            values="bits",
            sweep=ODD_LENGTHS,
            layouts={"x": Layout(offset=1), "y": Layout(offset=1)},
        )
        for dtype in FORMATS
    ),
    Case(
        "every-length-x-offset-1",
        4,
        (-1,),
        "float16",
        values="bits",
        sweep=ODD_LENGTHS,
        layouts={"x": Layout(offset=1)},
    ),
    Case(
        "every-length-y-offset-1",
        4,
        (-1,),
        "float32",
        values="bits",
        sweep=ODD_LENGTHS,
        layouts={"y": Layout(offset=1)},
    ),
    Case(
        "every-length-y-offset-3", 4, (-1,), "bits8", values="bits", sweep=ODD_LENGTHS, layouts={"y": Layout(offset=3)}
    ),
    Case("every-length-in-place", 4, (-1,), values="bits", sweep=ODD_LENGTHS, in_place="x"),
    Case(
        "long-offset-1", 4, (65537,), "float16", values="bits", layouts={"x": Layout(offset=1), "y": Layout(offset=1)}
    ),
    Case("transposed-x", 4, (37, 41), values="bits", layouts={"x": TRANSPOSED}),
    Case("transposed-y", 4, (37, 41), values="bits", layouts={"y": TRANSPOSED}),
    Case("transposed-both", 4, (37, 41), values="bits", layouts={"x": TRANSPOSED, "y": TRANSPOSED}),
    Case("transposed-in-place", 4, (37, 41), values="bits", layouts={"x": TRANSPOSED}, in_place="x"),
    Case("gaps-x", 4, (37, 41), values="bits", layouts={"x": GAPS}),
    Case("gaps-y", 4, (37, 41), values="bits", layouts={"y": GAPS}),
    Case("pitch-both", 4, (37, 64), values="bits", layouts={"x": Layout(pitch=7), "y": Layout(pitch=9)}),
    Case("pitch-16-bytes", 4, (37, 64), values="bits", layouts={"x": Layout(pitch=4), "y": Layout(pitch=8)}),
    Case("reversed-x", 4, (1000,), values="bits", layouts={"x": Layout(steps=(-1,))}),
    Case("reversed-y", 4, (1000,), values="bits", layouts={"y": Layout(steps=(-1,))}),
    Case("reversed-both", 4, (1000,), values="bits", layouts={"x": Layout(steps=(-1,)), "y": Layout(steps=(-1,))}),
    Case("reversed-rows", 4, (37, 41), values="bits", layouts={"x": Layout(steps=(-1, 1))}),
    Case(
        "reversed-gaps",
        4,
        (37, 41),
        "bits16",
        values="bits",
        layouts={"x": Layout(steps=(1, -2)), "y": Layout(steps=(-2, 1))},
    ),
    Case("broadcast-all", 4, (1000,), values="bits", layouts={"x": Layout(steps=(0,))}),
    Case("broadcast-rows", 4, (37, 41), values="bits", layouts={"x": Layout(steps=(0, 1))}),
    Case("broadcast-columns", 4, (37, 41), values="bits", layouts={"x": Layout(steps=(1, 0))}),
    Case(
        "permuted", 4, (5, 7, 11), values="bits", layouts={"x": Layout(order=(2, 0, 1)), "y": Layout(order=(1, 2, 0))}
    ),
    Case("eight-dims", 4, (2, 3, 1, 2, 3, 2, 1, 4), "bits32", values="bits"),
    Case(
        "eight-dims-permuted",
        4,
        (2, 3, 2, 2, 3, 2, 2, 4),
        values="bits",
        layouts={"x": Layout(order=(7, 6, 5, 4, 3, 2, 1, 0))},
    ),
    Case(
        "eight-dims-gaps", 4, (2, 2, 2, 2, 2, 2, 2, 3), "bits128", values="bits", layouts={"x": Layout(steps=(2,) * 8)}
    ),
    Case("scalar-offset-1", 4, (), "float16", values="bits", layouts={"x": Layout(offset=1), "y": Layout(offset=1)}),
    Case("grid-rows", 4, (65537, 3), "bits8", values="bits", layouts={"x": Layout(pitch=1)}),
]

REFUSED = [
    *tensor_refusals("copy", ("y", "x"), "bits32"),
    Refused("copy-refused-shapes", "OPRT_ERR_INVALID_ARGUMENT", ("copy", "shape"), (View((4, 8)), View((4, 7)))),
    Refused("copy-refused-broadcast", "OPRT_ERR_INVALID_ARGUMENT", ("copy", "shape"), (View((4, 8)), View((8,)))),
    Refused(
        "copy-refused-dtype-pair",
        "OPRT_ERR_UNSUPPORTED_DTYPE",
        ("copy", "float16"),
        (View((8,)), View((8,), "float16")),
    ),
]

RECORD = OperatorRecord(
    name="copy",
    inputs=("x",),
    cases=CASES,
    refused=REFUSED,
    wanted=wanted,
    output_shape=lambda case: case.shape,
    descriptor_arguments=lambda ffi, parameters: (),
    valid_views=(View((4, 64)), View((4, 64))),
    valid_parameters={},
    numpy_call=lambda x, out: np.copyto(out, x),
)
