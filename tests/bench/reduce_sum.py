"""Shapes of the reduce_sum benchmark: many short rows, few long ones, all at once, and a strided axis."""

from tests.benchmark.workload import DTYPES, ROW_SHAPES, Workload, row
from tests.harness.record import Case


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
        *(row(shape, dtype, axis=-1) for dtype in DTYPES for shape in ROW_SHAPES),
        row((4096, 4096), axis=0),
    ],
    combined_axes=combined_axes,
    limit_kind="read",
)
