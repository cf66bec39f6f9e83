"""Shapes of the softmax benchmark: rows that fit registers, shared memory, and neither."""

from tests.benchmark.workload import Workload, row

# Rows of one warp's work up to one row that all of the device has to share.
SHAPES = (
    (144, 1280),
    (1008, 1280),
    (1008, 2304),
    (2032, 2304),
    (784, 3840),
    (4080, 1536),
    (16384, 1024),
    (4096, 4096),
    (4096, 32768),
    (1024, 131072),
    (64, 1048576),
    (1, 67108864),
)
DTYPES = ("float32", "float16", "bfloat16")

WORKLOAD = Workload(
    "softmax",
    emulator=[row((64, 1000)), row((1024, 1024)), row((1008, 256), "float16"), row((8, 65536))],
    gpu=[
        *(row(shape, dtype) for dtype in DTYPES for shape in SHAPES),
        row((4096, 4096), axis=0),
    ],
    combined_axes=lambda case: (case.parameters.get("axis", -1),),
)
