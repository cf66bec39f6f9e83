"""The C++ programs of this folder, one test a TEST: api, threads, exhaustion, locks on fakes, device on real ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.harness.targets import Target
from tests.runtime.workshop import HERE, LIBRARY, Locked, Workshop, clean_environment, run


def names_in(program: str) -> list[str]:
    return re.findall(r"^TEST\((\w+)\)", (HERE / f"{program}.cc").read_text(), re.MULTILINE)


ON_FAKES = [(program, name) for program in ("api", "threads", "exhaustion", "locks") for name in names_in(program)]


def takes_operator_new_from_outside(library: Path) -> bool:
    listing = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True)
    return "_Znwm" in listing.stdout


def program_among_fakes(workshop: Workshop, program: str) -> Path:
    """A folder with the library, the program, and two modules: nvidia with two GPUs, and metax with an emulator."""
    folder = workshop.shared / "among-fakes"
    parts = [
        workshop.build / LIBRARY,
        workshop.fake_module("nvidia", "gpu"),
        workshop.fake_module("metax", "emulator"),
        workshop.compile(HERE / f"{program}.cc", program),
    ]
    with Locked(workshop.shared / "among-fakes.lock"):
        folder.mkdir(exist_ok=True)
        for part in parts:
            if not (folder / part.name).exists():
                shutil.copy2(part, folder / part.name)
    return folder / program


@pytest.mark.parametrize(("program", "name"), ON_FAKES, ids=[f"{program}-{name}" for program, name in ON_FAKES])
def test_on_fake_modules(workshop: Workshop, program: str, name: str) -> None:
    if program == "exhaustion" and not takes_operator_new_from_outside(workshop.build / LIBRARY):
        pytest.skip("the C++ compiler links its library statically: the program cannot replace operator new")
    run(program_among_fakes(workshop, program), name, environment=clean_environment())


def on_target(workshop: Workshop, oprt: Any, target: Target, **variables: str) -> dict[str, str]:
    """An environment in which a program finds the library and the target's module."""
    folders = [str(Path(oprt.module_path(**target.where)).parent), str(workshop.build)]
    found = {"CAMP_BUILD_DIR": os.pathsep.join(folders), "LD_LIBRARY_PATH": str(workshop.build)}
    return clean_environment(**found, TEST_BACKEND=target.backend, TEST_DEVICE=target.device, **variables)


@pytest.mark.parametrize("name", names_in("device"))
def test_on_device(workshop: Workshop, oprt: Any, target: Target, name: str) -> None:
    program = workshop.compile(HERE / "device.cc", "device")
    run(program, name, environment=on_target(workshop, oprt, target))


@pytest.mark.parametrize("name", [name for name in names_in("device") if re.search("stream|event|graph", name)])
def test_on_asynchronous_emulator(workshop: Workshop, oprt: Any, target: Target, name: str) -> None:
    """Streams of the emulator that really run behind the caller's back."""
    if not target.is_emulator:
        pytest.skip(f"{target.device} is asynchronous anyway")
    program = workshop.compile(HERE / "device.cc", "device")
    run(program, name, environment=on_target(workshop, oprt, target, CAMP_EMULATOR_ASYNC="1"))
