"""Shapes of the reduce_sum benchmark: many short rows, few long ones, all at once, and a strided axis."""

from tests.harness.bench import Workload, row

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
        *(
            row(shape, axis=-1)
            for shape in (
                (144, 1280),
                (1008, 2304),
                (4080, 1536),
                (16384, 1024),
                (4096, 4096),
                (4096, 32768),
                (1024, 131072),
                (64, 1048576),
            )
        ),
        *(row(shape, "float16", axis=-1) for shape in ((1008, 2304), (4096, 4096))),
        row((67108864,)),
        row((4096, 4096), axis=0),
    ],
)
