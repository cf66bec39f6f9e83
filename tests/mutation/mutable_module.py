"""Builds the emulator module of one backend from the mutable sources, with the commands of the backend's own build.

The engine and the runtime API are taken as the build has them; only launchers and techniques are compiled again, and
only when their sources or commands changed since the last time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.harness.targets import ROOT
from tests.mutation.sites import find_sites, write_mutable_sources

EXPORTS = "{ global: oprt_get_module; oprt_mutated_site; oprt_mutation_kind; oprt_reached_sites; local: *; };\n"
SWITCH_UNIT = """\
// Made by tests/mutation/mutable_module.py. Kinds: 0 leaves the site out, 1 writes to a bad address, 2 never ends.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int oprt_mutated_site;
EXPORTED int oprt_mutation_kind;
EXPORTED unsigned char oprt_reached_sites[COUNT];
int oprt_mutated_site = -1;
int oprt_mutation_kind = 0;
unsigned char oprt_reached_sites[COUNT];
extern "C" bool oprt_is_mutated(int site) {
    __atomic_store_n(&oprt_reached_sites[site], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&oprt_mutated_site, __ATOMIC_RELAXED) != site) return false;
    if (oprt_mutation_kind == 1) *reinterpret_cast<volatile int *>(64) = 1;
    while (oprt_mutation_kind == 2) __asm__ volatile("");
    return true;
}
"""


class BuildError(Exception):
    """The mutable module could not be built; the text has the command and what it printed."""


def build(tree: Path, backend: str) -> Path:
    """The module's folder, to be put before tree, the backend's build folder, in CAMP_BUILD_DIR."""
    folder = tree / "mutation"
    folder.mkdir(exist_ok=True)
    with _lock(folder / f"{backend}.lock"):
        sources = folder / "operators"
        write_mutable_sources(sources)
        headers = _hash_of(sorted(path for path in sources.rglob("*") if path.is_file()))
        objects = folder / backend
        objects.mkdir(exist_ok=True)
        module = f"camp_ops_{backend}_emulator"
        commands = json.loads((tree / "compile_commands.json").read_text())
        with ThreadPoolExecutor(_jobs()) as pool:
            jobs = [
                pool.submit(_compile, entry, sources, objects, headers) for entry in _launchers(commands, tree, backend)
            ]
            compiled = [job.result() for job in jobs]
        switch = _compile_switch(commands, tree, backend, objects)
        _link(tree, backend, [switch, *compiled], folder / f"{module}.so")
    return folder


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other workers of the same run out while the module is made."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _jobs() -> int:
    cores = len(os.sched_getaffinity(0))
    return max(1, cores // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _hash_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _output(entry: dict[str, str]) -> str:
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def _launchers(commands: list[dict[str, str]], tree: Path, backend: str) -> list[dict[str, str]]:
    """The compile commands of the module's launchers and techniques, not the overlay's or the engine's."""
    target = f"/camp_ops_{backend}_emulator.dir/"
    found = [entry for entry in commands if target in f"/{_output(entry)}"]
    if not found:
        raise BuildError(f"{tree}/compile_commands.json has no command for camp_ops_{backend}_emulator")
    return found


def _compile(entry: dict[str, str], sources: Path, objects: Path, headers: str) -> Path:
    """Compile one launcher against the mutable sources."""
    unit = Path(entry["file"])
    text = unit.read_text()
    # CMake's unit names files by path: the originals, or their copies for the emulator. Both become the mutable ones.
    text = re.sub(r'"(/[^"\n]+)"', lambda match: f'"{_mutable(match[1], sources)}"', text)
    copy = objects / unit.name
    result = objects / f"{unit.name}.o"
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = str(result)
    words[words.index("-c") + 1] = str(copy)
    # Before every other -I: a quoted include that starts with an operator's name means the mutable file.
    command = [words[0], f"-I{sources}", *(word for word in words[1:] if word not in ("-MD", "-g")), "-w"]
    command = _without_dependency_file(command)
    _run_if_changed(command, entry["directory"], result, {copy: text}, headers)
    return result


def _mutable(path: str, sources: Path) -> str:
    """The mutable file that stands for a kernel source or for a copy of it; any other path stays."""
    parts = Path(path).parts
    candidates = (sources.joinpath(*parts[start:]) for start in range(1, len(parts) - 1))
    return str(next((file for file in candidates if file.is_file()), path))


def _without_dependency_file(command: list[str]) -> list[str]:
    kept, skip = [], False
    for word in command:
        if skip:
            skip = False
        elif word in ("-MT", "-MF"):
            skip = True
        else:
            kept.append(word)
    return kept


def _compile_switch(commands: list[dict[str, str]], tree: Path, backend: str, objects: Path) -> Path:
    """The unit behind oprt_is_mutated()."""
    text = SWITCH_UNIT.replace("COUNT", str(max(1, len(find_sites()))))
    source, result = objects / "switch.cc", objects / "switch.o"
    compiler = shlex.split(_launchers(commands, tree, backend)[0]["command"])[0]
    _run_if_changed(
        [compiler, "-std=c++17", "-O2", "-fPIC", "-c", str(source), "-o", str(result)],
        str(tree),
        result,
        {source: text},
        "",
    )
    return result


def _link(tree: Path, backend: str, objects: list[Path], module: Path) -> None:
    engine = sorted(tree.glob(f"**/oprt_{backend}_emulator_engine.dir/**/*.o"))
    if not engine:
        raise BuildError(f"{tree} has no objects of the emulator's engine for {backend}")
    exports = module.with_suffix(".map")
    compiler = shlex.split(
        _launchers(json.loads((tree / "compile_commands.json").read_text()), tree, backend)[0]["command"]
    )[0]
    command = [compiler, "-shared", "-o", str(module), f"-Wl,--version-script={exports}", "-Wl,-z,defs"]
    command += [*map(str, objects), *map(str, engine), "-pthread", "-ldl"]
    _run_if_changed(command, str(tree), module, {exports: EXPORTS}, _hash_of([*objects, *engine]))


def _run_if_changed(command: list[str], directory: str, result: Path, inputs: dict[Path, str], more: str) -> None:
    """Run a command unless its result was made by the same command from the same inputs."""
    state = hashlib.sha256(
        json.dumps([command, {str(path): text for path, text in inputs.items()}, more]).encode()
    ).hexdigest()
    stamp = result.with_name(f"{result.name}.stamp")
    if result.exists() and stamp.exists() and stamp.read_text() == state:
        return
    for path, text in inputs.items():
        path.write_text(text)
    stamp.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    stamp.write_text(state)


def build_tree_of(module_path: str) -> Path:
    """The build folder that a loaded module belongs to."""
    folder = Path(module_path).resolve().parent
    for tree in (folder, folder.parent, ROOT / folder.name):
        if (tree / "compile_commands.json").exists():
            return tree
    raise BuildError(f"{module_path} lies in no build folder with compile_commands.json")
