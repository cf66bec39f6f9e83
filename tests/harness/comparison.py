"""Is the result right? Rounding to the format is exact here; a tolerance is only what the accumulator may lose.

A result is right when it lies between the roundings of (wanted - allowed) and (wanted + allowed), ends included:
rounding is monotonic, so a kernel that rounds once cannot leave that interval, not even where numbers overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.harness.formats import FORMATS, SMALLEST_NORMAL_FLOAT32, Bits, Values, decode, encode

SHOWN = 6


@dataclass(frozen=True)
class Wanted:
    """What a result must be: either exact bits, or values with the absolute error that the accumulator is allowed."""

    values: Values | Bits
    allowed: Values | float = 0.0
    bitwise: bool = False


def wrong_elements(got: Bits, wanted: Wanted, dtype: str, flushes_subnormals: bool) -> NDArray[np.bool_]:
    """True where an element of got is not right."""
    if wanted.bitwise:
        size_bytes = FORMATS[dtype].size_bytes
        got_bytes = np.ascontiguousarray(got).reshape(-1).view(np.uint8).reshape(*got.shape, size_bytes)
        want_bytes = np.ascontiguousarray(wanted.values).reshape(-1).view(np.uint8).reshape(*got.shape, size_bytes)
        return np.asarray((got_bytes != want_bytes).any(axis=-1))
    want = np.asarray(wanted.values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = np.where(np.isfinite(want), wanted.allowed, 0.0)
        low = decode(encode(want - allowed, dtype), dtype)
        high = decode(encode(want + allowed, dtype), dtype)
    value = decode(got, dtype)
    right = (low <= value) & (value <= high)
    # Without an allowance a zero has a sign. A sum that is 0 within an allowance may have either.
    right &= ~((allowed == 0) & (value == 0) & (want == 0) & (np.signbit(value) != np.signbit(want)))
    if flushes_subnormals:
        right |= (np.abs(want) < SMALLEST_NORMAL_FLOAT32) & (value == 0)
    right |= np.isnan(value) & np.isnan(want)
    return ~right


def explain(got: Bits, wanted: Wanted, wrong: NDArray[np.bool_], untouched: NDArray[np.bool_], dtype: str) -> str:
    """The wrong elements in words: how many, the first of them, whether they were written at all."""
    count = int(wrong.sum())
    lines = [f"{count} of {wrong.size} elements are wrong"]
    never = int((wrong & untouched).sum())
    if never:
        lines[0] += f"; {never} of them were never written"
    places = np.argwhere(wrong)[:SHOWN]
    for place in map(tuple, places):
        shown = "nothing (never written)" if untouched[place] else _show(got, place, dtype)
        lines.append(f"  [{', '.join(map(str, place))}] got {shown}, wanted {_show_wanted(wanted, place, dtype)}")
    if count > SHOWN:
        last = tuple(np.argwhere(wrong)[-1])
        lines.append(f"  ... the last one is [{', '.join(map(str, last))}]")
    if not wanted.bitwise:
        lines.append(_largest_error(got, wanted, wrong, dtype))
    return "\n".join(line for line in lines if line)


def _show(bits: Bits, place: tuple[int, ...], dtype: str) -> str:
    element = np.asarray(bits[place])
    if not FORMATS[dtype].is_floating:
        return "0x" + element.tobytes()[::-1].hex()
    return f"{decode(element, dtype).item():.9g}"


def _show_wanted(wanted: Wanted, place: tuple[int, ...], dtype: str) -> str:
    if wanted.bitwise:
        bits = np.asarray(wanted.values[place])
        return _show(wanted.values, place, dtype) + (
            f" (bits 0x{bits.tobytes()[::-1].hex()})" if FORMATS[dtype].is_floating else ""
        )
    want = np.asarray(wanted.values, dtype=np.float64)
    allowed = float(np.broadcast_to(wanted.allowed, want.shape)[place])
    return f"{want[place]:.9g}" + (f" within {allowed:.2g} and one rounding" if allowed else ", exactly rounded")


def _largest_error(got: Bits, wanted: Wanted, wrong: NDArray[np.bool_], dtype: str) -> str:
    want = np.asarray(wanted.values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(decode(got, dtype) - want)
    error = np.where(wrong & np.isfinite(error), error, -1.0)
    if error.max(initial=-1.0) < 0:
        return ""
    place = np.unravel_index(int(error.argmax()), error.shape)
    return f"  largest error {error[place]:.3g} at [{', '.join(map(str, place))}]"
