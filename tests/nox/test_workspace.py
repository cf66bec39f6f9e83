"""The learner's workspace: made once, never written over, a git repository of its own; compiler output made short."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tasks import check, compile_errors, learn
from tasks.arguments import Options
from tasks.project import BACKENDS, Failure, learner_file, operators
from tests.nox.conftest import RecordedSession

EXERCISES = [(op, backend) for op in operators().values() for backend in BACKENDS if op.scaffold(backend)]


def options_for(workspace: Path, op: str, *backends: str) -> Options:
    return Options(ops=[op], backends=backends or BACKENDS, backend_given=bool(backends), kernels=workspace)


def test_every_operator_but_the_worked_example_has_exercises() -> None:
    assert {op.name for op, _ in EXERCISES} == set(operators()) - {"relu"}
    assert len(EXERCISES) == len(BACKENDS) * (len(operators()) - 1)


@pytest.mark.parametrize(("op", "backend"), EXERCISES, ids=lambda value: getattr(value, "name", value))
def test_exercise_is_copied_with_what_to_do(session: RecordedSession, tmp_path: Path, op: object, backend: str) -> None:
    name = getattr(op, "name", "")
    learn.learn(session, options_for(tmp_path / "mine", name, backend))
    file = learner_file(tmp_path / "mine", name, backend)
    assert learn.untouched(operators()[name], backend, file)
    assert f"nox -s check -- --op {name}" in session.text and str(file) in session.text


def test_work_is_never_written_over(session: RecordedSession, tmp_path: Path) -> None:
    file = learner_file(tmp_path, "vector_add", "nvidia")
    file.parent.mkdir(parents=True)
    file.write_text("// mine\n")
    (tmp_path / "README.md").write_text("my notes\n")
    learn.learn(session, options_for(tmp_path, "vector_add", "nvidia"))
    assert file.read_text() == "// mine\n"
    assert (tmp_path / "README.md").read_text() == "my notes\n"
    assert "left as it is" in session.text


def test_without_a_backend_the_first_is_taken(session: RecordedSession, tmp_path: Path) -> None:
    learn.learn(session, options_for(tmp_path, "softmax"))
    assert [learner_file(tmp_path, "softmax", backend).exists() for backend in BACKENDS] == [True, False]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_workspace_is_a_repository_of_its_own(
    session: RecordedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))  # as inside a git hook
    workspace = tmp_path / "mine"
    learn.learn(session, options_for(workspace, "vector_add", "nvidia"))
    (workspace / "notes.txt").write_text("not yet committed\n")
    learn.learn(session, options_for(workspace, "copy", "nvidia"))
    monkeypatch.delenv("GIT_DIR")

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=workspace, capture_output=True, text=True, check=True).stdout

    assert git("log", "--format=%s").splitlines() == ["Start copy/nvidia", "Start vector_add/nvidia"]
    assert git("status", "--porcelain").splitlines() == ["?? notes.txt"]
    assert "copy/nvidia/kernel.cuh" in git("ls-files")


def test_worked_example_has_no_exercise(session: RecordedSession, tmp_path: Path) -> None:
    with pytest.raises(Failure, match="worked example, read operators/elementwise/relu"):
        learn.learn(session, options_for(tmp_path, "relu", "nvidia"))
    assert not any(tmp_path.iterdir())


def test_without_a_name_the_exercises_are_listed(session: RecordedSession) -> None:
    with pytest.raises(Failure, match="copy, reduce_sum, softmax, vector_add"):
        learn.learn(session, Options())


def test_check_knows_no_techniques(session: RecordedSession, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"--technique warp.*nox -s test -- --op copy --technique warp"):
        check.check(session, Options(ops=["copy"], kernels=tmp_path, technique="warp"))


def test_check_names_operator_and_backend_once_in_a_row(
    session: RecordedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = learner_file(tmp_path, "copy", "metax")
    file.parent.mkdir(parents=True)
    file.touch()

    def fail(*_: object) -> str:
        raise Failure("copy on metax: level 1 fails\nhow")

    monkeypatch.setattr(check, "_check_file", fail)
    with pytest.raises(Failure, match=r"^copy on metax: level 1 fails$"):
        check.check(session, Options(ops=["copy"], kernels=tmp_path))
    assert session.lines[-2:] == ["copy  nvidia  not started", "copy  metax   level 1 fails"]


BROKEN = """\
template <typename T>
void launch(T *x) {
    x[0] = 1;
    x[1] = missing;
}
template void launch<float>(float *);
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_errors_are_shown_with_the_learners_line(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    file = tmp_path / "kernel.cuh"
    file.write_text(BROKEN)
    source = tmp_path / "launcher.cc"
    source.write_text(f'#include "{file}"\n')
    done = subprocess.run([compiler, "-c", "-o", "/dev/null", str(source)], capture_output=True, text=True, check=False)
    output = f"[1/2] Building launcher.o\nFAILED: launcher.o\n{compiler} -c launcher.cc\n{done.stderr}ninja: stopped.\n"
    assert compile_errors.blames(output, file)
    lines = compile_errors.short(output, file, "workspace/kernel.cuh").splitlines()
    assert re.match(r"workspace/kernel\.cuh:4:\d+: error", lines[0])
    assert any("x[1] = missing;" in line for line in lines)
    assert not any("ninja" in line or "FAILED" in line or str(tmp_path) in line for line in lines)


def test_errors_of_nvcc(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cuh"
    file.touch()
    diagnostic = f'{file}(12): error: identifier "missing" is undefined\n      x[0] = missing;\n      ^\n'
    output = f"[1/9] Building CUDA object\nFAILED: x\n{diagnostic}\n1 error detected\n"
    assert compile_errors.short(output, file, "mine").splitlines() == [
        'mine(12): error: identifier "missing" is undefined',
        "      x[0] = missing;",
        "      ^",
    ]


def test_unknown_output_ends_with_its_last_lines(tmp_path: Path) -> None:
    output = "\n".join(f"line {number}" for number in range(100))
    assert compile_errors.short(output, tmp_path / "kernel.cuh", "mine").splitlines()[-1] == "line 99"
    assert not compile_errors.blames(output, tmp_path / "kernel.cuh")
