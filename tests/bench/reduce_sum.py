"""Shapes of the reduce_sum benchmark: many short rows, few long ones, all at once, and a strided axis."""

from tests.benchmark.workload import Workload, row
from tests.harness.record import Case

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


def combined_axes(case: Case) -> tuple[int, ...]:
    """The axes that are summed over."""
    axis = case.parameters.get("axis")
    return tuple(range(len(case.shape))) if axis is None else (axis,)


WORKLOAD = Workload(
    "reduce_sum",
    emulator=[
        row((64, 1000), axis=-1),
        row((1024, 1024), axis=-1),
        row((1008, 256), "float16", axis=-1),
        row((1048576,)),
        row((512, 1024), axis=0),
    ],
    gpu=[
        *(row(shape, dtype, axis=-1) for dtype in DTYPES for shape in SHAPES),
        row((4096, 4096), axis=0),
    ],
    combined_axes=combined_axes,
    limit_kind="read",
)
