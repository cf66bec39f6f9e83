"""Builds the emulator module of one backend from the mutable sources, with the commands of the backend's own build.

The engine and the runtime API are taken as the build has them; only launchers and techniques are compiled again, and
only when their sources or commands changed since the last time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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


def build(tree: Path, backend: str, op: str) -> Path:
    """The folder of a module with one operator, to be put before the backend's build folder in CAMP_BUILD_DIR."""
    folder = tree / "mutation" / f"{backend}-{op}"
    folder.mkdir(parents=True, exist_ok=True)
    sources = tree / "mutation" / "operators"
    with _lock(tree / "mutation" / "operators.lock"):
        write_mutable_sources(sources)
    with _lock(folder / "module.lock"):
        entries = _launchers(tree, backend, op)
        compiler = shlex.split(entries[0]["command"])[0]
        objects = [_compile_launchers(entries, op, sources, folder), _compile_switch(compiler, tree, folder)]
        _link(compiler, tree, backend, objects, folder / f"camp_ops_{backend}_emulator.so")
    return folder


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other workers of the same run out while the module is made."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _hash_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _output(entry: dict[str, str]) -> str:
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def _launchers(tree: Path, backend: str, op: str) -> list[dict[str, str]]:
    """The compile commands of an operator's launcher and techniques in the module, not those of the overlay."""
    commands = json.loads((tree / "compile_commands.json").read_text())
    target = f"/camp_ops_{backend}_emulator.dir/"
    found = [
        entry for entry in commands if target in f"/{_output(entry)}" and Path(entry["file"]).name.split(".")[0] == op
    ]
    if not found:
        raise BuildError(f"{tree}/compile_commands.json has no command for {op} in camp_ops_{backend}_emulator")
    return found


def _compile_launchers(entries: list[dict[str, str]], op: str, sources: Path, folder: Path) -> Path:
    """Compile the launchers of an operator against the mutable sources, as one unit: headers take most of the time."""
    unit, result = folder / f"{op}.cc", folder / f"{op}.o"
    inputs: dict[Path, str] = {}
    text = [f"// Made by tests/mutation/mutable_module.py: every launcher of {op}."]
    for number, entry in enumerate(entries):
        copy = folder / f"{number}.{Path(entry['file']).name}"
        # CMake's unit names files by path: the originals, or their copies for the emulator. Both become mutable ones.
        original = Path(entry["file"]).read_text()
        inputs[copy] = re.sub(r'"(/[^"\n]+)"', lambda match: f'"{_mutable(match[1], sources)}"', original)
        names = (f"{op}_call", f"{op}_registration")  # made by the registration macro, once a unit
        text += [f"#define {name} {name}_{number}" for name in names] + [f'#include "{copy}"']
        text += [f"#undef {name}" for name in (*names, "OPRT_KERNEL_FILE", "OPRT_KERNEL_PATH", "OPRT_KERNEL_SHA256")]
    inputs[unit] = "\n".join(text) + "\n"
    words = shlex.split(entries[0]["command"])
    words[words.index("-o") + 1] = str(result)
    words[words.index("-c") + 1] = str(unit)
    # Before every other -I: a quoted include that starts with an operator's name means the mutable file.
    command = [words[0], f"-I{sources}", *(word for word in words[1:] if word not in ("-MD", "-g")), "-w"]
    _run_if_changed(_with_own_dependency_file(command, result), entries[0]["directory"], result, inputs)
    return result


def _mutable(path: str, sources: Path) -> str:
    """The mutable file that stands for a kernel source or for a copy of it; any other path stays."""
    parts = Path(path).parts
    candidates = (sources.joinpath(*parts[start:]) for start in range(1, len(parts) - 1))
    return str(next((file for file in candidates if file.is_file()), path))


def _with_own_dependency_file(command: list[str], result: Path) -> list[str]:
    kept, skip = [], False
    for word in command:
        if skip:
            skip = False
        elif word in ("-MT", "-MF"):
            skip = True
        else:
            kept.append(word)
    return [*kept, "-MMD", "-MF", f"{result}.d"]


def _compile_switch(compiler: str, tree: Path, folder: Path) -> Path:
    """The unit behind oprt_is_mutated()."""
    source, result = folder / "switch.cc", folder / "switch.o"
    text = SWITCH_UNIT.replace("COUNT", str(max(1, len(find_sites()))))
    command = [compiler, "-std=c++17", "-O2", "-fPIC", "-c", str(source), "-o", str(result)]
    _run_if_changed(command, str(tree), result, {source: text})
    return result


def _link(compiler: str, tree: Path, backend: str, objects: list[Path], module: Path) -> None:
    engine = sorted(tree.glob(f"**/oprt_{backend}_emulator_engine.dir/**/*.o"))
    if not engine:
        raise BuildError(f"{tree} has no objects of the emulator's engine for {backend}")
    exports = module.with_suffix(".map")
    command = [compiler, "-shared", "-o", str(module), f"-Wl,--version-script={exports}", "-Wl,-z,defs"]
    command += [*map(str, objects), *map(str, engine), "-pthread", "-ldl"]
    _run_if_changed(command, str(tree), module, {exports: EXPORTS}, [*objects, *engine])


def _run_if_changed(
    command: list[str], directory: str, result: Path, written: dict[Path, str], read: Sequence[Path] = ()
) -> None:
    """Run a command unless its result was made by the same command from the same files.

    written: texts that the command finds in files. read: files it reads, beside the headers that the compiler lists.
    """
    stamp, headers = result.with_name(f"{result.name}.stamp"), result.with_name(f"{result.name}.d")

    def state() -> str:
        texts = json.dumps([command, {str(path): text for path, text in written.items()}])
        return texts + _hash_of([*read, *_headers(headers, directory)])

    if result.exists() and stamp.exists() and stamp.read_text() == state():
        return
    for path, text in written.items():
        path.write_text(text)
    stamp.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    stamp.write_text(state())


def _headers(dependency_file: Path, directory: str) -> list[Path]:
    """The files that a compiler read, from the rule for make that it left; none before the first time."""
    if not dependency_file.exists():
        return []
    names = dependency_file.read_text().replace("\\\n", " ").partition(":")[2].split()
    return [path for path in (Path(directory, name) for name in names) if path.exists()]


def build_tree_of(module_path: str) -> Path | None:
    """The build folder that a loaded module belongs to; None for one that was installed without it."""
    folder = Path(module_path).resolve().parent
    return next((tree for tree in (folder, folder.parent) if (tree / "compile_commands.json").exists()), None)
