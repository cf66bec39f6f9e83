"""Sums that a kernel must not take: each loses what one case of reduce_sum asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.harness.comparison import wrong_elements
from tests.harness.record import load_record
from tests.harness.running import make_inputs


def one_by_one(x: Any) -> Any:
    """In float32, in order."""
    return np.add.accumulate(x, axis=-1, dtype=np.float32)[..., -1]


def pairwise(x: Any) -> Any:
    """In float32, as a tree of blocks does."""
    return np.sum(x, axis=-1, dtype=np.float32)


def zero(x: Any) -> Any:
    """Nothing was added."""
    return np.zeros(x.shape[:-1], x.dtype)


@pytest.mark.parametrize(
    ("case_id", "kernel", "is_right"),
    [
        ("reduce_sum-4x999-float32-large-then-small", one_by_one, False),
        ("reduce_sum-4x999-float32-large-then-small", zero, False),
        ("reduce_sum-4x999-float32-large-then-small", pairwise, True),
        ("reduce_sum-4x999-float64-large-small-large", one_by_one, False),
        ("reduce_sum-4x999-float64-large-small-large", pairwise, False),
        ("reduce_sum-4x999-float64-large-small-large", zero, False),
        ("reduce_sum-4x999-float64-large-small-large", lambda x: np.sum(x, axis=-1), True),
    ],
)
def test_a_case_notices(case_id: str, kernel: Callable[[Any], Any], is_right: bool) -> None:
    record = load_record("reduce_sum")
    case = next(case for case in record.cases if record.case_id(case) == case_id)
    x = make_inputs(record, case)["x"].elements()
    got = np.asarray(kernel(x)).astype(case.dtype)
    wrong = wrong_elements(got, record.wanted(case, {"x": x}), case.dtype, flushes_subnormals=False)
    assert wrong.all() if not is_right else not wrong.any()
