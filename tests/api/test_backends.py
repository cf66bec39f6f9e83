"""Backends in one process, and backends that are not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import ROOT


def emulated(oprt: Any) -> list[str]:
    return [backend for backend, device in oprt.available() if device == "emulator"]


def test_all_backends_agree_in_one_process(oprt: Any) -> None:
    backends = emulated(oprt)
    if len(backends) < 2:
        pytest.skip(f"only {', '.join(backends) or 'no backend'} is built for the emulator")
    x = np.random.default_rng(1).standard_normal((64, 1000), dtype=np.float32)
    expected = np.exp(x.astype(np.float64)) / np.exp(x.astype(np.float64)).sum(axis=1, keepdims=True)
    for _ in range(2):
        for backend in backends:
            y = oprt.softmax(x, axis=-1, backend=backend, device="emulator")
            np.testing.assert_allclose(y, expected, rtol=2e-6, atol=1e-8)


def test_warps_have_the_width_of_their_vendor(oprt: Any) -> None:
    widths = {"nvidia": 32, "metax": 64}
    for backend in emulated(oprt):
        assert oprt.device_properties(backend=backend, device="emulator").warp_size == widths[backend]


def test_kernels_name_their_files(oprt: Any) -> None:
    for backend, device in oprt.available():
        kernels = oprt.kernels(backend=backend, device=device)
        assert {info.op for info in kernels if not info.technique} == set(oprt.operators())
        for info in kernels:
            assert Path(info.path).is_absolute() and len(info.sha256) == 64
        for op in oprt.operators():
            assert set(oprt.techniques(op, backend=backend, device=device)) == {
                info.technique for info in kernels if info.op == op
            } - {""}


def test_no_product_name_for_an_emulated_device(oprt: Any) -> None:
    for backend in emulated(oprt):
        assert "emulat" in oprt.device_properties(backend=backend, device="emulator").name.lower()


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CAMP_BUILD_DIR": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT / "bindings"), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_backend_that_is_not_built(lone_build: tuple[str, str, Path]) -> None:
    present, missing, folder = lone_build
    code = f"""
import numpy as np, operator_runtime as oprt
x = np.ones((2, 3), np.float32)
assert (oprt.copy(x, backend={present!r}, device="emulator") == x).all()
try:
    oprt.copy(x, backend={missing!r}, device="emulator")
except oprt.OperatorRuntimeError as error:
    assert isinstance(error, RuntimeError) and error.status.name == "BACKEND_UNAVAILABLE", error
    print(error)
"""
    done = run_python(code, folder)
    assert done.returncode == 0, done.stderr
    for piece in (missing, f"camp_ops_{missing}_emulator.so", str(folder), f"build-{missing}"):
        assert piece in done.stdout


def test_a_module_that_is_no_module(lone_build: tuple[str, str, Path]) -> None:
    present, _, folder = lone_build
    (folder / f"camp_ops_{present}_emulator.so").write_bytes(b"not a shared library")
    done = run_python(
        f"import operator_runtime as oprt; oprt.empty((3,), 'float32', backend={present!r}, device='emulator')",
        folder,
    )
    assert done.returncode != 0
    assert f"camp_ops_{present}_emulator.so" in done.stderr
