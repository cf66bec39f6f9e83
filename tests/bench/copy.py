"""Shapes of the copy benchmark: one launch-bound size, primes, and sizes that only memory limits."""

from tests.harness.bench import Workload, row

WORKLOAD = Workload(
    "copy",
    emulator=[row((1024,)), row((1048576,)), row((1048573,), "float16")],
    gpu=[
        row((1024,)),
        *(row((elements,), dtype) for dtype in ("float16", "float32") for elements in (1001000, 4093000, 65521000)),
        row((4096, 4096)),
    ],
)
