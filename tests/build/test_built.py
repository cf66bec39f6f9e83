"""What lies in the build folders: libraries that export their API only, modules that another version refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build.tiny_tree import ROOT

FOLDERS = [Path(name) for name in os.environ.get("CAMP_BUILD_DIR", "").split(os.pathsep) if name]
FOLDERS += [folder for folder in sorted(ROOT.glob("build-*")) if folder not in FOLDERS]
LIBRARIES = [library for folder in FOLDERS for library in sorted(folder.glob("*camp_ops*.so"))]
MODULES = [library for library in LIBRARIES if re.fullmatch(r"camp_ops_.*_emulator\.so", library.name)]


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not on PATH")
@pytest.mark.parametrize("library", LIBRARIES, ids=name_of)
def test_only_the_api_is_exported(library: Path) -> None:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1] for line in listed.splitlines()]
    if library.name == "libcamp_ops.so":
        assert [symbol for symbol in symbols if not symbol.startswith("oprt_")] == []
    else:
        assert symbols == ["oprt_get_module"]
    needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    assert "libcamp_ops" not in "".join(line for line in needed.splitlines() if "NEEDED" in line)


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_of_another_version_is_refused(module: Path, tmp_path: Path) -> None:
    """A copy with another interface hash is what an old build left behind."""
    interface = (module.parent / "generated/interface.h").read_text()
    match = re.search(r'"([0-9a-f]{64})"', interface)
    assert match
    contents = module.read_bytes()
    assert contents.count(match[1].encode()) == 1
    (tmp_path / module.name).write_bytes(contents.replace(match[1].encode(), match[1][::-1].encode()))
    backend = module.name.split("_")[2]
    program = f"import operator_runtime as oprt; oprt.synchronize(backend={backend!r}, device='emulator')"
    environment = os.environ | {"CAMP_BUILD_DIR": os.pathsep.join([str(tmp_path), str(module.parent)])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert str(tmp_path / module.name) in done.stderr
    assert f"build-{backend}" in done.stderr, "the message must say how to build it anew"
