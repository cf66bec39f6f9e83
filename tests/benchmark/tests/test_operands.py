"""Operand sets and their values: never constant, other ones after a refill, and what the host says they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.benchmark.operands import (
    CACHE_FACTOR,
    MAX_SETS,
    MIN_SETS,
    Arena,
    OperandSets,
    Pools,
    arena_bytes,
    is_cold,
    random_elements,
    set_count,
)
from tests.benchmark.workload import row
from tests.harness.formats import decode, encode
from tests.harness.record import load_record
from tests.harness.targets import Target


@pytest.mark.parametrize("bytes_moved", [8192, 1 << 20, 10_000_001, 1 << 30])
def test_sets_are_larger_than_the_cache(bytes_moved: int) -> None:
    cache = 50 << 20
    count = set_count(bytes_moved, cache)
    assert MIN_SETS <= count <= MAX_SETS
    assert is_cold(count, bytes_moved, cache) == (count < MAX_SETS)
    assert count == MIN_SETS or (count - 1) * bytes_moved <= CACHE_FACTOR * cache


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "bits8"])
def test_elements_are_random(dtype: str) -> None:
    bits = random_elements(np.random.default_rng(1), 10_000, dtype)
    assert bits.shape == (10_000,)
    assert len(np.unique(bits)) > (200 if dtype == "bits8" else 500)
    if dtype != "bits8":
        found = decode(bits, dtype)
        assert abs(found.mean()) < 0.05
        assert 0.95 < found.std() < 1.05


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    bits = random_elements(np.random.default_rng(2), 100_000, "bfloat16")
    single = np.random.default_rng(2).standard_normal(100_000, np.float32)
    np.testing.assert_array_equal(bits, encode(single.astype(np.float64), "bfloat16"))


@pytest.mark.parametrize(("op", "dtype", "elements"), [("copy", "float32", 1000), ("vector_add", "bfloat16", 1001)])
def test_a_set_holds_what_the_host_says(oprt: Any, target: Target, op: str, dtype: str, elements: int) -> None:
    record, case, pools = load_record(op), row((elements,), dtype), Pools(oprt, target)
    with oprt.Stream(**target.where) as stream:
        sets = OperandSets(oprt, record, case, target, stream, 5, pools.of(dtype, 2 * elements))
        seen = []
        for seed in (0, 1):
            sets.refill(seed)
            for index, each in enumerate(sets):
                host = sets.input_bits(index)
                assert list(host) == list(record.inputs)
                for tensor, name in zip(each.inputs, record.inputs, strict=True):
                    np.testing.assert_array_equal(tensor.numpy().view(host[name].dtype), host[name])
                    seen.append(host[name].tobytes())
        assert len(set(seen)) == len(seen)
        sets.poison()
        assert (sets.outputs(4).view(np.uint8) == 0xFF).all()
        first, name = sets[4].inputs[0].numpy(), record.inputs[0]  # inputs are not poisoned
        np.testing.assert_array_equal(first.view(host[name].dtype), sets.input_bits(4)[name])
        sets.close()
    pools.close()


def test_a_pool_goes_on_at_its_beginning(oprt: Any, target: Target) -> None:
    pools = Pools(oprt, target)
    pool = pools.of("float32", 4096)
    assert pools.of("float32", 2048) is pool
    with oprt.Stream(**target.where) as stream:
        arena = Arena(oprt, target, [3 * pool.bytes.size], 1)
        pool.fill(arena.buffer(0, 0), 160, stream)
        stream.synchronize()
        found = arena.buffer(0, 0).numpy()
        np.testing.assert_array_equal(found, pool.host_bytes(160, found.size))
        np.testing.assert_array_equal(found[: pool.bytes.size - 160], pool.bytes[160:])
        assert arena.memory.size == arena_bytes([3 * pool.bytes.size], 1)
        arena.close()
    pools.close()
