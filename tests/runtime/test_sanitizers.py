"""The library and the programs on fake modules under the compilers' sanitizers. Slow: everything is compiled again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.test_programs import names_in
from tests.runtime.workshop import HERE, INCLUDES, LIBRARY, ROOT, STRICT, Workshop, clean_environment, module_name, run

SANITIZERS = {
    "address-undefined": (
        ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
        ("api", "threads", "exhaustion"),
    ),
    # exhaustion replaces operator new, which the thread sanitizer wants for itself.
    "thread": (["-fsanitize=thread"], ("api", "threads")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SANITIZERS)
def test_programs_are_clean(workshop: Workshop, tmp_path: Path, name: str) -> None:
    flags, programs = SANITIZERS[name]
    compiler = shutil.which("clang++") or workshop.cxx
    common = [compiler, "-std=c++17", "-g", "-O1", *STRICT, *flags, *(f"-I{folder}" for folder in INCLUDES)]
    common += [f"-I{workshop.build / 'generated'}", f"-L{tmp_path}"]

    def build(output: str, *arguments: str | Path) -> None:
        command = [*common, *map(str, arguments), "-o", str(tmp_path / output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"

    sources = [*(ROOT / "runtime/src").glob("*.cc"), *(ROOT / "operators").rglob("*.cc")]
    shared = ["-shared", "-fPIC", "-fvisibility=hidden"]
    build(LIBRARY, *shared, "-DOPRT_BUILDING", '-DOPRT_BUILD_TYPE="sanitized"', *sources)
    for backend, kind in (("nvidia", "gpu"), ("metax", "emulator")):
        claims = {"FAKE_BACKEND": backend, "FAKE_KIND": kind, "FAKE_INTERFACE_HASH": workshop.interface_hash}
        defines = [f'-D{key}="{value}"' for key, value in claims.items()]
        build(module_name(backend, kind), *shared, *defines, HERE / "fake_module.cc")
    for program in programs:
        build(program, HERE / f"{program}.cc", "-lcamp_ops", "-Wl,-rpath,$ORIGIN", "-rdynamic", "-ldl", "-pthread")
        for test in names_in(program):
            run(tmp_path / program, test, environment=clean_environment())
