"""The learner's module: a file that appears, changes, breaks, goes or turns older is seen without a configure."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.build.tiny_tree import KERNEL, TinyTree, kernel, make_tree

REFERENCE = 100


@pytest.fixture(params=["nvidia", "metax"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> TinyTree:
    made = make_tree(tmp_path_factory.mktemp("overlay"))
    made.configure("-DOPRT_BACKEND=nvidia;metax", "-DOPRT_DEVICES=emulator", f"-DOPRT_KERNELS={made.workspace}")
    made.ninja()
    return made


@pytest.fixture
def tree(built: TinyTree) -> TinyTree:
    """The built checkout with an empty workspace."""
    shutil.rmtree(built.workspace, ignore_errors=True)
    return built


def test_life_of_a_learners_file(tree: TinyTree, backend: str) -> None:
    mine = tree.workspace / "tiny" / backend / KERNEL[backend]
    target, module = f"camp_ops_{backend}_emulator_overlay", f"overlay/camp_ops_{backend}_emulator.so"

    def built() -> tuple[str, float]:
        tree.ninja(target)
        launched = tree.launchers(module)
        assert list(launched) == [""], "the learner's module holds no techniques"
        kernel_file = Path(launched[""].path)
        assert launched[""].sha256 == hashlib.sha256(kernel_file.read_bytes()).hexdigest()
        return str(kernel_file), launched[""].value

    reference = str(tree.root / "operators/tiny" / backend / KERNEL[backend])
    assert built() == (reference, REFERENCE)

    mine.parent.mkdir(parents=True)
    mine.write_text(kernel(backend, 1))
    os.utime(mine, (1e9, 1e9))  # appears with an old time
    assert built() == (str(mine), 1)

    mine.write_text(kernel(backend, 2))
    assert built() == (str(mine), 2)

    mine.write_text(kernel(backend, 3))
    os.utime(mine, (1e9, 1e9))  # replaced by an older file
    assert built() == (str(mine), 3)

    (mine.parent / "mine.h").write_text("constexpr int mine = 4;\n")
    mine.write_text('#include "mine.h"\n' + kernel(backend, 0).replace("= 0 +", "= mine +"))
    assert built() == (str(mine), 4)
    (mine.parent / "mine.h").write_text("constexpr int mine = 5;\n")
    assert built() == (str(mine), 5)

    mine.write_text(kernel(backend, 6) + "\nthis is no C++\n")
    failed = tree.ninja(target, check=False)
    assert failed.returncode != 0
    assert f"{mine}:" in failed.stdout, "the compiler's message must name the learner's file"
    assert "no work to do" in tree.ninja().stdout, "a broken learner's file must not touch the plain build"

    mine.write_text(kernel(backend, 7))
    assert built() == (str(mine), 7)

    mine.unlink()
    assert built() == (reference, REFERENCE)


def test_plain_module_keeps_the_reference(tree: TinyTree, backend: str) -> None:
    mine = tree.workspace / "tiny" / backend / KERNEL[backend]
    mine.parent.mkdir(parents=True)
    mine.write_text(kernel(backend, 1))
    tree.ninja()
    launched = tree.launchers(f"camp_ops_{backend}_emulator.so")
    assert {name: entry.value for name, entry in launched.items()} == {"": REFERENCE, "other": 201}


def test_a_file_of_no_operator_is_said(tree: TinyTree, backend: str) -> None:
    stray = tree.workspace / "tinny" / backend / KERNEL[backend]
    stray.parent.mkdir(parents=True)
    stray.write_text(kernel(backend, 1))
    output = tree.ninja().stdout.replace("\n", " ")
    assert "tinny" in output
    assert "no known operator" in output
