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


def main() -> None:
    import operator_runtime as oprt

    backend, kind = sys.argv[1], int(sys.argv[2])
    where = {"backend": backend, "device": "emulator"}
    sites = find_sites()
    number = next(site.number for site in sites if site.kind == "body" and site.text == KERNEL)
    switches = Switches(oprt.module_path(**where), len(sites))
    x = np.arange(1000, dtype=np.float32)

    def add() -> Any:
        with oprt.technique("naive"):
            y = oprt.vector_add(x, x, **where)
        oprt.synchronize(**where)
        return y

    add()
    switches.break_site(number, kind)
    print(failure(oprt, add))
    switches.break_site(-1)
    print("then:", failure(oprt, add))  # the device refuses work until it is reset
    print("and:", failure(oprt, lambda: oprt.from_numpy(x, **where)))
    oprt.device_reset(**where)
    np.testing.assert_array_equal(add(), x + x)


if __name__ == "__main__":
    main()
