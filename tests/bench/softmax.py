"""Shapes of the softmax benchmark: rows that fit registers, shared memory, and neither."""

from tests.harness.bench import Workload, row

WORKLOAD = Workload(
    "softmax",
    emulator=[row((64, 1000)), row((1024, 1024)), row((1008, 256), "float16"), row((8, 65536))],
    gpu=[
        *(
            row(shape)
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
        *(row(shape, "float16") for shape in ((1008, 2304), (4080, 1536), (4096, 4096), (4096, 32768))),
        row((4096, 4096), axis=0),
    ],
)
