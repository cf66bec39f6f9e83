"""Tests and benchmarks of operators by name: run_ops.py --op softmax --backend nvidia --mode all.

A thin front: tests are pytest's (op_tests/), benchmarks are benchmark/run.py's. Runs as a script and as a module.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.benchmark.document import Document
    from tests.benchmark.run import Request

ROOT = Path(__file__).resolve().parent.parent


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from tests.benchmark.output import add_options

    result = argparse.ArgumentParser(prog="run_ops.py", description="Test and measure operators.")
    result.add_argument(
        "--op",
        action="append",
        default=[],
        metavar="NAME",
        help="an operator or all (default); repeatable, or a comma list",
    )
    result.add_argument("--backend", default="all", help="nvidia, metax, a comma list, or all that are built (default)")
    result.add_argument(
        "--device",
        default=os.environ.get("CAMP_DEVICE") or "auto",
        help="auto (default), emulator, gpu, gpu:N or gpu:all",
    )
    result.add_argument("--mode", choices=("test", "bench", "all"), default="all", help="what to do (default: all)")
    result.add_argument(
        "--technique",
        action="append",
        default=[],
        metavar="NAME",
        help="a technique, reference, or all; repeatable, or a comma list",
    )
    result.add_argument("--quick", action="store_true", help="time the emulator's small shapes on a GPU too")
    result.add_argument(
        "--peers",
        nargs="?",
        const="all",
        default="",
        metavar="NAMES",
        help="time other libraries beside the kernels, on a GPU: all (default), or a comma list",
    )
    result.add_argument("--overlap", action="store_true", help="add rows whose launches overlap")
    result.add_argument(
        "--share", type=_share, default=(0, 1), metavar="I/N", help="time only part I, from 0, of N parts of the shapes"
    )
    add_options(result)
    return result


def _share(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part, wanted I/N with I from 0 to N - 1, such as 0/4")
    return int(index), int(count)


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; 0 when all went well."""
    arguments = parser().parse_args(argv)
    status = 0
    if arguments.mode in ("test", "all"):
        status = _test(arguments)
    if arguments.mode in ("bench", "all"):
        status = _bench(arguments) or status
    return status


def _test(arguments: argparse.Namespace) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "tests" / "pytest.ini"),
        "-q",
        str(ROOT / "tests" / "op_tests"),
    ]
    command += [f"--backend={arguments.backend}", f"--device={arguments.device}"]
    command += [f"--op={op}" for op in arguments.op]
    if arguments.technique and "all" not in arguments.technique:
        command += [f"--technique={arguments.technique[0]}"]
    return subprocess.run(command, check=False).returncode


def _bench(arguments: argparse.Namespace) -> int:
    import operator_runtime
    from tests.benchmark import output
    from tests.benchmark.parallel import ParallelError
    from tests.harness.targets import UnavailableError

    try:
        output.check(arguments)
        document = _measured(operator_runtime, arguments)
        output.show(document, arguments)
    except (UnavailableError, ParallelError, output.OutputError, operator_runtime.OperatorRuntimeError) as error:
        print(f"run_ops.py: {error}", file=sys.stderr)
        return 1
    if arguments.share[1] > 1:  # who joins the parts looks at all rows
        return 0
    return int(any(row.kind == "technique" and not row.verified for row in document.rows))


def _measured(oprt: Any, arguments: argparse.Namespace) -> Document:
    """The benchmark's document, measured by this process or by one for each GPU."""
    from tests.benchmark import devices, parallel
    from tests.benchmark.run import bench

    if arguments.device == devices.ALL_GPUS:
        return parallel.run(_for_each_gpu(arguments), _gpus(oprt, arguments.backend))
    return bench(oprt, _request(oprt, arguments))


def _gpus(oprt: Any, backends: str) -> list[str]:
    """gpu:0, gpu:1, ... of the backends asked for. Raises UnavailableError when there is none."""
    from tests.benchmark import devices
    from tests.harness.targets import UnavailableError, names

    wanted = names(backends)
    here = {
        device
        for backend, device in oprt.available()
        if device.startswith("gpu") and ("all" in wanted or backend in wanted)
    }
    if not here:
        raise UnavailableError(f"--device {devices.ALL_GPUS}: no GPU of the backend {backends} can be used here")
    return devices.expand(devices.ALL_GPUS, len(here))


def _request(oprt: Any, arguments: argparse.Namespace) -> Request:
    """What to measure, every name checked."""
    from tests.benchmark.peers import PEERS
    from tests.benchmark.run import Request
    from tests.benchmark.workload import operators_with_workload
    from tests.harness.targets import find_targets, names

    known = operators_with_workload()
    ops = _checked("operator", [each for text in arguments.op for each in names(text)], known) or known
    peers = _checked("peer", names(arguments.peers), [peer.name for peer in PEERS])
    targets = find_targets(oprt, arguments.backend, arguments.device)
    there = {name for target in targets for op in ops for name in oprt.techniques(op, **target.where)}
    techniques = [each for text in arguments.technique for each in names(text)]
    _checked("technique", techniques, ["reference", *sorted(there)])
    return Request(
        ops=ops,
        targets=targets,
        techniques=techniques,
        peers=peers,
        quick=arguments.quick,
        overlap=arguments.overlap,
        share=arguments.share,
    )


def _checked(what: str, given: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names, all of them for all. Raises UnavailableError for one that nobody knows."""
    from tests.harness.targets import UnavailableError, unknown

    for name in given:
        if name not in ("all", *known):
            raise UnavailableError(unknown(what, name, ["all", *known]))
    return list(known) if "all" in given else list(given)


def _for_each_gpu(arguments: argparse.Namespace) -> list[str]:
    """The words for the process of one GPU."""
    words = ["--mode", "bench", "--backend", arguments.backend]
    words += [word for flag in ("op", "technique") for name in getattr(arguments, flag) for word in (f"--{flag}", name)]
    words += ["--peers", arguments.peers] if arguments.peers else []
    return words + [f"--{flag}" for flag in ("quick", "overlap") if getattr(arguments, flag)]


if __name__ == "__main__":
    if not __package__:  # run as a script: start again as a module, so that imports are the same in both ways
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        os.execve(
            sys.executable, [sys.executable, "-m", "tests.run_ops", *sys.argv[1:]], {**os.environ, "PYTHONPATH": paths}
        )
    sys.exit(main())
