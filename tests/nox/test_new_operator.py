"""new-operator: every file of the model has its counterpart without the model's name, nothing is written over."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tasks import new_operator
from tasks.arguments import Options
from tasks.project import ROOT, Failure, operators
from tests.nox.conftest import RecordedSession

# Other workers write there while the tree is copied.
IGNORED = shutil.ignore_patterns("__pycache__", ".pytest_cache", "build*")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what operators consist of."""
    for folder in ("operators", "runtime", "backends", "bindings", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=IGNORED)
    return tmp_path


def make(session: RecordedSession, tree: Path, name: str, like: str) -> list[Path]:
    """The files that were written."""
    before = {path for path in tree.rglob("*") if path.is_file()}
    new_operator.new_operator(session, Options(name=name, like=like), tree)
    return sorted({path for path in tree.rglob("*") if path.is_file()} - before)


@pytest.mark.parametrize("like", sorted(operators()))
def test_every_file_is_made_and_renamed(session: RecordedSession, tree: Path, like: str) -> None:
    written = make(session, tree, "my_op", like)
    model = operators(tree)[like]
    assert len(written) == len(list(new_operator.model_files(model, tree)))
    assert operators(tree)["my_op"].elementwise == model.elementwise
    for path in written:
        assert like not in str(path.relative_to(tree)).replace("online_softmax", "")
        text = path.read_text()
        assert not re.search(
            rf"oprt_\w+_{like}_|launch_{like}\b|{like}_plan|{like}_buffers|OPS_{like.upper()}_H", text
        ), path
        if path.suffix == ".py":
            ast.parse(text)
    header = tree / "runtime/include/operator_runtime/ops/my_op.h"
    assert "oprt_create_my_op_descriptor" in header.read_text()
    assert "what it computes" in session.text


@pytest.mark.parametrize("like", sorted(operators()))
def test_its_headers_compile(session: RecordedSession, tree: Path, like: str) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++") or pytest.skip("no C++ compiler is installed")
    make(session, tree, "my_op", like)
    folder = operators(tree)["my_op"].folder
    includes = [f"-I{tree}", f"-I{tree}/runtime/include", f"-I{tree}/operators"]
    for header in (folder / "my_op.h", tree / "runtime/include/operator_runtime/ops/my_op.h"):
        command = [
            compiler,
            "-std=c++17",
            "-fsyntax-only",
            "-Wno-pragma-once-outside-header",
            "-x",
            "c++",
            str(header),
            *includes,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_nothing_is_written_over(session: RecordedSession, tree: Path) -> None:
    there = tree / "tests" / "cases" / "gelu.py"
    there.write_text("mine\n")
    with pytest.raises(Failure, match=r"tests/cases/gelu\.py is there already"):
        make(session, tree, "gelu", "relu")
    assert there.read_text() == "mine\n"
    assert not (tree / "operators" / "elementwise" / "gelu").exists()


@pytest.mark.parametrize("name", ["Gelu", "2x", "a__b", "class", "float", "ge-lu", "_x", "shared", "relu"])
def test_a_bad_name_is_refused(session: RecordedSession, tree: Path, name: str) -> None:
    with pytest.raises(Failure) as failure:
        make(session, tree, name, "relu")
    assert name in str(failure.value)


@pytest.mark.parametrize(
    ("model", "text", "wanted"),
    [
        ("relu", "relu relu_plan oprt_a_relu_b prelu", "gelu gelu_plan oprt_a_gelu_b prelu"),
        ("relu", "RELU OPS_RELU_H TestRelu", "GELU OPS_GELU_H TestGelu"),
        ("vector_add", "vector_add VectorAdd; a vector add, vector-add", "gelu Gelu; a gelu, gelu"),
        ("copy", "x.copy() oprt.copy(x) table->copy", "x.copy() oprt.gelu(x) table->copy"),
        ("copy", "std::copy copy_plan np.copyto memcpy", "std::copy gelu_plan np.copyto memcpy"),
        ("copy", 'oprt_copy_memory copy_from "copy"', 'oprt_copy_memory copy_from "gelu"'),
        ("copy", "f(x, copy=True); copy = 1; copy == 2", "f(x, copy=True); gelu = 1; gelu == 2"),
    ],
)  # fmt: skip
def test_words(model: str, text: str, wanted: str) -> None:
    foreign = frozenset({"oprt_copy_memory", "copy_from"})
    assert new_operator.rename(text, model, "gelu", foreign, python=True) == wanted
