"""Finding the native part: which of several is taken, and one sentence when there is none or a wrong one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness.targets import ROOT

PACKAGE = ROOT / "bindings" / "operator_runtime"
# An editable install finds the package before PYTHONPATH does.
FORGET_EDITABLE = (
    "import sys; sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith('_editable')]"
)
WHERE = "from operator_runtime import native; print(native.extension_path(), native.library_path())"


def python(code: str, package_root: Path, build_folders: str = "") -> subprocess.CompletedProcess[str]:
    """Run code with the package of one folder and nothing else of this tree in sight."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CAMP_", "PYTEST"))}
    environment |= {"PYTHONPATH": str(package_root), "CAMP_BUILD_DIR": build_folders, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-P", "-c", f"{FORGET_EDITABLE}\n{code}"],
        env=environment,
        cwd=package_root,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The bindings folder of a checkout without a build."""
    root = tmp_path / "checkout" / "bindings"
    shutil.copytree(PACKAGE, root / "operator_runtime", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "bindings" / "generate.py", root)
    return root


def build_folder(folder: Path, oprt: Any) -> Path:
    """A build folder with the extension and library under test."""
    folder.mkdir()
    for path in (oprt.native.extension_path(), oprt.native.library_path()):
        shutil.copy(path, folder)
    return folder


def test_no_native_part(checkout: Path) -> None:
    done = python("import operator_runtime", checkout, "/nowhere")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("ImportError: operator_runtime has no native part; build it with `nox -s build-nvidia`")
    for place in ("/nowhere", checkout / "operator_runtime", checkout.parent / "build-nvidia"):
        assert str(place) in last


def test_order_of_search(checkout: Path, oprt: Any, tmp_path: Path) -> None:
    named = build_folder(tmp_path / "named", oprt)
    own = build_folder(checkout.parent / "build-nvidia", oprt)
    (tmp_path / "empty").mkdir()
    done = python(WHERE, checkout, os.pathsep.join([str(tmp_path / "empty"), str(named)]))
    assert done.stdout.split() == [str(named / "_native.abi3.so"), str(named / "libcamp_ops.so")], done.stderr
    assert python(WHERE, checkout).stdout.split() == [str(own / "_native.abi3.so"), str(own / "libcamp_ops.so")]


def test_the_build_folder_made_last_is_taken(checkout: Path, oprt: Any) -> None:
    older = build_folder(checkout.parent / "build-aaa", oprt)
    newer = build_folder(checkout.parent / "build-zzz", oprt)
    for folder, time in ((older, 1000), (newer, 2000)):
        os.utime(folder / "libcamp_ops.so", (time, time))
    assert python(WHERE, checkout).stdout.startswith(str(newer))
    os.utime(older / "libcamp_ops.so", (3000, 3000))
    assert python(WHERE, checkout).stdout.startswith(str(older))


def test_a_file_that_cannot_be_loaded(checkout: Path) -> None:
    folder = checkout.parent / "build-nvidia"
    folder.mkdir()
    (folder / "_native.abi3.so").write_text("no library")
    last = python("import operator_runtime", checkout).stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: cannot use {folder / '_native.abi3.so'}: ")
    assert last.endswith("build it again with `nox -s build-nvidia`")


def test_a_library_of_another_version(checkout: Path, oprt: Any) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler")
    folder = build_folder(checkout.parent / "build-nvidia", oprt)
    text = "".join(path.read_text() for path in (ROOT / "runtime" / "include").rglob("*.h"))
    names = set(re.findall(r"^OPRT_API[^(]*?(oprt_\w+)\(", text, re.MULTILINE)) - {"oprt_version"}
    source = folder / "other.c"
    source.write_text(
        'const char *oprt_version(void) { return "9.8.7"; }\n' + "".join(f"void {name}(void) {{}}\n" for name in names)
    )
    library = folder / "libcamp_ops.so"
    library.unlink()
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcamp_ops.so", "-o", library, source], check=True)
    last = python("import operator_runtime", checkout).stderr.strip().splitlines()[-1]
    assert f"it is for libcamp_ops.so {oprt.__version__}, and the one that was loaded is 9.8.7 ({library})" in last
    assert "`nox -s build-nvidia`" in last


def test_an_operator_that_is_newer_than_the_build(oprt: Any) -> None:
    from operator_runtime.calls import Operator

    with pytest.raises(oprt.OperatorRuntimeError, match=r"not_yet is not in .*libcamp_ops\.so; build it again with"):
        Operator("not_yet", inputs=["x"]).call([np.ones(2)])


def test_python_m(oprt: Any) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(oprt.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "operator_runtime"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"operator_runtime {oprt.__version__}" in done.stdout
    for backend, device in oprt.available():
        assert f"{backend} {device}: " in done.stdout
        assert oprt.module_path(backend, device) in done.stdout
    for piece in (oprt.native.library_path(), "interface hash: "):
        assert piece in done.stdout


def test_importing_brings_only_numpy(oprt: Any) -> None:
    show = "print(sorted({'ctypes', 'torch', 'cupy', 'ml_dtypes', 'numba'} & set(sys.modules)))"
    environment = os.environ | {"PYTHONPATH": str(Path(oprt.__file__).parents[1])}
    ours, numpy = (
        subprocess.run(
            [sys.executable, "-c", f"import sys, {module}; {show}"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for module in ("operator_runtime", "numpy")
    )
    assert ours == numpy
