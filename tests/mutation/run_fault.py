"""Breaks a kernel so that it breaks the device, and watches how the runtime takes it: run_fault BACKEND KIND.

Run by test_faults.py in a process of its own; prints the messages of the first failure and of the call after it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.mutation.run_mutants import Switches
from tests.mutation.sites import find_sites

KERNEL = "vector_add_naive"


def failure(oprt: Any, call: Any) -> str:
    """The message of a call that has to fail with KERNEL_FAULT."""
    try:
        call()
    except oprt.OperatorRuntimeError as error:
        assert error.status.name == "KERNEL_FAULT", f"{error.status!r}: {error}"
        assert isinstance(error, RuntimeError)
        return str(error)
    raise AssertionError("a broken kernel was not reported")


def memories_made(kind: Any) -> list[Any]:
    """Every allocation of the package from now on."""
    made: list[Any] = []
    allocate = kind.__init__

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        allocate(self, *arguments, **options)
        made.append(self)

    kind.__init__ = noted
    return made


def close_all(owners: list[Any], memories: list[Any]) -> None:
    """Close on the broken device; what it held, and what the failed calls held, is free at once."""
    for owner in owners:
        owner.close()
        assert owner.closed, f"{owner!r} is still open"
    left = [memory for memory in memories if not memory.closed]
    assert not left, f"{left} is not free"


def main() -> None:
    import operator_runtime as oprt
    from operator_runtime.tensor import Memory

    backend, kind = sys.argv[1], int(sys.argv[2])
    where = {"backend": backend, "device": "emulator"}
    sites = find_sites()
    number = next(site.number for site in sites if site.kind == "body" and site.text == KERNEL)
    switches = Switches(oprt.module_path(**where), len(sites))
    x = np.arange(1000, dtype=np.float32)
    memories = memories_made(Memory)

    def add() -> Any:
        with oprt.technique("naive"):
            y = oprt.vector_add(x, x, **where)
        oprt.synchronize(**where)
        return y

    add()
    tensor, stream, event = oprt.from_numpy(x, **where), oprt.Stream(**where), oprt.Event()
    event.record(stream)
    prepared = oprt.prepare_vector_add(x.copy(), x, x, **where)
    switches.break_site(number, kind)
    print(failure(oprt, add))
    switches.break_site(-1)
    print("then:", failure(oprt, add))  # the device refuses work until it is reset
    print("and:", failure(oprt, lambda: oprt.from_numpy(x, **where)))
    close_all([prepared, event, stream, tensor], memories)
    oprt.device_reset(**where)
    np.testing.assert_array_equal(add(), x + x)


if __name__ == "__main__":
    main()
