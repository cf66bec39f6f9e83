"""Search, refusal and reload of backend modules, and the process default CAMP_DEVICE, seen through a C99 program."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.runtime.workshop import HERE, LIBRARY, Workshop, clean_environment, module_name, run

NVIDIA_GPU, NVIDIA_EMULATOR, METAX_EMULATOR = "1 2 0", "1 1 0", "2 1 0"


class Stage:
    """A folder with the library and the reporting program, without any module until a test puts one there."""

    def __init__(self, workshop: Workshop, folder: Path) -> None:
        self.workshop = workshop
        self.own = folder / "build-here"
        self.own.mkdir()
        self.program = self.own / "report"
        shutil.copy2(workshop.build / LIBRARY, self.own / LIBRARY)
        shutil.copy2(workshop.compile(HERE / "report.c", "report"), self.program)

    def folder(self, name: str) -> Path:
        made = self.own.parent / name
        made.mkdir(exist_ok=True)
        return made

    def put(self, folder: Path, backend: str = "nvidia", kind: str = "emulator") -> Path:
        return Path(shutil.copy2(self.workshop.fake_module(backend, kind), folder / module_name(backend, kind)))

    def ask(self, *lines: str, cwd: Path | None = None, **variables: str) -> list[tuple[str, str]]:
        given = "".join(line + "\n" for line in lines)
        output = run(self.program, environment=clean_environment(**variables), given=given, cwd=cwd)
        return [(line.partition(" ")[0], line.partition(" ")[2]) for line in output.splitlines()]

    def ask_one(self, line: str, cwd: Path | None = None, **variables: str) -> tuple[str, str]:
        return self.ask(line, cwd=cwd, **variables)[0]

    @contextmanager
    def conversation(self) -> Iterator[subprocess.Popen[str]]:
        pipe = subprocess.PIPE
        with subprocess.Popen([self.program], stdin=pipe, stdout=pipe, text=True, env=clean_environment()) as process:
            yield process
            assert process.stdin is not None
            process.stdin.close()


@pytest.fixture
def stage(workshop: Workshop, tmp_path: Path) -> Stage:
    return Stage(workshop, tmp_path)


def said(process: subprocess.Popen[str], line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_missing_module_names_every_place_and_the_command(stage: Stage) -> None:
    first, second = stage.folder("first"), stage.folder("second")
    status, message = stage.ask_one(METAX_EMULATOR, CAMP_BUILD_DIR=os.pathsep.join([str(first), "", str(second)]))
    assert status == "OPRT_ERR_BACKEND_UNAVAILABLE"
    assert "metax emulator is not built; build it: nox -s build-metax -- --device emulator" in message
    places = [first, second, stage.own, stage.own.parent / "build-metax"]
    found = [message.index(f"{place}/camp_ops_metax_emulator.so: No such file or directory") for place in places]
    assert found == sorted(found)


def test_nothing_built_lists_every_candidate(stage: Stage) -> None:
    status, message = stage.ask_one("default")
    assert status == "OPRT_ERR_BACKEND_UNAVAILABLE"
    for candidate in ("nvidia gpu:0", "metax gpu:0", "nvidia emulator", "metax emulator"):
        assert f"{candidate} is not built" in message


def test_search_order(stage: Stage) -> None:
    first, second, sibling = stage.folder("first"), stage.folder("second"), stage.folder("build-nvidia")
    variables = {"CAMP_BUILD_DIR": f"{first}{os.pathsep}{second}"}
    for folder in (sibling, stage.own, second, first):
        module = stage.put(folder)
        assert stage.ask_one(NVIDIA_EMULATOR, **variables) == ("OPRT_SUCCESS", str(module))


def test_relative_folders_are_made_absolute(stage: Stage) -> None:
    module = stage.put(stage.folder("somewhere"))
    answer = stage.ask_one(NVIDIA_EMULATOR, cwd=stage.own.parent, CAMP_BUILD_DIR="somewhere")
    assert answer == ("OPRT_SUCCESS", str(module))


def test_own_folder_is_absolute_under_a_relative_library_path(stage: Stage) -> None:
    module = stage.put(stage.own)
    elsewhere = stage.folder("elsewhere")
    program = shutil.copy2(stage.program, elsewhere / "report")
    variables = clean_environment(LD_LIBRARY_PATH="build-here")
    output = run(Path(program), environment=variables, given=NVIDIA_EMULATOR + "\n", cwd=stage.own.parent)
    assert output == f"OPRT_SUCCESS {module}\n"


def test_module_of_other_headers_is_refused(stage: Stage) -> None:
    module = stage.put(stage.own)
    here = stage.workshop.interface_hash.encode()
    module.write_bytes(module.read_bytes().replace(here, here[::-1]))
    status, message = stage.ask_one(NVIDIA_EMULATOR)
    assert status == "OPRT_ERR_BACKEND_UNAVAILABLE"
    assert f"{module} was built from other headers than this library; build it again: nox -s build-nvidia" in message


def test_refused_module_is_not_passed_over(stage: Stage) -> None:
    broken = stage.put(stage.folder("first"))
    broken.write_text("no library\n")
    stage.put(stage.own)
    status, message = stage.ask_one(NVIDIA_EMULATOR, CAMP_BUILD_DIR=str(broken.parent))
    assert status == "OPRT_ERR_BACKEND_UNAVAILABLE"
    assert f"{broken} cannot be loaded (" in message


def test_other_libraries_are_refused(stage: Stage) -> None:
    shutil.copy2(stage.own / LIBRARY, stage.own / module_name("nvidia", "gpu"))
    assert "is no backend module (it has no oprt_get_module)" in stage.ask_one(NVIDIA_GPU)[1]
    shutil.copy2(stage.workshop.fake_module("metax", "emulator"), stage.own / module_name("nvidia", "emulator"))
    assert "is a module for metax emulator" in stage.ask_one(NVIDIA_EMULATOR)[1]


def test_module_that_is_built_later_is_found(stage: Stage) -> None:
    with stage.conversation() as process:
        assert said(process, METAX_EMULATOR).startswith("OPRT_ERR_BACKEND_UNAVAILABLE")
        module = stage.put(stage.own, "metax")
        assert said(process, METAX_EMULATOR) == f"OPRT_SUCCESS {module}"
        module.unlink()
        assert said(process, METAX_EMULATOR) == f"OPRT_SUCCESS {module}"  # once open, it stays


def test_stale_module_that_is_built_again_is_taken(stage: Stage) -> None:
    module = stage.put(stage.own)
    good = module.read_bytes()
    here = stage.workshop.interface_hash.encode()
    module.write_bytes(good.replace(here, here[::-1]))
    with stage.conversation() as process:
        assert "was built from other headers" in said(process, NVIDIA_EMULATOR)
        module.unlink()
        module.write_bytes(good)
        assert said(process, NVIDIA_EMULATOR) == f"OPRT_SUCCESS {module}"


def test_device_from_the_environment(stage: Stage) -> None:
    gpu, emulator = stage.put(stage.own, kind="gpu"), stage.put(stage.own)
    expected = {"": gpu, "auto": gpu, "gpu": gpu, "gpu:1": gpu, "emulator": emulator}
    for value, module in expected.items():
        assert stage.ask_one("default", CAMP_DEVICE=value) == ("OPRT_SUCCESS", str(module))
    status, message = stage.ask_one("default", CAMP_DEVICE="gpu:2")
    assert status == "OPRT_ERR_DEVICE_UNAVAILABLE"
    assert "nvidia gpu:2 is not there: nvidia has 2 of them" in message


@pytest.mark.parametrize("value", ["cpu", "GPU", "gpu:", "gpu:-1", "gpu:x", "gpu:99999999999", " gpu", "emulator:0"])
def test_bad_device_in_the_environment(stage: Stage, value: str) -> None:
    stage.put(stage.own)
    wanted = f'CAMP_DEVICE is "{value}", wanted auto, emulator, gpu or gpu:N'
    assert stage.ask("default", "default", CAMP_DEVICE=value) == [("OPRT_ERR_INVALID_ARGUMENT", wanted)] * 2
    # A selection of one's own comes first.
    assert stage.ask_one(NVIDIA_EMULATOR, CAMP_DEVICE=value)[0] == "OPRT_SUCCESS"
