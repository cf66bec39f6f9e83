"""Closing what is held in C: once, again after a failure, and everything even when one piece fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operator_runtime._native import lib
from operator_runtime.arrays import read
from operator_runtime.errors import OperatorFailure, Status
from operator_runtime.owner import Owner
from operator_runtime.selection import choose, resolve
from operator_runtime.staging import Staging
from operator_runtime.tensor import Memory
from tests.harness.targets import Target


class Stubborn(Owner):
    """Refuses to be released a number of times."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.releases = 0
        self._open = True

    def _release(self) -> None:
        if self.refusals:
            self.refusals -= 1
            raise OperatorFailure(f"{self.refusals} refusals are left", Status.RUNTIME)
        self.releases += 1


def test_a_close_that_failed_is_tried_again() -> None:
    owner = Stubborn(refusals=2)
    for left in (1, 0):
        with pytest.raises(RuntimeError, match=f"{left} refusals"):
            owner.close()
        assert not owner.closed
    owner.close()
    owner.close()
    assert owner.closed
    assert owner.releases == 1


def test_staging_frees_every_piece_and_raises_the_first_error(
    oprt: Any, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = [np.zeros(5, np.float32) for _ in range(3)]
    staging = Staging([read(array, "test", "x", None) for array in arrays])
    pointers = staging.allocate(resolve(choose(**target.where)))
    release = Memory._release
    calls: list[Memory] = []

    def refuse_the_first_two(self: Memory) -> None:
        calls.append(self)
        if len(calls) <= 2:
            raise OperatorFailure(f"refusal {len(calls)}", Status.RUNTIME)
        release(self)

    monkeypatch.setattr(Memory, "_release", refuse_the_first_two)
    with pytest.raises(RuntimeError, match="refusal 1"):
        staging.close()
    assert len(calls) == 3
    staging.close()
    staging.close()
    assert len(calls) == 5
    for pointer in pointers:
        assert lib.oprt_free_memory(pointer) == lib.OPRT_ERR_INVALID_ARGUMENT  # not known any more
