"""The fixture behind the tests of the C library: where it was built, and what compiles programs against it."""

from __future__ import annotations

import os

import pytest

from tests.runtime.workshop import LIBRARY, Workshop, build_folders


@pytest.fixture(scope="session")
def workshop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The built library and its compilers."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "runtime-programs"
    shared.mkdir(exist_ok=True)
    for folder in build_folders():
        if (folder / LIBRARY).exists() and (folder / "generated/interface.h").exists():
            return Workshop(folder.resolve(), shared)
    reason = f"no build found in {', '.join(map(str, build_folders())) or 'build-*'}; make one: nox -s build-nvidia"
    if request.config.getoption("backend") == "none":
        pytest.skip(reason)
    pytest.fail(reason)
