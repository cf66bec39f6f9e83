"""The session `learn`: put an exercise into the learner's workspace, which is a git repository of its own.

Never writes over a file that is there. What the exercise asks for stands in the scaffold and in its hints.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import typing
from pathlib import Path

from .arguments import Options
from .project import ROOT, WORKSPACE, Failure, Operator, learner_file, learner_files, operators, shown

if typing.TYPE_CHECKING:
    import nox

README = """\
# My kernels

Each file here replaces the shipped kernel of one operator for one backend:
`<operator>/nvidia/kernel.cuh` or `<operator>/metax/<operator>_metax.maca`.

    nox -s learn -- --op vector_add       start another exercise
    nox -s check -- --op vector_add       build mine and test it level by level
    nox -s bench -- --op vector_add --kernels
    nox -s debug -- --op vector_add --case ID --kernels

Run these in the folder above. An exercise is never written over; delete the file to start again.
This folder is its own git repository: commit when a level passes.
"""
IGNORED = "__pycache__/\n*.o\n*.so\n.cache/\n"
COMMIT_AS = ("-c", "user.name=Learner", "-c", "user.email=learner@localhost")  # only where git knows no name


def learn(session: nox.Session, options: Options) -> None:
    known = operators()
    exercises = [name for name, op in known.items() if any(op.scaffold(b) for b in options.backends)]
    if not options.ops:
        raise Failure(
            f"name the exercise: nox -s learn -- --op {exercises[0] if exercises else 'vector_add'}; there "
            f"are {', '.join(exercises)}"
        )
    backends = options.backends if options.backend_given else options.backends[:1]
    workspace = options.kernels or WORKSPACE
    wanted = [(known[name], backend, _scaffold(known[name], backend)) for name in options.ops for backend in backends]
    try:
        written = start(workspace, [(op, backend, scaffold) for op, backend, scaffold in wanted])
    except OSError as error:
        raise Failure(
            f"{workspace} cannot be written ({error.strerror}): pass --kernels DIR with a folder of yours"
        ) from None
    _commit(session, workspace, written)
    for op, backend, _ in wanted:
        _explain(session, op, backend, workspace, learner_file(workspace, op.name, backend) in written)


def _scaffold(op: Operator, backend: str) -> Path:
    scaffold = op.scaffold(backend)
    if scaffold is None:
        raise Failure(
            f"{op.name} has no exercise for {backend}: it is a worked example, read {shown(op.kernel(backend))}"
        )
    return scaffold


def start(workspace: Path, wanted: list[tuple[Operator, str, Path]]) -> list[Path]:
    """Copy what is not there yet; the files that were written."""
    workspace.mkdir(parents=True, exist_ok=True)
    texts = {workspace / "README.md": README, workspace / ".gitignore": IGNORED}
    for op, backend, scaffold in wanted:
        texts[learner_file(workspace, op.name, backend)] = scaffold.read_text()
    written = []
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x") as file:  # fails where the file is there, a broken link included
                file.write(text)
        except FileExistsError:
            continue
        written.append(path)
    return written


def untouched(op: Operator, backend: str, file: Path) -> bool:
    scaffold = op.scaffold(backend)
    return scaffold is not None and scaffold.read_text() == file.read_text(errors="replace")


def mention_unused(session: nox.Session, options: Options, backends: tuple[str, ...]) -> None:
    """Say which learner's files a session did not use."""
    if options.kernels:
        return
    for op, backend, path in learner_files(WORKSPACE):
        if backend in backends and op in (options.ops or [op]):
            session.log(f"note: {shown(path)} is there and was not used; --kernels uses it")


def _explain(session: nox.Session, op: Operator, backend: str, workspace: Path, new: bool) -> None:
    path = shown(learner_file(workspace, op.name, backend))
    device = f" --backend {backend}" if backend != "nvidia" else ""
    here = "" if workspace == WORKSPACE else f" --kernels {workspace}"
    hints = op.folder / "scaffold" / "hints.md"
    lines = [
        f"{path} is {'written' if new else 'there already and was left as it is'}",
        f"1. edit {path}: the places marked TODO",
        f"2. nox -s check -- --op {op.name}{device}{here}     builds it and tests it level by level",
        f"3. nox -s bench -- --op {op.name}{device}{here or ' --kernels'}     times it against NumPy",
    ]
    if hints.is_file():
        lines.append(f"stuck? {shown(hints)}; the finished kernel is {shown(op.kernel(backend))}")
    for line in lines:
        session.log(line)


def _commit(session: nox.Session, workspace: Path, written: list[Path]) -> None:
    """A commit of the new files alone, so that `git diff` shows what the learner changed. Without git, nothing."""
    git = shutil.which("git")
    if not git or not written:
        return
    names = [str(path.relative_to(workspace)) for path in written]
    has_name = (
        subprocess.run([git, "config", "user.email"], cwd=workspace, capture_output=True, check=False).returncode == 0
    )
    title = "Start " + ", ".join(
        sorted({Path(name).parent.as_posix() for name in names if "/" in name} or {"the workspace"})
    )
    commands = [] if (workspace / ".git").exists() else [["init", "--quiet"]]
    commands += [["add", "--force", "--", *names]]
    commands += [
        [*(() if has_name else COMMIT_AS), "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", title, "--", *names]
    ]
    # Inside a hook of the project these would name the project's repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for command in commands:
        done = subprocess.run(
            [git, *command], cwd=workspace, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            session.log(
                f"git {command[0]} did not work in {shown(workspace)} ({done.stderr.strip()}); the files are "
                "there all the same"
            )
            return


assert WORKSPACE.parent == ROOT
