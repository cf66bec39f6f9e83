"""Options, targets and report header of every test run.

What an operator must do stands in cases/; building is nox's part: here only what is built is found and tested.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness import running
from tests.harness.record import LEVELS, load_record, operator_names
from tests.harness.running import selection
from tests.harness.suite import OperatorSuite
from tests.harness.targets import Target, UnavailableError, find_targets, for_worker, kernel_lines, names, unknown

TARGETS = pytest.StashKey[list[Target]]()
# At least: a number that no child which inherits the variable uses for a file of its own.
REPORT_DESCRIPTOR = 200


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("Operator Runtime")
    group.addoption(
        "--backend",
        help="nvidia, metax, a comma list, all (default: all that are built), or none for tests that need no build",
    )
    group.addoption(
        "--device",
        default=os.environ.get("CAMP_DEVICE") or "auto",
        help="auto, emulator, gpu or gpu:N (default: CAMP_DEVICE, else auto)",
    )
    group.addoption(
        "--op", action="append", default=[], help="only tests of this operator; repeatable, or a comma list"
    )
    group.addoption(
        "--level",
        type=int,
        choices=sorted(LEVELS),
        help="only cases of this level: " + "; ".join(f"{k}: {v}" for k, v in LEVELS.items()),
    )
    group.addoption("--max-level", type=int, choices=sorted(LEVELS), help="only cases up to this level")
    group.addoption(
        "--case", action="append", default=[], help="only the case with this id, on every target and technique chosen"
    )
    group.addoption("--technique", help="only this technique; reference for none")
    group.addoption(
        "--no-poison",
        action="store_true",
        help="leave new memory as it is, for compute-sanitizer's initcheck: kernels must not read what nobody wrote",
    )
    group.addoption("--kernels", help="whose kernels were built, for the header; CAMP_BUILD_DIR decides what is loaded")


def pytest_configure(config: pytest.Config) -> None:
    running.poison.wanted = not config.getoption("--no-poison")
    # For a crash outside of kernels: the error stream itself, which pytest captures only while it collects and tests.
    # A worker of xdist has its own.
    os.environ["CAMP_EMULATOR_REPORT_FD"] = str(fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, REPORT_DESCRIPTOR))
    config.stash[TARGETS] = []
    if config.getoption("backend") == "none":
        return
    try:
        import operator_runtime
    except ImportError as error:
        raise pytest.UsageError(f"operator_runtime cannot be imported: {error}") from None
    try:
        targets = find_targets(operator_runtime, config.getoption("backend"), config.getoption("device"))
        config.stash[TARGETS] = for_worker(targets, os.environ.get("PYTEST_XDIST_WORKER"), operator_runtime.available())
    except UnavailableError as error:
        raise pytest.UsageError(str(error)) from None
    _check_names(config, operator_runtime)


def _operators(config: pytest.Config) -> list[str]:
    return [name for option in config.getoption("op") for name in names(option) if name != "all"]


def _check_names(config: pytest.Config, oprt: Any) -> None:
    known = operator_names()
    for op in _operators(config):
        if op not in known:
            raise pytest.UsageError(unknown("operator", op, known))
    records = [load_record(op) for op in _operators(config) or known] if config.getoption("case") else []
    ids = [record.case_id(case) for record in records for case in record.cases] + [
        item.id for record in records for item in record.refused
    ]
    for case_id in config.getoption("case"):
        if case_id not in ids:
            raise pytest.UsageError(
                unknown("case", case_id, ids if len(ids) < 20 else [f"the {len(ids)} ids of tests/cases/"])
            )
    techniques = {
        name for target in config.stash[TARGETS] for op in known for name in oprt.techniques(op, **target.where)
    }
    if config.getoption("technique") not in (None, "reference", *techniques):
        raise pytest.UsageError(unknown("technique", config.getoption("technique"), ["reference", *sorted(techniques)]))


def pytest_report_header(config: pytest.Config) -> list[str]:
    targets = config.stash[TARGETS]
    if not targets:
        return ["backend: none, only tests that need no build"]
    import operator_runtime

    lines = [f"kernels asked for: {kernels}"] if (kernels := config.getoption("kernels")) else []
    for target in targets:
        lines.append(f"{target.backend} on {target.device}: {operator_runtime.module_path(**target.where)}")
        lines += [f"  kernels of {line}" for line in kernel_lines(operator_runtime, target)]
    return lines


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    targets = metafunc.config.stash[TARGETS]
    if metafunc.cls is not None and issubclass(metafunc.cls, OperatorSuite):
        import operator_runtime

        metafunc.cls.parametrize(metafunc, operator_runtime, targets)
    elif "selected" in metafunc.fixturenames:
        metafunc.parametrize("selected", targets, ids=str, indirect=True)
    elif "target" in metafunc.fixturenames:
        metafunc.parametrize("target", targets, ids=str)
    elif "first_target" in metafunc.fixturenames:
        metafunc.parametrize("first_target", targets[:1], ids=str)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = [item for item in items if _is_wanted(config, item)]
    dropped = [item for item in items if not _is_wanted(config, item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _is_wanted(config: pytest.Config, item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters and item.callspec.id == "NOTSET":  # no row at all, as for the techniques of an operator that has none
        return False
    record = getattr(getattr(item, "cls", None), "record", None)
    case, refused = parameters.get("case"), parameters.get("refused")
    op = parameters.get("op", record.name if record else None)
    if (ops := _operators(config)) and op not in ops:
        return False
    if ids := config.getoption("case"):
        return (record.case_id(case) if case else getattr(refused, "id", None)) in ids and _has_technique(
            config, parameters
        )
    level, max_level = config.getoption("level"), config.getoption("max_level")
    if (level or max_level) and case is None:
        return False
    if (level and case.level != level) or (max_level and case.level > max_level):
        return False
    return _has_technique(config, parameters)


def _has_technique(config: pytest.Config, parameters: dict[str, Any]) -> bool:
    wanted = config.getoption("technique")
    return wanted is None or (parameters.get("technique") or "reference") == wanted


@pytest.fixture(scope="session")
def oprt() -> Any:
    """The package under test."""
    import operator_runtime

    return operator_runtime


@pytest.fixture
def selected(request: pytest.FixtureRequest, oprt: Any) -> Iterator[Target]:
    """A target, made the thread's default for calls of the C library."""
    with selection(oprt, request.param):
        yield request.param
