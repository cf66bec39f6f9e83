"""`python -m operator_runtime`: prints versions, paths, backends and devices."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np

import operator_runtime as oprt
from operator_runtime import native


def _print_versions() -> None:
    print(f"operator_runtime {oprt.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"package    {Path(oprt.__file__).parent}")
    print(f"extension  {native.extension_path()}")
    print(f"library    {native.library_path()}")
    for name, value in oprt.build_information().items():
        print(f"           {name}: {value}")
    for name in sorted(name for name in os.environ if name.startswith("CAMP_")):
        print(f"{name}={os.environ[name]}")


def _print_devices() -> None:
    available = oprt.available()
    for backend in oprt.backends():
        for device in [device for name, device in available if name == backend]:
            properties = oprt.device_properties(backend, device)
            print(f"\n{backend} {device}: {properties.name}, {properties.warp_size} lanes")
            print(f"  module   {oprt.module_path(backend, device)}")
            for operator in oprt.operators():
                names = oprt.techniques(operator, backend=backend, device=device)
                print(f"  {operator}{': ' if names else ''}{', '.join(names)}")
        for kind in ("gpu", "emulator"):
            if (backend, kind) not in available:
                print(f"\n{backend} {kind}: not available\n  {_reason(backend, kind)}")


def _reason(backend: str, device: str) -> str:
    """Why it is not available, from the error of the first call that needs it."""
    try:
        oprt.synchronize(backend=backend, device=device)
    except oprt.OperatorRuntimeError as error:
        return str(error).replace("\n", "\n  ")
    return "no device of that kind"


def main() -> int:
    """Print it all; 1 when nothing can run."""
    _print_versions()
    _print_devices()
    return 0 if oprt.available() else 1


if __name__ == "__main__":
    sys.exit(main())
