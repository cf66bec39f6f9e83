"""Runs mypy --strict on the package as a wheel contains it: the sources together with the stubs that the build makes.

Nothing has to be built: the stubs are made from the headers, in a folder that is removed again. Also checks
tests/bindings/typed_use.py, which says what users' type checkers have to see. Arguments go to mypy.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BINDINGS = Path(__file__).resolve().parent
ROOT = BINDINGS.parent
PACKAGE = BINDINGS / "operator_runtime"
TYPED_USE = ROOT / "tests" / "bindings" / "typed_use.py"


def stage(folder: Path) -> Path:
    """The package with its stubs, in a folder; its path there."""
    package = folder / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    generator = [sys.executable, str(BINDINGS / "generate.py"), "--include", str(ROOT / "runtime" / "include")]
    stubs = ["--stub", f"{package}/_native.pyi", "--ops-stub", f"{package}/ops/__init__.pyi"]
    subprocess.run([*generator, *stubs], check=True)
    return package


def main(arguments: list[str]) -> int:
    """The exit status of mypy, whose messages name the files of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        package = stage(Path(folder))
        checked = [package, BINDINGS / "generate.py", BINDINGS / "check_types.py", TYPED_USE]
        settings = ["--strict", f"--config-file={BINDINGS}/pyproject.toml", f"--cache-dir={ROOT}/.mypy_cache"]
        command = [sys.executable, "-m", "mypy", *settings, "--show-absolute-path", *arguments, *map(str, checked)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        print(f"{done.stdout}{done.stderr}".replace(str(package), str(PACKAGE)).replace(f"{ROOT}/", ""), end="")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
