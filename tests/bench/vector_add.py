"""Shapes of the vector_add benchmark: one launch-bound size, primes, and sizes that only memory limits."""

from tests.benchmark.workload import Workload, row

LENGTHS = (1001000, 4093000, 65521000)
DTYPES = ("float32", "float16", "bfloat16")

WORKLOAD = Workload(
    "vector_add",
    emulator=[row((1024,)), row((1048576,)), row((1048573,), "float16")],
    gpu=[row((elements,), dtype) for dtype in DTYPES for elements in LENGTHS],
)
