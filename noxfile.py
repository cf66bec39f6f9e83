"""Operator Runtime: write GPU kernels and see them run, with or without a GPU.

Look around
  nox                                         build both backends and run every test
  nox -s bench -- --op softmax                time one operator against NumPy
Write a kernel
  nox -s learn -- --op vector_add             puts the exercise into workspace/vector_add/nvidia/kernel.cuh
  nox -s check -- --op vector_add             builds yours, climbs its levels, shows the smallest case that fails
  nox -s debug -- --op vector_add --case ID --kernels
                                              stops in your kernel, in gdb
  nox -s bench -- --op vector_add --kernels   times yours
  (--backend metax: the same for MetaX. Easy to hard: vector_add, copy, reduce_sum, softmax.)
Change what is shipped
  nox -s test-nvidia -- --op copy -v          one operator on one backend; what follows -- and is unknown goes to pytest
  nox -s env-nvidia                           every variable in force and where it came from
  nox -s build-nvidia -- -h                   the options of a session
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"


def _load_tasks() -> None:
    """Make the folder .tasks importable as the package `tasks`: a dot-folder has no name that import could take."""
    folder = Path(__file__).resolve().parent / ".tasks"
    spec = importlib.util.spec_from_file_location(
        "tasks", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    sys.modules["tasks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["tasks"])


_load_tasks()
from tasks import (  # noqa: E402
    arguments,
    check,
    configure,
    debug,
    environment,
    learn,
    links,
    lint,
    new_operator,
    overlay,
    package,
    testing,
    toolchain,
)
from tasks.arguments import BENCH_OPTIONS, CHECK_OPTIONS, TEST_OPTIONS, Options  # noqa: E402
from tasks.project import BACKENDS, Failure  # noqa: E402

# `nox -t ci`: with the tests, all that a change must pass without a GPU (.ci/run, .github/).
CI = ("ci",)
DESCRIPTIONS: dict[str, str] = {}  # of every session, for its -h


def _define(
    name: str,
    description: str,
    body: Callable[[nox.Session], None],
    *,
    needs_tools: bool,
    default: bool = False,
    tags: Sequence[str] = (),
) -> None:
    """A session whose failures are one sentence. needs_tools: it works in the shared environment."""

    def session_body(session: nox.Session) -> None:
        if sys.version_info < (3, 11):
            session.error(
                f"Python 3.11 or newer is needed, and nox runs on {sys.version.split()[0]}: install nox with "
                "a newer one"
            )
        try:
            body(session)
        except Failure as failure:
            session.error(str(failure))

    session_body.__name__ = name.replace("-", "_")
    session_body.__doc__ = DESCRIPTIONS[name] = description
    settings = {} if name == "tools" else {"venv_backend": "none", "requires": ["tools"] if needs_tools else []}
    nox.session(name=name, default=default, tags=tags, **settings)(session_body)


def _session(
    name: str, *, needs_tools: bool = True, default: bool = False, tags: Sequence[str] = ()
) -> Callable[[Callable[[nox.Session], None]], None]:
    """Make the decorated function the session of this name; its docstring is what `nox -l` shows."""
    return lambda body: _define(name, body.__doc__ or "", body, needs_tools=needs_tools, default=default, tags=tags)


def _options(
    session: nox.Session,
    *concerns: str,
    backend: str | None = None,
    pytest: bool = False,
    new_folder: bool = False,
    words: list[str] | None = None,
) -> Options:
    return arguments.parse(
        session.posargs if words is None else words,
        prog=f"nox -s {session.name}",
        description=DESCRIPTIONS[session.name],
        concerns=concerns,
        backend=backend,
        pytest=pytest,
        new_folder=new_folder,
        folder=Path(session.invoked_from),
    )


@_session("tools")
def _tools(session: nox.Session) -> None:
    """Make the one environment that all sessions share."""
    environment.start(session)


@_session("test", default=True)
def _test(session: nox.Session) -> None:
    """Build, then test each backend on the emulator and each GPU. --backend --op --device --kernels --case --level."""
    testing.test(session, _options(session, "--backend", *TEST_OPTIONS, pytest=True))


@_session("bench")
def _bench(session: nox.Session) -> None:
    """Build, then time each backend on its best device. --op --backend --device --peers --json FILE --plots DIR."""
    testing.bench(session, _options(session, "--backend", *BENCH_OPTIONS))


@_session("learn", needs_tools=False)
def _learn(session: nox.Session) -> None:
    """Put an exercise into workspace/, never over existing work. --op --backend --kernels DIR."""
    learn.learn(session, _options(session, "--op", "--backend", "--kernels", new_folder=True))


@_session("check")
def _check(session: nox.Session) -> None:
    """Build your kernels and test them level by level, on the emulator unless told. --op --backend --level --case."""
    check.check(session, _options(session, "--backend", *CHECK_OPTIONS))


@_session("debug")
def _debug(session: nox.Session) -> None:
    """Stop in the kernel of one case, in gdb. --op --case --backend --kernels --technique --batch."""
    debug.debug(session, _options(session, "--op", "--case", "--backend", "--kernels", "--technique", "--batch"))


@_session("python")
def _python(session: nox.Session) -> None:
    """Run Python with operator_runtime: -- script.py, -c, -m. Before the script: --kernels DIR --backend --device."""
    own, words = arguments.split_own(
        session.posargs, ("--kernels", "--backend", "--device"), Path(session.invoked_from)
    )
    testing.python(session, _options(session, "--kernels", "--backend", "--device", words=own), words)


@_session("new-operator", needs_tools=False)
def _new_operator(session: nox.Session) -> None:
    """Write every file of a new operator after one that works. --name gelu --like relu."""
    new_operator.new_operator(session, _options(session, "--name", "--like"))


def _env(session: nox.Session, backend: str) -> None:
    """Print every variable and tool for {backend}: the value in force and where it came from. --device."""
    configure.print_environment(session, backend, _options(session, "--device", backend=backend).device)


def _configure(session: nox.Session, backend: str) -> None:
    """Run CMake for {backend}. --device --kernels DIR."""
    options = _options(session, "--device", "--kernels", backend=backend)
    configure.configure(session, backend, options, toolchain.build_device(backend, options.device)[0])


def _build(session: nox.Session, backend: str) -> None:
    """Build {backend}. --device --kernels DIR."""
    overlay.build_devices(session, backend, _options(session, "--op", "--device", "--kernels", backend=backend))


def _test_backend(session: nox.Session, backend: str) -> None:
    """Build {backend}, then test it on one device. --op --device --kernels --case --level --technique, and pytest's."""
    testing.test_backend(session, _options(session, *TEST_OPTIONS, backend=backend, pytest=True), backend)


def _bench_backend(session: nox.Session, backend: str) -> None:
    """Build {backend}, then time it. --op --device --technique --peers --json FILE --plots DIR --compare FILE."""
    testing.bench(session, _options(session, *BENCH_OPTIONS, backend=backend))


def _all(session: nox.Session, backend: str) -> None:
    """Build {backend} for every device here, then test it. --op --device --kernels, and pytest's."""
    options = _options(session, *TEST_OPTIONS, backend=backend, pytest=True)
    overlay.build_devices(session, backend, options)
    testing.test_backend(session, options, backend)


def _clean(session: nox.Session, backend: str) -> None:
    """Remove the build folder of {backend}."""
    _options(session, backend=backend)
    configure.clean(session, backend)


VERBS = {
    "env": _env,
    "configure": _configure,
    "build": _build,
    "test": _test_backend,
    "bench": _bench_backend,
    "all": _all,
    "clean": _clean,
}
for _verb, _body in VERBS.items():
    for _backend in BACKENDS:
        _text = (_body.__doc__ or "").format(backend=_backend)
        _define(
            f"{_verb}-{_backend}",
            _text,
            functools.partial(_body, backend=_backend),
            needs_tools=_verb not in ("env", "clean"),
        )


@_session("compile-nvidia", tags=CI)
def _compile_nvidia(session: nox.Session) -> None:
    """Compile the NVIDIA kernels with nvcc for the portable architectures; needs no GPU."""
    _options(session)
    testing.compile_nvidia(session)


@_session("lint", tags=CI)
def _lint(session: nox.Session) -> None:
    """Check format, style and types of every source. --fix formats."""
    lint.lint(session, _options(session, "--fix"))


@_session("docs", needs_tools=False, tags=CI)
def _docs(session: nox.Session) -> None:
    """Check the links of README.md and docs/, and that the nox sessions named there exist."""
    _options(session)
    links.check(session, DESCRIPTIONS)


@_session("package", tags=CI)
def _package(session: nox.Session) -> None:
    """Build wheel and sdist into dist/, install each in a fresh environment and run both backends there."""
    _options(session)
    package.package(session)


if __name__ == "__main__":
    nox.main()
