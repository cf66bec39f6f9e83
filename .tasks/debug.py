"""The session `debug`: one case of one operator on the emulator, under gdb, stopped at its kernel.

One emulator thread, so that stepping stays in one block; pytest in one process, so that gdb sees the kernel.
"""

from __future__ import annotations

import re
import typing
from pathlib import Path

from . import configure, environment, overlay
from .arguments import Options
from .project import ROOT, Failure, Operator, learner_file, operators

if typing.TYPE_CHECKING:
    import nox

BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
KERNEL = re.compile(rf"__global__\s+{BOUNDS}(?:static\s+|inline\s+)*void\s+{BOUNDS}(\w+)")
# The emulator keeps a thread's indices at the start of the area that its stack lies in.
CONTEXT_HEADER = ROOT / "backends" / "emulator" / "include" / "oprt_emulator" / "context.h"
AREA = re.compile(r"worker_area_bytes = std::uintptr_t\{1\} << (\d+);")
INDICES = {"threadIdx": "thread", "blockIdx": "block", "blockDim": "block_dim", "gridDim": "grid_dim"}
TIPS = """\
stopped at the first thread that enters the kernel. Useful here:
  bt                where it is              next, step   go on by a line
  print NAME        a variable               info locals  all of them
  print/d threadIdx which thread this is     also blockIdx, blockDim, gridDim
  tbreak LINE if threadIdx.x == 5            then continue: stop there in that thread
A barrier switches to another thread of the block: after next over one, look at threadIdx again."""


def debug(session: nox.Session, options: Options) -> None:
    if not options.ops or not options.cases:
        raise Failure(
            "name the operator and the case: nox -s debug -- --op softmax --case ID (a failing test prints its ID)"
        )
    if (options.device or "emulator").startswith("gpu"):
        raise Failure("debug is for the emulator; on a GPU use cuda-gdb with: nox -s python -- -m pytest ...")
    if not environment.find("gdb"):
        raise Failure("gdb was not found: apt install gdb, dnf install gdb, or conda install -c conda-forge gdb")
    op = operators()[options.ops[0]]
    backend = options.backends[0]
    tree = overlay.build(session, backend, options, "emulator")
    script = tree / "debug.gdb"
    script.write_text("\n".join(gdb_commands(kernel_names(op, backend, options.kernels), options.batch)) + "\n")
    arguments = ["-m", "pytest", "-c", "tests/pytest.ini", "tests/op_tests", "-p", "no:xdist", "-p", "no:cacheprovider"]
    arguments += ["-s", "-q", "--backend", backend, "--device", "emulator", "--op", op.name]
    arguments += ["--technique", options.technique or "reference"]
    arguments += [word for case in options.cases for word in ("--case", case)]
    quiet = ["-q", "-iex", "set auto-load python-scripts off", *(["-batch"] if options.batch else []), "-x", script]
    env = {**configure.search_path(tree, options), "CAMP_EMULATOR_THREADS": "1", "DEBUGINFOD_URLS": ""}
    environment.run(session, "gdb", *quiet, "--args", environment.python(), *arguments, env=env)


def gdb_commands(kernels: list[str], batch: bool) -> list[str]:
    """What gdb is told: CUDA's names for the indices, where to stop, and then to run."""
    area = AREA.search(CONTEXT_HEADER.read_text())
    assert area is not None, "the emulator's context moved"
    context = f"((oprt_emulator::thread_context *)((unsigned long)$sp & ~{(1 << int(area[1])) - 1:#x}UL))"
    commands = ["set breakpoint pending on", "set confirm off", "set pagination off"]
    commands += ["handle SIGSEGV nostop noprint pass"]  # the emulator's guard pages
    commands += [f"macro define {name} ({context}->{field})" for name, field in INDICES.items()]
    commands += [*(f"break {name}" for name in kernels), "run"]
    if batch:
        return [*commands, "bt 5", "info locals", "print/d threadIdx", "print/d blockIdx", "kill"]
    return [*commands, f"printf {_quoted(TIPS)}"]


def kernel_names(op: Operator, backend: str, kernels: Path | None) -> list[str]:
    """The kernels that the operator may launch: of the learner's file where that is used, else of all that it ships."""
    own = learner_file(kernels, op.name, backend) if kernels else None
    if own and own.is_file():
        files = [own]
    else:
        folders = [op.folder] + ([op.folder.parent] if op.elementwise else [])
        files = [path for folder in folders for path in sorted(folder.glob("*.h"))]
        files += [
            path
            for path in sorted((op.folder / backend).rglob("*")) + sorted((op.folder / "techniques").glob("*"))
            if path.is_file()
        ]
    names = [name for path in files for name in KERNEL.findall(path.read_text(errors="replace"))]
    if not names:
        raise Failure(f"{', '.join(path.name for path in files)}: no __global__ function was found to stop at")
    return list(dict.fromkeys(names))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}\\n"'
