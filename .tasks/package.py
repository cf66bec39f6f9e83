"""The session `package`: build the wheel and the sdist, install each far from this tree, and run both backends.

How they are built is said in bindings/pyproject.toml.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import typing
from pathlib import Path

from . import environment, toolchain
from .project import BACKENDS, ROOT, Failure

if typing.TYPE_CHECKING:
    import nox

DISTRIBUTIONS = ROOT / "dist"
# Run by the shared environment's Python: calls the hooks that pip calls, without another environment for the build.
BUILD = """\
import importlib, os, sys, tomllib
with open("pyproject.toml", "rb") as file:
    settings = tomllib.load(file)["build-system"]
sys.path[:0] = [os.path.abspath(folder) for folder in settings.get("backend-path", [])]
backend = importlib.import_module(settings["build-backend"])
print(getattr(backend, sys.argv[1])(sys.argv[2]))
"""
TRIAL = """\
import sys
import numpy as np
import operator_runtime as oprt
assert "site-packages" in oprt.__file__, oprt.__file__
x = np.random.default_rng(0).standard_normal((64, 1000), dtype=np.float32)
wide = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
for backend in sys.argv[1:]:
    y = oprt.softmax(x, axis=-1, backend=backend, device="emulator")
    np.testing.assert_allclose(y, wide / wide.sum(axis=-1, keepdims=True), rtol=1e-5)
    print(f"softmax on {backend} agrees with NumPy: {oprt.module_path(backend, 'emulator')}")
"""


def package(session: nox.Session) -> None:
    toolchain.cxx()
    shutil.rmtree(DISTRIBUTIONS, ignore_errors=True)
    DISTRIBUTIONS.mkdir()
    made = [_build(session, hook) for hook in ("build_wheel", "build_sdist")]
    for file in made:
        _try(session, file)
    for file in made:
        session.log(f"dist/{file.name}: {file.stat().st_size / 1e6:.1f} MB, installed and run")


def _build(session: nox.Session, hook: str) -> Path:
    session.log(f"{hook} of bindings/pyproject.toml")
    folder = ROOT / "bindings"
    status, output = environment.capture(session, "python", "-c", BUILD, hook, DISTRIBUTIONS, cwd=folder, quiet=True)
    if status:
        session.log(output)
        raise Failure(f"{hook} of bindings/pyproject.toml failed")
    return DISTRIBUTIONS / output.strip().splitlines()[-1]


def _try(session: nox.Session, file: Path) -> None:
    """Install into a fresh environment in another folder and use it there, with nothing of this tree in sight."""
    with tempfile.TemporaryDirectory(prefix="operator-runtime-") as folder:
        venv = Path(folder, "venv")
        uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
        if uv:
            steps = [[uv, "venv", "--quiet", "--python", sys.executable, str(venv)]]
            steps += [[uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), str(file)]]
        else:
            steps = [[sys.executable, "-m", "virtualenv", "--quiet", "--no-download", str(venv)]]
            steps += [[str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", str(file)]]
        steps += [[str(venv / "bin" / "python"), "-c", TRIAL, *BACKENDS]]
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "BUILD_DIR") and not name.startswith("CAMP_")
        }
        for step in steps:
            session.log(" ".join(step if "-c" not in step else [*step[:2], "..."]))
            done = subprocess.run(
                step, cwd=folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            if done.stdout.strip():
                session.log(done.stdout.strip())
            if done.returncode:
                raise Failure(f"{file.name} could not be installed and run in an empty folder")
