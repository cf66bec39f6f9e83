"""What every operator refuses in the same words: shapes, strides, ranks and dtypes that no tensor may have.

An operator's record adds what is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.harness.record import Refused, View

INVALID = "OPRT_ERR_INVALID_ARGUMENT"
UNSUPPORTED = "OPRT_ERR_UNSUPPORTED_DTYPE"
UNKNOWN_DTYPE = 99


def tensor_refusals(op: str, operands: tuple[str, ...], opaque: str = "", **parameters: object) -> Iterator[Refused]:
    """Refused descriptors for operands that may all have one shape; opaque: a BITS dtype, if it takes those."""
    plain = View((4, 8))

    def refused(what: str, status: str, message: tuple[str, ...], position: int, view: View) -> Refused:
        views = [view if index == position or view.shape != plain.shape else plain for index in range(len(operands))]
        return Refused(f"{op}-refused-{what}-{operands[position]}", status, (op, *message), views, parameters)

    for position, operand in enumerate(operands):
        yield refused("nine-dims", INVALID, (operand, "9"), position, View((4, 8), ndim=9))
        yield refused("negative-ndim", INVALID, (operand, "-1"), position, View((4, 8), ndim=-1))
        yield refused("negative-extent", INVALID, ("-3",), position, View((4, -3)))
        yield refused(
            "unknown-dtype", UNSUPPORTED, (operand, str(UNKNOWN_DTYPE)), position, View((4, 8), UNKNOWN_DTYPE)
        )
        yield refused("huge", INVALID, (), position, View((2**32, 2**32)))
        yield refused("huge-empty", INVALID, (), position, View((2**32, 2**32, 0)))
        yield refused("huge-stride", INVALID, (operand,), position, View((4, 8), strides=(2**62, 1)))
    output = operands[0]
    yield refused("repeated-output", INVALID, (output,), 0, View((4, 8), strides=(0, 1)))
    yield refused("interleaved-output", INVALID, (output,), 0, View((4, 8), strides=(1, 1)))
    if not opaque:
        for dtype in ("bits8", "bits32", "bits128"):
            views = [View((4, 8), dtype)] * len(operands)
            yield Refused(f"{op}-refused-{dtype}", UNSUPPORTED, (op, dtype), views, parameters)
