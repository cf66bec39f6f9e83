"""The one parser for what follows `--`, shared by every session.

A session says which options concern it; its -h shows those, and it accepts and ignores the others, because nox hands
the same words to each session that was asked for.
"""

from __future__ import annotations

import argparse
import os
import re
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .project import BACKENDS, LEVELS, ROOT, WORKSPACE, Failure, nearest, operators

DEVICE_NAMES = ("auto", "emulator", "gpu", "gpu:0", "gpu:1")
DEVICE_PATTERN = re.compile(r"auto|emulator|gpu(:\d+)?")
ALL_GPUS = "gpu:all"  # for bench: the rows are shared over all of them


@dataclass
class Options:
    """What a person typed after `--`, checked, with paths made absolute from the folder where nox was called."""

    ops: list[str] = field(default_factory=list)  # empty: all
    backends: tuple[str, ...] = BACKENDS
    backend_given: bool = False
    device: str | None = None  # None: not asked for
    kernels: Path | None = None  # the learner's folder, when its kernels shall be used
    cases: list[str] = field(default_factory=list)
    level: int | None = None
    max_level: int | None = None
    technique: str | None = None
    json: Path | None = None
    csv: Path | None = None
    plots: Path | None = None
    compare: Path | None = None
    peers: str | None = None  # names, or all
    overlap: bool = False
    name: str | None = None
    like: str = "relu"
    batch: bool = False
    fix: bool = False
    rest: list[str] = field(default_factory=list)  # for pytest


# flags -> argparse settings; every option of every session stands here.
OPTIONS: dict[str, dict[str, typing.Any]] = {
    "--op": {"action": "append", "metavar": "NAME", "help": "operator; repeat it or separate by commas (default: all)"},
    "--backend": {"action": "append", "metavar": "NAME", "help": f"{', '.join(BACKENDS)} or all"},
    "--device": {
        "metavar": "NAME",
        "help": "auto, emulator, gpu, gpu:N, for bench also gpu:all (default: CAMP_DEVICE, else auto)",
    },
    "--kernels": {
        "nargs": "?",
        "const": str(WORKSPACE),
        "metavar": "DIR",
        "help": "use the learner's kernels in DIR where they exist (default DIR: workspace)",
    },
    "--case": {"action": "append", "metavar": "ID", "help": "only this case; repeat it for more"},
    "--level": {"type": int, "metavar": "N", "help": "only the cases of level N (1 to 4)"},
    "--max-level": {"type": int, "metavar": "N", "help": "only the cases up to level N"},
    "--technique": {
        "metavar": "NAME",
        "help": "test or time this technique instead of the reference kernel; all to time every one",
    },
    "--json": {"metavar": "FILE", "help": "write everything to FILE as well: rows, samples, machine"},
    "--csv": {"metavar": "FILE", "help": "write the rows to FILE, a line each"},
    "--plots": {"metavar": "DIR", "help": "draw the rows as PNG files in DIR (needs matplotlib)"},
    "--compare": {"metavar": "FILE", "help": "compare with what --json wrote before"},
    "--peers": {
        "nargs": "?",
        "const": "all",
        "metavar": "NAMES",
        "help": "time other libraries too, on a GPU: all of them, or a comma list",
    },
    "--overlap": {"action": "store_true", "help": "add rows whose launches overlap"},
    "--sanitize": {"action": "store_true", "help": "the instrumented emulator (not there yet)"},
    "--name": {"metavar": "NAME", "help": "the new operator's name, such as gelu"},
    "--like": {"metavar": "NAME", "help": "the operator that it is modelled on (default: relu)"},
    "--batch": {"action": "store_true", "help": "run to the first kernel, print where that is and end: no prompt"},
    "--fix": {
        "action": "store_true",
        "help": "write the right format into the files instead of refusing the wrong one",
    },
}
# What the kernel under test, its cases and its device are chosen by.
TEST_OPTIONS = ("--op", "--device", "--kernels", "--case", "--level", "--max-level", "--technique", "--sanitize")
CHECK_OPTIONS = tuple(option for option in TEST_OPTIONS if option != "--technique")
OUTPUT_OPTIONS = ("--json", "--csv", "--plots", "--compare")
BENCH_OPTIONS = ("--op", "--device", "--kernels", "--technique", "--peers", "--overlap", *OUTPUT_OPTIONS, "--sanitize")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> typing.NoReturn:
        raise Failure(f"{self.prog.removesuffix(' --')}: {message} (-h after -- shows the options)")


def _parser(prog: str, description: str, concerns: Sequence[str], pytest: bool) -> argparse.ArgumentParser:
    epilog = "Everything else goes to pytest: -v, -x, -k EXPRESSION, a test file, ..." if pytest else None
    parser = _Parser(
        prog=f"{prog} --", description=description, epilog=epilog, allow_abbrev=False, usage=f"{prog} -- [options]"
    )
    for flag, settings in OPTIONS.items():
        known = dict(settings)
        if flag not in concerns:
            known["help"] = argparse.SUPPRESS
        parser.add_argument(flag, **known)
    return parser


def parse(
    words: Sequence[str],
    *,
    prog: str,
    description: str = "",
    concerns: Sequence[str] = (),
    backend: str | None = None,
    pytest: bool = False,
    new_folder: bool = False,
    folder: Path | None = None,
    environment: typing.Mapping[str, str] = os.environ,
) -> Options:
    """Read the words after `--`.

    folder: where nox was called. backend: the one that the session's name fixes. pytest: unknown words are for it.
    new_folder: the folder of --kernels need not exist.
    """
    folder = folder or Path.cwd()
    parsed, rest = _parser(prog, description, concerns, pytest).parse_known_args(list(words))
    if rest and not pytest:
        raise Failure(
            f"{prog} does not know {rest[0]}{nearest(rest[0].partition('=')[0], OPTIONS)}; -h after -- shows "
            "its options"
        )

    options = Options(technique=parsed.technique, name=parsed.name, batch=parsed.batch, fix=parsed.fix)
    options.ops = _operators(parsed.op or [])
    options.backends, options.backend_given = _backends(parsed.backend or [], backend, prog)
    options.device = _device(parsed.device, environment)
    if options.device == ALL_GPUS and "--device" in concerns and "--json" not in concerns:
        raise Failure(f"--device {ALL_GPUS} is for bench, which shares its rows over all GPUs: name one, as gpu:0")
    options.cases = parsed.case or []
    options.level = _level("--level", parsed.level)
    options.max_level = _level("--max-level", parsed.max_level)
    options.kernels = _kernels(parsed.kernels, folder, environment, new_folder)
    options.peers, options.overlap = parsed.peers, parsed.overlap
    for flag in OUTPUT_OPTIONS:
        name = flag.removeprefix("--")
        setattr(options, name, _output(flag, getattr(parsed, name), folder))
    options.like = _operators([parsed.like])[0] if parsed.like else "relu"
    options.rest = rest if folder == ROOT else [_from(folder, word) for word in rest]  # sessions run in ROOT
    if parsed.sanitize or environment.get("CAMP_SANITIZE", "0") not in ("", "0"):
        raise Failure(
            "--sanitize and CAMP_SANITIZE are for the instrumented emulator, which is not there yet: leave them out"
        )
    return options


def _output(flag: str, text: str | None, folder: Path) -> Path | None:
    path = folder / text if text else None
    if path and not path.parent.is_dir():
        raise Failure(f"{flag}: the folder {path.parent} does not exist")
    return path


def _operators(names: Sequence[str]) -> list[str]:
    known = operators()
    chosen: list[str] = []
    for name in ",".join(names).split(","):
        if name in ("", "all"):
            continue
        if name not in known:
            raise Failure(f"no operator is called {name!r}{nearest(name, known)}; known: {', '.join(known)}")
        if name not in chosen:
            chosen.append(name)
    return chosen


def _backends(names: Sequence[str], fixed: str | None, prog: str) -> tuple[tuple[str, ...], bool]:
    chosen: list[str] = []
    for name in ",".join(names).split(","):
        if name and name != "all" and name not in BACKENDS:
            raise Failure(f"no backend is called {name!r}{nearest(name, BACKENDS)}; known: {', '.join(BACKENDS)}, all")
        chosen += BACKENDS if name == "all" else [name] if name else []
    if fixed is None:
        return tuple(b for b in BACKENDS if b in chosen) or BACKENDS, bool(chosen)
    other = [name for name in chosen if name != fixed]
    if other and fixed not in chosen:
        raise Failure(f"{prog} is for {fixed} only; for {other[0]} type: {prog.replace(fixed, other[0])}")
    return (fixed,), True


def _device(typed: str | None, environment: typing.Mapping[str, str]) -> str | None:
    device, origin = (typed, "--device") if typed else (environment.get("CAMP_DEVICE") or None, "CAMP_DEVICE")
    if device and typed != ALL_GPUS and not DEVICE_PATTERN.fullmatch(device):  # C, too, reads CAMP_DEVICE: one device
        raise Failure(
            f"{origin}: no device is called {device!r}{nearest(device, DEVICE_NAMES)}; known: auto, "
            f"emulator, gpu, gpu:N{f', {ALL_GPUS}' if typed else ''}"
        )
    return device


def _level(flag: str, level: int | None) -> int | None:
    if level is not None and level not in LEVELS:
        raise Failure(f"{flag} {level}: levels go from {LEVELS[0]} to {LEVELS[-1]}")
    return level


def _kernels(typed: str | None, folder: Path, environment: typing.Mapping[str, str], new_folder: bool) -> Path | None:
    origin, text = ("--kernels", typed) if typed else ("CAMP_KERNELS", environment.get("CAMP_KERNELS", ""))
    if not text:
        return None
    path = (folder / text).resolve()
    if not path.is_dir() and not new_folder:
        hint = "; nox -s learn -- --op vector_add makes it" if path == WORKSPACE else ""
        raise Failure(f"{origin}: the folder {path} does not exist{hint}")
    return path


def split_own(words: Sequence[str], flags: Sequence[str], folder: Path) -> tuple[list[str], list[str]]:
    """Split a command line for Python into this project's leading options and what Python gets.

    --kernels takes the next word only where that is a folder, so that a script may follow it.
    """
    own: list[str] = []
    rest = list(words)
    while rest:
        flag, equals, _ = rest[0].partition("=")
        if flag in ("-h", "--help"):
            own.append(rest.pop(0))
        elif flag not in flags:
            break
        else:
            own.append(rest.pop(0))
            takes_folder = flag == "--kernels" and not equals and rest and (folder / rest[0]).is_dir()
            if takes_folder or (flag != "--kernels" and not equals and rest):
                own.append(rest.pop(0))
    return own, rest


def _from(folder: Path, word: str) -> str:
    """A path that exists where nox was called, made absolute; anything else as it is. Keeps pytest's ::name."""
    path, colons, name = word.partition("::")
    if word.startswith("-") or not path or not (folder / path).exists():
        return word
    return f"{folder / path}{colons}{name}"
