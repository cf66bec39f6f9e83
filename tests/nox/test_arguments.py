"""The one parser: what each option means, and that a mistake is one sentence that names what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks import toolchain
from tasks.arguments import BENCH_OPTIONS, TEST_OPTIONS, Options, parse, split_own
from tasks.project import BACKENDS, ROOT, Failure, operators


def read(*words: str, **settings: Any) -> Options:
    settings.setdefault("environment", {})
    return parse(words, prog="nox -s test-nvidia", folder=settings.pop("folder", ROOT), **settings)


def test_nothing_means_everything() -> None:
    options = read()
    assert (options.ops, options.backends, options.device, options.kernels) == ([], BACKENDS, None, None)


@pytest.mark.parametrize(
    "words", [("--op", "copy,relu"), ("--op", "copy", "--op", "relu"), ("--op=copy", "--op=copy,relu")]
)
def test_operators_are_repeated_or_listed(words: tuple[str, ...]) -> None:
    assert read(*words).ops == ["copy", "relu"]


def test_all_is_every_operator_and_backend() -> None:
    options = read("--op", "all", "--backend", "all")
    assert (options.ops, options.backends) == ([], BACKENDS)


def test_pytest_gets_the_rest_in_order() -> None:
    options = read("-v", "--op", "copy", "-k", "blocks or empty", "tests/op_tests/test_copy.py", pytest=True)
    assert options.rest == ["-v", "-k", "blocks or empty", "tests/op_tests/test_copy.py"]


def test_paths_belong_to_the_folder_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").touch()
    options = read("test_mine.py::test_it", "-k", "mine", pytest=True, folder=tmp_path)
    assert options.rest == [f"{tmp_path}/test_mine.py::test_it", "-k", "mine"]
    written = read("--json", "a.json", "--csv", "a.csv", "--plots", "pictures", "--compare", "b.json", folder=tmp_path)
    assert [path.name for path in (written.json, written.csv, written.plots, written.compare) if path] == [
        "a.json",
        "a.csv",
        "pictures",
        "b.json",
    ]
    assert written.csv == tmp_path / "a.csv"


def test_peers_are_all_or_some() -> None:
    assert (read().peers, read("--peers").peers, read("--peers", "torch,triton").peers) == (None, "all", "torch,triton")
    assert (read().overlap, read("--overlap").overlap) == (False, True)


def test_kernels_folder(tmp_path: Path) -> None:
    assert read("--kernels", str(tmp_path)).kernels == tmp_path
    assert read(environment={"CAMP_KERNELS": str(tmp_path)}).kernels == tmp_path
    assert read("--kernels", ".", folder=tmp_path).kernels == tmp_path
    assert read("--kernels", str(tmp_path / "new"), new_folder=True).kernels == tmp_path / "new"


def test_device_from_the_environment_yields_to_the_option() -> None:
    assert read(environment={"CAMP_DEVICE": "gpu:1"}).device == "gpu:1"
    assert read("--device", "emulator", environment={"CAMP_DEVICE": "gpu"}).device == "emulator"


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (("--op", "sofmax"), ["'sofmax'", "did you mean softmax?", *operators()]),
        (("--backend", "nvdia"), ["'nvdia'", "did you mean nvidia?", *BACKENDS]),
        (("--device", "gup"), ["'gup'", "did you mean gpu?", "emulator", "gpu:N"]),
        (("--device", "gpu:x"), ["'gpu:x'"]),
        (("--level", "5"), ["5", "1 to 4"]),
        (("--level", "one"), ["--level", "'one'"]),
        (("--kernels", "no/such/folder"), ["--kernels", "no/such/folder"]),
        (("--json", "no/such/folder/out.json"), ["--json", "no/such/folder"]),
        (("--csv", "no/such/folder/out.csv"), ["--csv", "no/such/folder"]),
        (("--sanitize",), ["--sanitize", "not there yet"]),
        (("--like", "rellu"), ["'rellu'", "did you mean relu?"]),
        (("--dvice", "gpu"), ["--dvice", "did you mean --device?"]),
        (("whatever",), ["whatever"]),
        (("--op",), ["--op", "expected one argument"]),
    ],
)
def test_a_mistake_is_one_sentence(words: tuple[str, ...], pieces: list[str]) -> None:
    with pytest.raises(Failure) as failure:
        read(*words)
    message = str(failure.value)
    assert "\n" not in message
    assert [piece for piece in pieces if piece not in message] == []


def test_all_gpus_are_for_bench_only() -> None:
    assert read("--device", "gpu:all", concerns=BENCH_OPTIONS).device == "gpu:all"
    with pytest.raises(Failure, match="gpu:all is for bench"):
        read("--device", "gpu:all", concerns=TEST_OPTIONS)
    assert read("--device", "gpu:all", concerns=("--fix",)).device == "gpu:all"  # lint beside bench does not care
    with pytest.raises(Failure, match="CAMP_DEVICE: no device is called 'gpu:all'"):
        read(environment={"CAMP_DEVICE": "gpu:all"}, concerns=BENCH_OPTIONS)


def test_all_gpus_are_compiled_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpu_count", lambda backend: 2)
    assert toolchain.run_device("nvidia", "gpu:all")[0] == "gpu:all"
    assert toolchain.build_device("nvidia", "gpu:all")[0] == "gpu"
    with pytest.raises(Failure, match="0 to 1 only"):
        toolchain.run_device("nvidia", "gpu:2")
    monkeypatch.setattr(toolchain, "gpu_count", lambda backend: 0)
    with pytest.raises(Failure, match="--device gpu:all: no NVIDIA GPU"):
        toolchain.run_device("nvidia", "gpu:all")


def test_a_session_of_one_backend_names_the_other() -> None:
    assert read("--backend", "nvidia", backend="nvidia").backends == ("nvidia",)
    with pytest.raises(Failure, match="nox -s test-metax"):
        read("--backend", "metax", backend="nvidia")


def test_sanitizer_variable() -> None:
    assert read(environment={"CAMP_SANITIZE": "0"}).ops == []
    with pytest.raises(Failure, match="CAMP_SANITIZE"):
        read(environment={"CAMP_SANITIZE": "1"})


def test_help_shows_what_concerns_the_session(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read("-h", concerns=("--op",), description="Does it.")
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert "nox -s test-nvidia -- " in shown and "--op" in shown and "--batch" not in shown


@pytest.mark.parametrize(
    ("words", "own", "rest"),
    [
        (["script.py", "--kernels"], [], ["script.py", "--kernels"]),
        (["--kernels", "script.py"], ["--kernels"], ["script.py"]),
        (["--kernels", "folder", "script.py"], ["--kernels", "folder"], ["script.py"]),
        (["--kernels=x", "--backend", "metax", "-c", "pass"], ["--kernels=x", "--backend", "metax"], ["-c", "pass"]),
        (["-m", "pytest", "-h"], [], ["-m", "pytest", "-h"]),
        (["-h"], ["-h"], []),
    ],
)
def test_python_keeps_its_own_words(words: list[str], own: list[str], rest: list[str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert split_own(words, ("--kernels", "--backend", "--device"), tmp_path) == (own, rest)
