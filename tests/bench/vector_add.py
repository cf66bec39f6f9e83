"""Shapes of the vector_add benchmark: lengths from a few microseconds up to what only memory limits."""

from tests.benchmark.workload import DTYPES, LENGTHS, Workload, row

WORKLOAD = Workload(
    "vector_add",
    emulator=[row((1024,)), row((1048576,)), row((1048573,), "float16")],
    gpu=[row((elements,), dtype) for dtype in DTYPES for elements in LENGTHS],
)
