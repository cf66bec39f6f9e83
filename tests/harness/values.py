"""Input values by name, hard on purpose: what a wrong kernel would get right by luck is left out.

Each generator gets a random source with a seed fixed per case and a shape whose last dimension is the interesting one.
Results are float64; the operand rounds them to its format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.harness.formats import FORMATS, Bits, Format, Values, decode, encode

Random = np.random.Generator
Shape = tuple[int, ...]
Generator = Callable[[Random, Shape, Format], Values]
GENERATORS: dict[str, Generator] = {}


def values(function: Generator) -> Generator:
    """Register a generator under its name, with dashes."""
    GENERATORS[function.__name__.replace("_", "-")] = function
    return function


def make(name: str, random: Random, shape: Shape, dtype: str) -> Bits:
    """Elements in the storage type of dtype. For opaque formats every bit pattern is as likely as any other."""
    item = FORMATS[dtype]
    if not item.is_floating or name == "bits":
        raw = random.integers(0, 256, (*shape, item.size_bytes), dtype=np.uint8)
        return raw.view(item.storage).reshape(shape)
    return encode(GENERATORS[name](random, shape, item), dtype)


@values
def normal(random: Random, shape: Shape, item: Format) -> Values:
    """Both signs, magnitudes from about 0.001 to 4."""
    return random.standard_normal(shape)


@values
def spread(random: Random, shape: Shape, item: Format) -> Values:
    """Magnitudes over many powers of two, so that order and accumulator matter."""
    return random.standard_normal(shape) * 2.0 ** random.integers(-10, 8, shape)


@values
def offset(random: Random, shape: Shape, item: Format) -> Values:
    """Close to a large common offset: exp overflows without the maximum, a narrow accumulator loses digits."""
    return 1.0e4 + 8.0 * random.standard_normal(shape)


@values
def negative_offset(random: Random, shape: Shape, item: Format) -> Values:
    """All far below 0: a maximum that starts at 0 is wrong, and so is one that takes an idle lane's 0."""
    return -1.0e4 + 8.0 * random.standard_normal(shape)


@values
def ascending(random: Random, shape: Shape, item: Format) -> Values:
    """The maximum comes last and moves at every step: a running maximum must rescale each time."""
    columns = shape[-1] if shape else 1
    return np.broadcast_to(np.linspace(-30.0, 20.0, columns), shape) + 0.25 * random.standard_normal(shape)


@values
def cancelling(random: Random, shape: Shape, item: Format) -> Values:
    """Large values and their opposites in shuffled places, and small ones that remain."""
    result = random.standard_normal(shape)
    flat = result.reshape(-1, shape[-1]) if shape and result.size else result.reshape(1, -1)
    half = flat.shape[1] // 2
    large = 2.0 ** random.integers(6, 12, (flat.shape[0], half)) * (1.0 + random.random((flat.shape[0], half)))
    large = decode(encode(large, item.name), item.name)  # so that a value and its opposite cancel to the last bit
    flat[:, :half] = large
    flat[:, half : 2 * half] = -large
    random.permuted(flat, axis=1, out=flat)
    return flat.reshape(shape)


@values
def large_small_large(random: Random, shape: Shape, item: Format) -> Values:
    """[1e8, 1, -1e8] again and again: what remains is far smaller than what went through.

    For float32 that is below any bound in sum(|x|): there only a gross error is wrong. A float64 sum is exact.
    """
    count = int(np.prod(shape))
    return np.resize(np.array([1.0e8, 1.0, -1.0e8]), count).reshape(shape) + 0.0 * random.random(shape)


@values
def large_then_small(random: Random, shape: Shape, item: Format) -> Values:
    """[1e8, 3, 3, ...]: float32 numbers at 1e8 lie 8 apart, so one running sum loses every 3."""
    result = np.full(shape, 3.0)
    result[..., 0] = 1.0e8
    return result


@values
def ones_and_halves(random: Random, shape: Shape, item: Format) -> Values:
    """As many ones as halves, shuffled: exact in float32, far off when the accumulator is float16 or bfloat16."""
    count = int(np.prod(shape))
    return random.permutation(np.resize(np.array([1.0, 0.5]), count)).reshape(shape)


@values
def subnormal(random: Random, shape: Shape, item: Format) -> Values:
    """Subnormal numbers of the format, of both signs, with some normal ones between."""
    smallest = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}[item.name]
    result = smallest * random.integers(-100, 101, shape).astype(np.float64)
    result[random.random(shape) < 0.1] = 1.5
    return result


@values
def specials(random: Random, shape: Shape, item: Format) -> Values:
    """Zeros of both signs, infinities, NaN, the largest and the smallest numbers among ordinary ones."""
    largest = float(np.finfo(np.float32).max) if item.name != "float16" else 65504.0
    pool = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, 2.0**-14, -(2.0**-14), 1.0, -1.0])
    result = random.standard_normal(shape)
    chosen = random.random(shape) < 0.5
    result[chosen] = random.choice(pool, int(chosen.sum()))
    flat = result.reshape(-1)
    flat[: pool.size] = pool[: flat.size]
    return result


@values
def signed_zeros(random: Random, shape: Shape, item: Format) -> Values:
    """+0.0 and -0.0 with few numbers between."""
    return random.choice(np.array([0.0, -0.0, -0.0, 0.0, 1.0, -1.0]), shape)


def _nan_at(place: Callable[[int], int]) -> Generator:
    def generate(random: Random, shape: Shape, item: Format) -> Values:
        result = random.standard_normal(shape)
        rows = result.reshape(-1, shape[-1])
        rows[::2, place(shape[-1])] = np.nan  # every other row: its neighbours must stay finite
        return result

    return generate


GENERATORS["nan-first"] = _nan_at(lambda columns: 0)
GENERATORS["nan-middle"] = _nan_at(lambda columns: columns // 2)
GENERATORS["nan-last"] = _nan_at(lambda columns: columns - 1)


@dataclass(frozen=True)
class _InfiniteWhere:
    """-inf in every column that keep(column, columns) refuses; odd rows stay finite."""

    keep: Callable[[np.ndarray, int], np.ndarray]
    replacement: float = -np.inf

    def __call__(self, random: Random, shape: Shape, item: Format) -> Values:
        result = random.standard_normal(shape)
        rows = result.reshape(-1, shape[-1])
        kept = self.keep(np.arange(shape[-1]), shape[-1])
        rows[::2, ~kept] = self.replacement
        return result


# What one lane, warp (32 or 64 wide), block or chunk sees is wholly -inf, while the row as a whole is not.
GENERATORS["minus-infinity-lanes"] = _InfiniteWhere(lambda i, n: i % 64 == 5)
GENERATORS["minus-infinity-warps"] = _InfiniteWhere(lambda i, n: (i // 64) % 2 == 1)
GENERATORS["minus-infinity-first-half"] = _InfiniteWhere(lambda i, n: i >= n // 2)
GENERATORS["minus-infinity-second-half"] = _InfiniteWhere(lambda i, n: i < (n + 1) // 2)
GENERATORS["minus-infinity-but-first"] = _InfiniteWhere(lambda i, n: i == 0)
GENERATORS["minus-infinity-but-last"] = _InfiniteWhere(lambda i, n: i == n - 1)
GENERATORS["minus-infinity-rows"] = _InfiniteWhere(lambda i, n: i < 0)
GENERATORS["plus-infinity"] = _InfiniteWhere(lambda i, n: i != n // 3, np.inf)


@values
def infinities_of_both_signs(random: Random, shape: Shape, item: Format) -> Values:
    """Rows with +inf, with -inf, with both (their sum is NaN) and with none, in turn."""
    result = random.standard_normal(shape)
    rows = result.reshape(-1, shape[-1])
    rows[0::4, 0] = np.inf
    rows[1::4, -1] = -np.inf
    rows[2::4, 0] = np.inf
    rows[2::4, -1] = -np.inf
    return result


@values
def near_tie(random: Random, shape: Shape, item: Format) -> Values:
    """[1e4, 1e4 + 1] and the like: the largest values lie close together, far from 0."""
    return 1.0e4 + np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape) % 2 + 0.0 * random.random(shape)
