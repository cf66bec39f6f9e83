"""The session `debug`: one case of one operator on the emulator, under gdb, stopped at its kernel.

One emulator thread, so that stepping stays in one block; pytest in one process, so that gdb sees the kernel.
"""

from __future__ import annotations

import re
import typing
from pathlib import Path

from . import configure, environment, overlay
from .arguments import Options
from .project import Failure, Operator, learner_file, operators

if typing.TYPE_CHECKING:
    import nox

BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
KERNEL = re.compile(rf"__global__\s+{BOUNDS}(?:static\s+|inline\s+)*void\s+{BOUNDS}(\w+)")
TIPS = """\
stopped at the first thread that enters the kernel. Useful here:
  bt            where it is              next, step   go on by a line
  print NAME    any variable             info locals  all of them
  tbreak LINE   then continue: stop at a line once
  break LINE if threadIdx.x == 5   stop in one thread only (also blockIdx, blockDim)
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
    kernels = kernel_names(op, backend, options.kernels)
    commands = [
        "set breakpoint pending on",
        "set confirm off",
        "set pagination off",
        "handle SIGSEGV nostop noprint pass",
    ]
    commands += [f"break {name}" for name in kernels]
    commands += ["run"]
    commands += ["bt 5", "info locals", "kill"] if options.batch else [f"printf {_quoted(TIPS)}"]
    words = ["-q", *(["-batch"] if options.batch else []), *(part for command in commands for part in ("-ex", command))]
    pytest = [
        "-m",
        "pytest",
        "-c",
        "tests/pytest.ini",
        "tests/op_tests",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "-s",
        "-q",
    ]
    pytest += [
        "--backend",
        backend,
        "--device",
        "emulator",
        "--op",
        op.name,
        "--technique",
        options.technique or "reference",
    ]
    pytest += [word for case in options.cases for word in ("--case", case)]
    env = {**configure.search_path(tree, options), "CAMP_EMULATOR_THREADS": "1", "DEBUGINFOD_URLS": ""}
    environment.run(session, "gdb", *words, "--args", environment.python(), *pytest, env=env)


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
