"""What a build does once it is done: nothing again, changes seen, modules kept apart, wrong settings refused."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.build.tiny_tree import KERNEL, TinyTree, kernel, make_tree, technique, vendor_header

BOTH = ("-DOPRT_BACKEND=nvidia;metax", "-DOPRT_DEVICES=emulator")


@pytest.fixture
def tree(tmp_path: Path) -> TinyTree:
    return make_tree(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> TinyTree:
    """Both backends for the emulator. Each test leaves it as it was."""
    made = make_tree(tmp_path_factory.mktemp("built"))
    made.configure(*BOTH)
    made.ninja()
    return made


def test_second_build_has_no_work(built: TinyTree) -> None:
    assert "no work to do" in built.ninja().stdout
    built.configure(*BOTH)
    assert "no work to do" in built.ninja().stdout
    assert (built.build / ".operator-runtime-build").is_file()
    assert (built.build / "compile_commands.json").is_file()


def test_changes_are_seen(built: TinyTree) -> None:
    added = built.root / "operators/tiny/nvidia/techniques/added.cuh"
    added.write_text(technique("nvidia", "added", 300))
    header = built.root / "runtime/include/operator_runtime/ops/added.h"
    header.write_text("int oprt_added(void);\n")
    built.ninja()
    assert set(built.launchers("camp_ops_nvidia_emulator.so")) == {"", "added", "other"}
    assert "operator_runtime/ops/added.h" in (built.build / "generated/operator_runtime/ops.h").read_text()
    added.unlink()
    header.unlink()
    plan = built.root / "operators/tiny/tiny.h"
    hash_header = built.build / "generated/plan_hash/tiny.h"
    before = hash_header.read_text()
    plan.write_text(plan.read_text() + "// another plan\n")
    built.ninja()
    assert set(built.launchers("camp_ops_nvidia_emulator.so")) == {"", "other"}
    assert hash_header.read_text() != before


def test_modules_side_by_side_share_nothing(built: TinyTree) -> None:
    assert built.launchers("camp_ops_nvidia_emulator.so")[""].value == 100
    assert built.launchers("camp_ops_metax_emulator.so")[""].value == 100, "calls<T>() is shared"


def test_modules_that_are_no_target_go(built: TinyTree) -> None:
    stale = [built.build / "camp_ops_nvidia.so", built.build / "overlay/camp_ops_metax_emulator.so"]
    for file in stale:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"of an older configuration")
    built.configure(*BOTH)
    assert not any(file.exists() for file in stale)
    assert (built.build / "camp_ops_nvidia_emulator.so").exists()


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        (["-DOPRT_BACKEND=amd"], ["OPRT_BACKEND", '"amd"', "metax, nvidia"]),
        (["-DOPRT_BACKEND=nvidia", "-DOPRT_DEVICES=tpu"], ["OPRT_DEVICES", '"tpu"', "emulator, gpu"]),
        (
            ["-DOPRT_BACKEND=metax", "-DOPRT_DEVICES=gpu", "-DMACA_PATH=/none"],
            ["/none/mxgpu_llvm/bin/mxcc", "MACA_PATH"],
        ),
    ],
)
def test_wrong_settings_are_refused(tree: TinyTree, definitions: list[str], words: list[str]) -> None:
    refused = tree.configure(*definitions, check=False)
    assert refused.returncode != 0
    message = " ".join(refused.stdout.split())
    assert all(word in message for word in words), message


def test_editor_resolves_kernels_without_an_sdk(built: TinyTree) -> None:
    host, *rules = (built.root / ".clangd").read_text().split("---\n")
    assert f"CompilationDatabase: {built.build}\n" in host
    kernels = [f"operators/tiny/{backend}/{name}" for backend, name in KERNEL.items()]
    for kernel_file in [*kernels, "operators/tiny/nvidia/tiny_cuda.cu", "operators/tiny/tiny.h"]:
        path = str(built.root / kernel_file)
        rule = next(rule for rule in rules if re.fullmatch(rule.split("PathMatch: ")[1].split("\n")[0], kernel_file))
        flags = [line.removeprefix("    - ") for line in rule.splitlines() if line.startswith("    - ")]
        done = subprocess.run(["c++", "-fsyntax-only", "-w", *flags, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow  # nox -s compile-nvidia compiles the real tree
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_nvidia_gpu_build_needs_no_gpu(tree: TinyTree) -> None:
    mine = tree.workspace / "tiny/nvidia/kernel.cuh"
    gpu = ["-DOPRT_DEVICES=gpu", "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"]
    tree.configure("-DOPRT_BACKEND=nvidia", *gpu, f"-DOPRT_KERNELS={tree.workspace}")
    tree.ninja()
    assert set(tree.launchers("camp_ops_nvidia.so", run=False)) == {"", "other"}
    mine.parent.mkdir(parents=True)
    mine.write_text(kernel("nvidia", 1))
    tree.ninja("camp_ops_nvidia_overlay")
    assert tree.launchers("overlay/camp_ops_nvidia.so", run=False)[""].path == str(mine)
    mine.write_text("this is no C++\n")
    failed = tree.ninja("camp_ops_nvidia_overlay", check=False)
    assert f"{mine}(1)" in failed.stdout, "nvcc's message must name the learner's file"


MXCC = """\
#!/bin/sh
echo "$@" >>{log}
for argument; do
    shift
    case "$argument" in
        --offload-arch=* | --maca-path=*) ;;
        maca) set -- "$@" c++ ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec c++ "$@"
"""


def test_metax_gpu_build_calls_mxcc_as_it_wants(tree: TinyTree) -> None:
    """mxcc is a script that notes its arguments and lets the host compiler do the work."""
    sdk = tree.root / "maca"
    log = tree.root / "mxcc.log"
    mxcc = sdk / "mxgpu_llvm/bin/mxcc"
    mxcc.parent.mkdir(parents=True)
    mxcc.write_text(MXCC.format(log=log))
    mxcc.chmod(mxcc.stat().st_mode | stat.S_IXUSR)
    (sdk / "include/mcr").mkdir(parents=True)
    (sdk / "include/mcr/mc_runtime.h").write_text(vendor_header("metax", emulator=False))
    (sdk / "lib").mkdir()
    subprocess.run(["c++", "-shared", "-fPIC", "-x", "c++", "/dev/null", "-o", sdk / "lib/libmcruntime.so"], check=True)
    tree.configure("-DOPRT_BACKEND=metax", "-DOPRT_DEVICES=gpu", f"-DMACA_PATH={sdk}", f"-DCMAKE_BUILD_RPATH={sdk}/lib")
    tree.ninja()
    launched = tree.launchers("camp_ops_metax.so")
    assert set(launched) == {"", "other"}
    assert "no work to do" in tree.ninja().stdout
    for line in log.read_text().splitlines():
        words = line.split()
        assert words[:2] == ["-x", "maca"], "the language stands before the source"
        assert "-fPIC" in words
        assert "--offload-arch=xcore1000" in words
        assert not any(word == "-pthread" or word.startswith("-B") for word in words)
