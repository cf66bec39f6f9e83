"""The session `check`: build the learner's kernel, climb its levels, stop at the first that fails.

The kernel runs in child processes only. What a case is and what counts as right is tests/'s part.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import typing
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from . import configure, environment, learn, overlay, toolchain
from .arguments import Options
from .project import LEVELS, WORKSPACE, Failure, Operator, learner_file, operators, shown

if typing.TYPE_CHECKING:
    import nox

MOST_LINES = 40  # of a failing case's report
WHOSE_KERNEL = """\
import json, sys
import operator_runtime as oprt
backend, device, op = sys.argv[1:]
kernels = oprt.kernels(backend=backend, device=device)
print(json.dumps([(kernel.path, kernel.sha256) for kernel in kernels if kernel.op == op and not kernel.technique]))
"""


@dataclass
class Outcome:
    passed: int = 0
    skipped: int = 0
    failure: str = ""  # report of the first failing case
    case: str = ""  # its id


def check(session: nox.Session, options: Options) -> None:
    if options.technique:
        ops = "".join(f" --op {op}" for op in options.ops)
        raise Failure(
            f"--technique {options.technique}: check tests your own kernel and no technique; "
            f"nox -s test --{ops} --technique {options.technique} tests that"
        )
    options = dataclasses.replace(options, kernels=options.kernels or WORKSPACE)
    known = operators()
    rows: list[tuple[str, str, str]] = []
    failed: list[str] = []
    for name in options.ops or list(known):
        for backend in options.backends:
            file = learner_file(options.kernels, name, backend)
            if not file.is_file():
                rows.append((name, backend, "not started"))
                continue
            try:
                result = _check_file(session, options, known[name], backend, file)
            except Failure as failure:
                session.log(str(failure))
                failed.append(str(failure).splitlines()[0])
                result = failed[-1].removeprefix(f"{name} on {backend}: ")
            rows.append((name, backend, result))
    _print_rows(session, rows)
    if failed:
        raise Failure("; ".join(failed))
    if all(result == "not started" for _, _, result in rows):
        op = options.ops[0] if options.ops else "vector_add"
        raise Failure(
            f"not started: {options.kernels} has no kernel of {', '.join(options.ops) or 'any operator'}; "
            f"nox -s learn -- --op {op}"
        )


def _check_file(session: nox.Session, options: Options, op: Operator, backend: str, file: Path) -> str:
    """What the table says of a file that passes; a Failure for one that does not."""
    device, _ = toolchain.run_device(backend, options.device or "emulator")
    alone = dataclasses.replace(options, ops=[op.name])
    tree = overlay.build(session, backend, alone, device)
    search = configure.search_path(tree, alone)
    _expect_own_kernel(session, op.name, backend, device, file, search)
    session.log(f"{op.name} on {backend}, {device}: the kernel is {shown(file)}")

    levels = [options.level] if options.level else [n for n in LEVELS if n <= (options.max_level or LEVELS[-1])]
    passed = 0
    for level in [None] if options.cases else levels:
        title = f"level {level}" if level else f"case {', '.join(options.cases)}"
        outcome = _run_level(session, alone, backend, device, level, tree, search)
        if outcome.failure:
            raise Failure(_report(options, op, backend, device, file, title, outcome))
        skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
        session.log(f"{title}: {outcome.passed} cases passed{skipped}")
        passed += outcome.passed
    if passed == 0:
        raise Failure(
            f"{op.name} on {backend}: no case was run; nox -s test-{backend} -- --op {op.name} "
            "--collect-only lists the cases"
        )
    return f"level {levels[0]} to {levels[-1]} passed" if not options.cases and len(levels) > 1 else "passed"


def _run_level(
    session: nox.Session,
    options: Options,
    backend: str,
    device: str,
    level: int | None,
    tree: Path,
    search: dict[str, str],
) -> Outcome:
    report = tree / "check.xml"
    report.unlink(missing_ok=True)
    # One worker beside pytest itself: the order stays, the smallest case first, and a crash is one failed case.
    arguments = ["-c", "tests/pytest.ini", "tests/op_tests", "-q", "-n", "1", "-x", f"--junitxml={report}"]
    arguments += ["--backend", backend, "--device", device, "--op", options.ops[0]]
    arguments += ["--level", str(level)] if level else []
    arguments += [word for case in options.cases for word in ("--case", case)]
    status, output = environment.capture(session, "python", "-m", "pytest", *arguments, env=search)
    if status == 5:  # nothing on this level
        return Outcome()
    if not report.is_file():
        raise Failure("pytest did not run:\n" + "\n".join(output.strip().splitlines()[-10:]))
    outcome = _read_report(report, options.ops[0])
    if status and not outcome.failure:
        outcome.failure = "\n".join(output.strip().splitlines()[-MOST_LINES:])
    if "crashed while running" in outcome.failure:
        outcome.failure = _crash_report(output) + outcome.failure
    return outcome


def _read_report(path: Path, op: str) -> Outcome:
    outcome = Outcome()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        problem = case.find("failure") if case.find("failure") is not None else case.find("error")
        if problem is not None and not outcome.failure:
            outcome.failure = problem.text or problem.get("message", "failed")
            named = re.search(rf"\b{op}-[\w.-]+", case.get("name", "").replace("[", " ") + " " + outcome.failure)
            outcome.case = named.group(0) if named else ""
        elif problem is None and case.find("skipped") is not None:
            outcome.skipped += 1
        elif problem is None:
            outcome.passed += 1
    return outcome


def _crash_report(output: str) -> str:
    """What the emulator wrote past pytest before the worker died."""
    lines = output.splitlines()
    end = next((number for number, line in enumerate(lines) if "FAILURES" in line), len(lines))
    return (
        "\n".join(
            line for line in lines[:end] if line.strip() and not re.match(r"^(bringing up|\.|\[gw|replacing)", line)
        )
        + "\n"
    )


def _report(options: Options, op: Operator, backend: str, device: str, file: Path, title: str, outcome: Outcome) -> str:
    report = outcome.failure.partition("\nDuring handling of the above exception")[0]
    lines = [
        line for line in report.strip().splitlines() if "run it alone:" not in line
    ]  # the command below is check's
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], "...", *lines[-MOST_LINES // 2 :]]
    text = [f"{op.name} on {backend}: {title} fails, smallest failing case {outcome.case or 'below'}", *lines]
    if learn.untouched(op, backend, file):
        text.append(f"{shown(file)} is still the exercise as it was given: edit the places marked TODO")
    if outcome.case:
        more = f" --backend {backend} --case {outcome.case}"
        more += f" --device {device}" if device != "emulator" else ""
        folder = "" if options.kernels == WORKSPACE else f" {options.kernels}"
        text.append(
            f"this case alone: nox -s check -- --op {op.name}{more}" + (f" --kernels{folder}" if folder else "")
        )
        text.append(
            f"in gdb:          nox -s debug -- --op {op.name} --backend {backend} --case {outcome.case} "
            f"--kernels{folder}"
        )
    return "\n".join(text)


def _expect_own_kernel(
    session: nox.Session, op: str, backend: str, device: str, file: Path, search: dict[str, str]
) -> None:
    """Refuse to test anything but the file as it is now."""
    status, output = environment.capture(
        session, "python", "-c", WHOSE_KERNEL, backend, device, op, env=search, quiet=True
    )
    if status:
        raise Failure("the learner's module cannot be loaded:\n" + "\n".join(output.strip().splitlines()[-5:]))
    wanted = [str(file.resolve()), hashlib.sha256(file.read_bytes()).hexdigest()]
    loaded = [[str(Path(path).resolve()), sha256] for path, sha256 in json.loads(output.strip().splitlines()[-1])]
    if loaded != [wanted]:
        raise Failure(
            f"{op} on {backend}: the module holds {loaded}, not {shown(file)} as it is now; nox -s "
            f"clean-{backend} and again"
        )


def _print_rows(session: nox.Session, rows: list[tuple[str, str, str]]) -> None:
    width = max(len(op) for op, _, _ in rows)
    for op, backend, result in rows:
        session.log(f"{op:{width}}  {backend:6}  {result}")
