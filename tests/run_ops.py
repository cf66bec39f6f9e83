"""Tests and benchmarks of operators by name: run_ops.py --op softmax --backend nvidia --mode all.

A thin front: tests are pytest's (op_tests/), benchmarks are harness/bench.py's. Runs as a script and as a module.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parser() -> argparse.ArgumentParser:
    """The command line."""
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
        "--device", default=os.environ.get("CAMP_DEVICE") or "auto", help="auto (default), emulator, gpu or gpu:N"
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
        "--json", type=Path, metavar="FILE", help="write the benchmark's rows, samples and machine there"
    )
    return result


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
    from tests.harness.bench import BenchError, bench, operators_with_workload
    from tests.harness.targets import UnavailableError, find_targets, names, unknown

    known = operators_with_workload()
    ops = [name for option in arguments.op for name in names(option) if name != "all"] or known
    techniques = [name for option in arguments.technique for name in names(option)]
    try:
        for op in ops:
            if op not in known:
                raise UnavailableError(unknown("operator", op, known))
        targets = find_targets(operator_runtime, arguments.backend, arguments.device)
        there = {name for target in targets for op in ops for name in operator_runtime.techniques(op, **target.where)}
        for name in techniques:
            if name not in ("all", "reference", *there):
                raise UnavailableError(unknown("technique", name, ["all", "reference", *sorted(there)]))
        bench(operator_runtime, ops, targets, techniques, arguments.json, quick=arguments.quick)
    except (UnavailableError, BenchError, operator_runtime.OperatorRuntimeError) as error:
        print(f"run_ops.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if not __package__:  # run as a script: start again as a module, so that imports are the same in both ways
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        os.execve(
            sys.executable, [sys.executable, "-m", "tests.run_ops", *sys.argv[1:]], {**os.environ, "PYTHONPATH": paths}
        )
    sys.exit(main())
