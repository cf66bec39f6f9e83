"""bindings/generate.py: what it reads from headers, what it writes, and how it refuses a header. Needs no build."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.harness.targets import ROOT

SCRIPT = ROOT / "bindings" / "generate.py"
HEADERS = ROOT / "runtime" / "include"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def headers(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        path = folder / "operator_runtime" / f"{name}.h"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return [folder]


def test_every_function_is_in_the_stub(generate: Any) -> None:
    found = generate.read_headers([HEADERS])
    declared = set(re.findall(r"^OPRT_API[^(]*?(oprt_\w+)\(", "".join(header.text for header in found), re.MULTILINE))
    stub = generate.stub(found)
    assert len(declared) > 40
    assert declared == set(re.findall(r"^    def (oprt_\w+)\(", stub, re.MULTILINE))
    compile(stub, "_native.pyi", "exec")


def test_stub_has_names_types_and_comments(generate: Any) -> None:
    stub = generate.stub(generate.read_headers([HEADERS]))
    assert (
        "def oprt_create_softmax_descriptor(self, descriptor: CData, y: CData, x: CData, axis: int, /) -> int:" in stub
    )
    assert (
        "def oprt_create_relu_descriptor(self, descriptor: CData, y: CData, x: CData, slope: float, /) -> int:" in stub
    )
    assert "def oprt_set_technique(self, technique: bytes | CData, /) -> int:" in stub
    assert '"""Plan the softmax of x along axis (-ndim to ndim - 1)' in stub
    assert "OPRT_ERR_KERNEL_FAULT: int" in stub and "OPRT_MAX_DIMS: int" in stub


def test_headers_come_after_what_they_include(generate: Any, tmp_path: Path) -> None:
    roots = headers(tmp_path, a='#include "operator_runtime/z.h"\nint oprt_f(one_t x);', z="typedef int one_t;")
    found = generate.read_headers(roots)
    assert [header.name for header in found] == ["operator_runtime/z.h", "operator_runtime/a.h"]
    assert "oprt_f" in generate.c_source(found)


def test_what_is_kept_of_a_header(generate: Any, tmp_path: Path) -> None:
    text = (
        "/* OPRT_GONE */ // #define OPRT_GONE 1\n#ifndef GUARD\n#define GUARD\n#define OPRT_SIZE 0x10u\n"
        '#ifdef __cplusplus\nextern "C" {\n#endif\n#define OPRT_LONG \\\n    sizeof(int)\n'
        "OPRT_API int oprt_f(const int *values,\n    int count); /* after */\n#endif\n"
    )
    (header,) = generate.read_headers(headers(tmp_path, only=text))
    kept = header.declarations
    assert kept.count("\n") == text.count("\n")
    assert kept.split() == ["#define", "OPRT_SIZE", "0x10u", "int", "oprt_f(const", "int", "*values,", "int", "count);"]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("int oprt_f(int x) __attribute__((pure));", "operator_runtime/bad.h is outside the grammar"),
        ('#include "operator_runtime/bad.h"\n', "includes itself"),
    ],
)
def test_a_bad_header_is_named(tmp_path: Path, text: str, piece: str) -> None:
    (folder,) = headers(tmp_path, good="typedef int good_t;", bad=text)
    command = [sys.executable, SCRIPT, "--include", folder, "--out", tmp_path / "out.c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert piece in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out.c").exists()


def test_operators_stub_names_what_the_modules_export(generate: Any, tmp_path: Path) -> None:
    (tmp_path / "gelu.py").write_text('__all__ = ["gelu", "gelu_"]\n')
    (tmp_path / "__init__.py").write_text("")
    assert "from .gelu import gelu as gelu, gelu_ as gelu_\n" in generate.operators_stub(tmp_path)
    (tmp_path / "bare.py").write_text("")
    with pytest.raises(generate.HeaderError, match=r"bare\.py has no __all__"):
        generate.operators_stub(tmp_path)


def test_unchanged_files_are_left_alone(generate: Any, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    generate.write_if_changed(path, "one")
    before = path.stat().st_mtime_ns
    generate.write_if_changed(path, "one")
    assert path.stat().st_mtime_ns == before
    generate.write_if_changed(path, "two")
    assert path.read_text() == "two"


def test_it_says_nothing_when_all_is_well(generate: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--include", str(HEADERS), "--out", str(tmp_path / "native.c")]) == 0
    assert capfd.readouterr() == ("", "")
