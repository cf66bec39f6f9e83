"""Builds with the learner's kernels: the module <build folder>/overlay/<name>.so, beside the shipped one.

CMake chooses the files; here is what a person sees of it: the errors in their own file and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import typing
from pathlib import Path

from . import compile_errors, configure, environment, toolchain
from .arguments import Options
from .project import Failure, learner_file, learner_files, shown

if typing.TYPE_CHECKING:
    import nox

SEEN = "overlay-seen.json"  # in the build folder: times of the learner's files at the last build
ALONE = "kernels-alone"  # in the build folder: links to the asked-for operators, when another one does not compile


def build(session: nox.Session, backend: str, options: Options, device: str) -> Path:
    """Bring what the options ask for up to date, the learner's kernels with --kernels. Returns the build folder."""
    tree = configure.build(session, backend, options, device)
    if options.kernels is None:
        return tree
    if not any(found == backend for _, found, _ in learner_files(options.kernels)):
        session.log(f"note: {shown(options.kernels)} has no kernel for {backend}: the shipped ones run")
    _touch_replaced(options.kernels, tree)
    output = _build_target(session, tree, backend, device)
    if output is None:
        return tree
    wanted = {learner_file(options.kernels, op, backend) for op in options.ops}
    broken = {path for _, _, path in learner_files(options.kernels) if compile_errors.blames(output, path)}
    if wanted and broken and not wanted & broken:
        names = ", ".join(shown(path) for path in sorted(broken))
        session.log(f"note: {names} does not compile and is left out: only {', '.join(options.ops)} was asked for")
        alone = dataclasses.replace(options, kernels=_alone(tree, options.kernels, options.ops))
        configure.configure(session, backend, alone, device, always=False)
        output = _build_target(session, tree, backend, device)
        if output is None:
            return tree
    raise Failure(_explanation(output, sorted(broken & wanted or broken), tree))


def build_devices(session: nox.Session, backend: str, options: Options) -> None:
    """The session `build`: the device asked for; without one the emulator, and the GPU where there is a reason."""
    device, reason = toolchain.build_device(backend, options.device)
    automatic = options.device in (None, "auto")
    session.log(f"{backend}: {'emulator and gpu' if automatic and device == 'gpu' else device} ({reason})")
    for each in ["emulator", "gpu"] if automatic and device == "gpu" else [device]:
        build(session, backend, options, each)


def _build_target(session: nox.Session, tree: Path, backend: str, device: str) -> str | None:
    """None where the overlay was built, else what the compiler printed."""
    target = f"{configure.module(backend, device)}_overlay"
    status, output = environment.capture(session, "ninja", *configure.ninja_arguments(tree), "-k", "0", target)
    (tree / "overlay.log").write_text(output)
    return output if status else None


def _explanation(output: str, broken: list[Path], tree: Path) -> str:
    log = f"all that the compiler printed: {shown(tree / 'overlay.log')}"
    if not broken:
        return f"the learner's module does not build\n{compile_errors.short(output, Path('/'), '')}\n{log}"
    texts = [compile_errors.short(output, path, shown(path)) for path in broken]
    return f"{', '.join(shown(path) for path in broken)} does not compile\n" + "\n".join(texts) + f"\n{log}"


def _alone(tree: Path, kernels: Path, ops: list[str]) -> Path:
    folder = tree / ALONE / "-".join(ops)
    shutil.rmtree(folder, ignore_errors=True)  # links only
    folder.mkdir(parents=True)
    for op in ops:
        if (kernels / op).is_dir():
            (folder / op).symlink_to(kernels / op)
    return folder


def _touch_replaced(kernels: Path, tree: Path) -> None:
    """Make ninja see a learner's file that was replaced by one with an older time (unpacked, or copied with cp -p)."""
    try:
        seen = json.loads((tree / SEEN).read_text())
    except (OSError, ValueError):
        seen = {}
    now: dict[str, list[int]] = {}
    for _, _, path in learner_files(kernels):
        before = seen.get(str(path))
        if before and before != _identity(path) and path.stat().st_mtime_ns <= before[0]:
            path.touch()
        now[str(path)] = _identity(path)
    (tree / SEEN).write_text(json.dumps(now))


def _identity(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_mtime_ns, status.st_size, status.st_ino]
