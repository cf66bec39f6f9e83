"""The noxfile and the pages say the same: variables, links, sessions. Foreign folders are left alone."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import pytest

from tasks import configure, environment, links, testing, toolchain
from tasks.arguments import Options
from tasks.project import MARKER, ROOT, WORKSPACE, Failure, operators
from tests.nox.conftest import RecordedSession


def test_readme_has_every_variable_once() -> None:
    table = (ROOT / "README.md").read_text().partition("## Variables")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.+?) \|$", table, re.MULTILINE))
    assert rows == {variable.name: variable.meaning for variable in environment.VARIABLES}


def test_readme_has_every_operator() -> None:
    table = (ROOT / "README.md").read_text().partition("| Operator |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(operators())


def test_clean_leaves_what_is_not_its_own(
    session: RecordedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_DIR", str(tmp_path))
    (tmp_path / "letter.txt").touch()
    with pytest.raises(Failure, match=MARKER):
        configure.clean(session, "nvidia")
    assert (tmp_path / "letter.txt").exists()
    (tmp_path / MARKER).touch()
    configure.clean(session, "nvidia")
    assert not tmp_path.exists()
    configure.clean(session, "nvidia")
    assert "nothing to remove" in session.text


def test_a_foreign_folder_is_not_built_into(
    session: RecordedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_DIR", str(tmp_path))
    (tmp_path / "letter.txt").touch()
    with pytest.raises(Failure, match="not made by this project"):
        configure.configure(session, "nvidia", Options(), "emulator")


def test_a_folder_of_the_other_backend_is_not_built_into(
    session: RecordedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_DIR", str(tmp_path))
    (tmp_path / MARKER).touch()
    (tmp_path / configure.SETTINGS).write_text('{"OPRT_BACKEND": "metax"}')
    with pytest.raises(Failure, match="holds the build of metax"):
        configure.configure(session, "nvidia", Options(), "emulator")


def test_a_folder_of_kernels_that_is_gone_is_forgotten(session: RecordedSession, tmp_path: Path) -> None:
    kept, tree = tmp_path / "mine", tmp_path / "build"
    kept.mkdir()
    tree.mkdir()
    for folder, wanted in ((kept, kept), (tmp_path / "gone", WORKSPACE)):
        settings = configure._settings(session, "nvidia", Options(), "emulator", {"OPRT_KERNELS": str(folder)})
        assert settings["OPRT_KERNELS"] == str(wanted)


@pytest.mark.parametrize("before", [None, "89"])
def test_compiling_for_all_architectures_leaves_the_variable_as_it_was(
    session: RecordedSession, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    name = "CMAKE_CUDA_ARCHITECTURES"
    if before is None:
        monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv(name, before)
    during = []
    for outcome in (None, Failure("nvcc fails")):

        def build(*_: object, outcome: Failure | None = outcome) -> None:
            during.append(os.environ[name])
            if outcome:
                raise outcome

        monkeypatch.setattr(configure, "build", build)
        with pytest.raises(Failure) if outcome else contextlib.nullcontext():
            testing.compile_nvidia(session)
        assert os.environ.get(name) == before
    assert during == [before or toolchain.PORTABLE_ARCHITECTURES] * 2


def test_a_crash_in_a_child_is_told_on_its_error_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAMP_EMULATOR_REPORT_FD", raising=False)
    assert environment.child_environment()["CAMP_EMULATOR_REPORT_FD"] == "2"
    monkeypatch.setenv("CAMP_EMULATOR_REPORT_FD", "7")
    assert environment.child_environment()["CAMP_EMULATOR_REPORT_FD"] == "7"


@pytest.mark.parametrize("gpus", [0, 1])
def test_bench_passes_its_options_on(session: RecordedSession, monkeypatch: pytest.MonkeyPatch, gpus: int) -> None:
    """Devices of one kind write themselves; the parts of several kinds are joined."""
    commands: list[list[str]] = []
    devices = {"nvidia": "gpu" if gpus else "emulator", "metax": "emulator"}
    monkeypatch.setattr(testing.toolchain, "run_device", lambda backend, asked: (devices[backend], "a test"))
    monkeypatch.setattr(testing.overlay, "build", lambda session, backend, options, device: ROOT / f"build-{backend}")
    monkeypatch.setattr(
        testing.environment, "run", lambda session, *words, env=None: commands.append([str(word) for word in words])
    )
    testing.bench(session, Options(json=Path("/a.json"), plots=Path("/b"), peers="torch", overlap=True))
    for command in commands[: 1 + gpus]:
        assert command[:3] == ["python", "-m", "tests.run_ops"]
        assert command[command.index("--peers") + 1] == "torch"
        assert "--overlap" in command
    assert commands[-1][-4:] == ["--json", "/a.json", "--plots", "/b"]
    assert len(commands) == (3 if gpus else 1)
    if gpus:
        assert commands[-1][:4] == ["python", "-m", "tests.benchmark.output", "--quiet"]
        parts = [command[command.index("--json") + 1] for command in commands[:2]]
        assert commands[-1][4:-4] == parts


def test_links(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("# The guide\n[back](../README.md) [lost](lost.md)\n")
    text = "[a](docs/guide.md#the-guide) [b](docs/guide.md#x) [c](https://example.org)\n"
    text += "`nox -s build-nvidia build-x -- -v`, nox -s test.\n"
    (tmp_path / "README.md").write_text(text)
    sessions = {"build-nvidia", "test"}
    found = [problem for page in links.pages_of(tmp_path) for problem in links.problems_of(page, tmp_path, sessions)]
    assert found == [
        "README.md: docs/guide.md#x: there is no such heading",
        "README.md: nox has no session build-x",
        "docs/guide.md: lost.md does not exist",
    ]


def test_variables_are_all_printed_with_their_origin(session: RecordedSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMP_EMULATOR_ORDER", "warp-first")
    monkeypatch.setenv("CMAKE_CUDA_ARCHITECTURES", "89")
    monkeypatch.delenv("CAMP_EMULATOR_THREADS", raising=False)
    rows = {name: (value, origin) for name, value, origin in configure.describe(session, "nvidia", None)}
    assert set(rows) >= {variable.name for variable in environment.VARIABLES if variable.backend != "metax"}
    assert rows["CAMP_EMULATOR_ORDER"] == ("warp-first", "environment")
    assert rows["CMAKE_CUDA_ARCHITECTURES"] == ("89", "environment")
    assert rows["CAMP_EMULATOR_THREADS"][1] == "default"


def test_the_hosted_checks_are_those_of_the_script() -> None:
    """Both call nox with the same words; the hosted tests run each backend on a machine of its own."""
    ran = re.findall(r"^run (-.*?)(?: *#.*)?$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    hosted = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "-s test" in ran and len(ran) >= 3
    for words in ran:
        words = words.replace("-s test", "-s test-${{ matrix.backend }}") if words == "-s test" else words
        assert re.search(rf"run: nox {re.escape(words)}(?![ -]*-- )", hosted), f"ci.yml lacks: nox {words}"
