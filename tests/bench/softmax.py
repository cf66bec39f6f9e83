"""Shapes of the softmax benchmark: rows that fit registers, shared memory, and neither."""

from tests.benchmark.workload import DTYPES, ROW_SHAPES, Workload, row

WORKLOAD = Workload(
    "softmax",
    emulator=[row((64, 1000)), row((1024, 1024)), row((1008, 256), "float16"), row((8, 65536))],
    gpu=[
        *(row(shape, dtype) for dtype in DTYPES for shape in ROW_SHAPES),
        row((4096, 4096), axis=0),
    ],
    combined_axes=lambda case: (case.parameters.get("axis", -1),),
)
