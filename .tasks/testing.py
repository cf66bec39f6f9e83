"""The sessions `test` and `bench`: build what is needed, then pytest, tests/run_ops.py and docs/examples.

What is tested and timed is said in tests/; here is only where it runs and with which modules.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
import typing
from collections.abc import Sequence
from pathlib import Path

from . import configure, environment, learn, overlay, toolchain
from .arguments import OUTPUT_OPTIONS, Options
from .project import ROOT, cores

if typing.TYPE_CHECKING:
    import nox

GPU_WORKERS = 4  # each worker holds a context of some hundred MB on the one card
EXAMPLES = ROOT / "docs" / "examples"
C_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")


def test(session: nox.Session, options: Options) -> None:
    """Each backend on the device asked for; without one, all on the emulator, then each on each of its GPUs."""
    configure.refuse_shared_folder(options.backends)
    if options.device not in (None, "emulator"):
        for backend in options.backends:
            test_backend(session, options, backend)
        return
    learn.mention_unused(session, options, options.backends)
    _test_device(session, options, options.backends, "emulator")
    for backend in options.backends if options.device is None else ():
        for gpu in _usable_gpus(session, backend):
            _test_device(session, options, (backend,), gpu)


def test_backend(session: nox.Session, options: Options, backend: str) -> None:
    """One backend on one device."""
    learn.mention_unused(session, options, (backend,))
    device, reason = toolchain.run_device(backend, options.device)
    session.log(f"{backend}: device {device} ({reason})")
    _test_device(session, options, (backend,), device)


def bench(session: nox.Session, options: Options) -> None:
    """The best device of each backend; backends on the same kind of device share a table, others have their own."""
    configure.refuse_shared_folder(options.backends)
    learn.mention_unused(session, options, options.backends)
    groups: dict[str, list[str]] = {}
    for backend in options.backends:
        device, reason = toolchain.run_device(backend, options.device)
        session.log(f"{backend}: device {device} ({reason})")
        groups.setdefault(device, []).append(backend)
    if len(groups) == 1:
        [(device, backends)] = groups.items()
        _bench_device(session, options, backends, device, _output_arguments(options))
        return
    with tempfile.TemporaryDirectory() as scratch:
        parts = []
        for device, backends in groups.items():
            parts.append(Path(scratch, f"{device}.json"))
            _bench_device(session, options, backends, device, ["--json", str(parts[-1])])
        if output := _output_arguments(options):  # of the rows of all devices
            environment.run(session, "python", "-m", "tests.benchmark.output", "--quiet", *map(str, parts), *output)


def _bench_device(
    session: nox.Session, options: Options, backends: Sequence[str], device: str, output: Sequence[str]
) -> None:
    search = _search_path(session, options, backends, device)
    arguments = ["--mode", "bench", "--op", ",".join(options.ops) or "all"]
    arguments += ["--backend", ",".join(backends), "--device", device]
    arguments += ["--technique", options.technique] if options.technique else []
    arguments += ["--peers", options.peers] if options.peers else []
    arguments += ["--overlap"] if options.overlap else []
    environment.run(session, "python", "-m", "tests.run_ops", *arguments, *output, env=search)


def _output_arguments(options: Options) -> list[str]:
    chosen = {flag: getattr(options, flag.removeprefix("--")) for flag in OUTPUT_OPTIONS}
    return [word for flag, path in chosen.items() if path for word in (flag, str(path))]


def python(session: nox.Session, options: Options, words: Sequence[str]) -> None:
    """Python where nox was called, with the learner's kernels when they are asked for."""
    env: dict[str, str] = {}
    if options.kernels:
        configure.refuse_shared_folder(options.backends)
        devices = {backend: toolchain.run_device(backend, options.device)[0] for backend in options.backends}
        env = environment.build_path(
            *(path for item in devices.items() for path in _built_folders(session, options, *item))
        )
    elif os.environ.get("BUILD_DIR"):
        env = environment.build_path(configure.folder(session, options.backends[0]))
    env |= {"CAMP_DEVICE": options.device} if options.device else {}
    with session.chdir(session.invoked_from):
        environment.run(session, "python", *words, env=env)


def compile_nvidia(session: nox.Session) -> None:
    """The gpu module of nvidia, for a list of architectures that needs no GPU."""
    before = os.environ.get(toolchain.ARCHITECTURES)
    os.environ[toolchain.ARCHITECTURES] = before or toolchain.PORTABLE_ARCHITECTURES
    try:
        configure.build(session, "nvidia", Options(), "gpu")
    finally:  # the sessions that follow in this run choose for themselves
        if before is None:
            del os.environ[toolchain.ARCHITECTURES]
        else:
            os.environ[toolchain.ARCHITECTURES] = before


def _usable_gpus(session: nox.Session, backend: str) -> list[str]:
    count = toolchain.gpu_count(backend)
    if count and not toolchain.has_compiler(backend):
        session.log(f"{backend}: {count} GPU here, not tested: {toolchain.missing_compiler(backend)}")
        return []
    return [f"gpu:{index}" for index in range(count)]


def _test_device(session: nox.Session, options: Options, backends: Sequence[str], device: str) -> None:
    search = _search_path(session, options, backends, device)
    # The tests of the sessions call nox again, in the same way.
    nox_command = [sys.executable, "-m", "nox", *(["--no-venv"] if environment.without_environment() else [])]
    env = {**search, "CAMP_NOX": shlex.join(nox_command)}
    environment.run(session, "python", "-m", "pytest", *_pytest_arguments(options, backends, device), env=env)
    if _is_whole_run(options):
        arguments = ["--op", "all", "--backend", ",".join(backends), "--device", device, "--mode", "bench", "--quick"]
        environment.run(session, "python", "-m", "tests.run_ops", *arguments, env=search)
        for backend in backends:
            _run_examples(session, device, configure.folder(session, backend), search)


def _search_path(session: nox.Session, options: Options, backends: Sequence[str], device: str) -> dict[str, str]:
    """Build for the device; CAMP_BUILD_DIR for children that use what was built, the learner's modules first."""
    return environment.build_path(
        *(path for backend in backends for path in _built_folders(session, options, backend, device))
    )


def _built_folders(session: nox.Session, options: Options, backend: str, device: str) -> list[Path]:
    tree = overlay.build(session, backend, options, device)
    return [tree / "overlay", tree] if options.kernels else [tree]


def _pytest_arguments(options: Options, backends: Sequence[str], device: str) -> list[str]:
    arguments = ["-c", "tests/pytest.ini"]
    if not any(Path(word.partition("::")[0]).exists() for word in options.rest if not word.startswith("-")):
        arguments.append("tests/op_tests" if _has_filter(options) or device != "emulator" else "tests")
    if not any(word.startswith(("-n", "--numprocesses")) for word in options.rest):
        workers = min(cores(), GPU_WORKERS) if device != "emulator" else cores()
        arguments += ["-n", str(workers), "--dist", "worksteal"]
    arguments += ["--backend", ",".join(backends), "--device", device]
    for op in options.ops:
        arguments += ["--op", op]
    for case in options.cases:
        arguments += ["--case", case]
    for flag, value in (
        ("--level", options.level),
        ("--max-level", options.max_level),
        ("--technique", options.technique),
    ):
        arguments += [flag, str(value)] if value else []
    arguments += ["--kernels", str(options.kernels)] if options.kernels else []
    return [*arguments, *options.rest]


def _has_filter(options: Options) -> bool:
    return bool(options.ops or options.cases or options.level or options.max_level or options.technique)


def _is_whole_run(options: Options) -> bool:
    """False where a person asked for a part only; -v and the like change what is printed, not what is run."""
    return not _has_filter(options) and all(re.fullmatch(r"-[vqs]+", word) for word in options.rest)


def _run_examples(session: nox.Session, device: str, tree: Path, search: dict[str, str]) -> None:
    env = {**search, "CAMP_DEVICE": device}
    compiler = shutil.which("cc") or str(toolchain.cxx())
    for source in sorted(EXAMPLES.glob("*.c")):
        program = tree / "examples" / source.stem
        program.parent.mkdir(exist_ok=True)
        flags = [*C_FLAGS, "-x", "c", str(source), "-x", "none", f"-I{ROOT}/runtime/include", f"-I{tree}/generated"]
        environment.run(
            session, compiler, *flags, f"-L{tree}", "-lcamp_ops", f"-Wl,-rpath,{tree}", "-lm", "-o", program
        )
        environment.run(session, str(program), env=env)
    for script in sorted(EXAMPLES.glob("*.py")):
        environment.run(session, "python", script, env=env)
