"""What is under test: backend and device, taken from what is built and what the machine has.

Whether a thing is there is asked of the runtime; nothing here lists backends.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmark.devices import of_worker

ROOT = Path(__file__).resolve().parents[2]


class UnavailableError(Exception):
    """The asked-for backend or device is not there; the text says why and what to do."""


@dataclass(frozen=True)
class Target:
    """One backend on one device."""

    backend: str
    device: str
    shown: str = field(default="", compare=False)  # the device in the ids of tests, where that is another one

    def __str__(self) -> str:
        return f"{self.backend}-{(self.shown or self.device).replace(':', '')}"

    @property
    def where(self) -> dict[str, str]:
        """The keyword arguments that send a call there."""
        return {"backend": self.backend, "device": self.device}

    @property
    def is_emulator(self) -> bool:
        return self.device == "emulator"

    @property
    def flushes_subnormals(self) -> bool:
        """MetaX hardware flushes float32 subnormals, as the header of vector_add says; nothing else does."""
        return self.backend == "metax" and not self.is_emulator


def names(option: str | None) -> list[str]:
    """The names of a comma list."""
    return [name.strip() for name in (option or "").split(",") if name.strip()]


def unknown(what: str, name: str, known: list[str]) -> str:
    """One sentence about a name that nobody knows."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"unknown {what} {name!r}: {hint}known are {', '.join(known) or 'none'}"


def find_targets(oprt: Any, backends: str | None, device: str) -> list[Target]:
    """The targets for --backend and --device. Raises UnavailableError when one that was named is not there."""
    available = [Target(backend, kind) for backend, kind in oprt.available()]
    known = list(oprt.backends())
    wanted = [name for name in names(backends) if name != "all"]
    for name in wanted:
        if name not in known:
            raise UnavailableError(unknown("backend", name, [*known, "all"]))
    kind = device.partition(":")[0]
    if kind not in ("auto", "emulator", "gpu"):
        raise UnavailableError(unknown("device", device, ["auto", "emulator", "gpu", "gpu:N"]))
    found = []
    for backend in wanted or known:
        mine = [target for target in available if target.backend == backend]
        here = {target.device.partition(":")[0]: target for target in reversed(mine)}  # of several GPUs the first
        chosen = here.get(kind) if kind != "auto" else here.get("gpu", here.get("emulator"))
        if chosen is None and wanted:
            raise UnavailableError(_reason(oprt, backend, device))
        if chosen is not None:
            found.append(_checked(oprt, Target(backend, device if kind == "gpu" else chosen.device)))
    if not found:
        raise UnavailableError("\n".join(_reason(oprt, backend, device) for backend in known))
    return found


def for_worker(targets: Sequence[Target], worker: str | None, available: Sequence[tuple[str, str]]) -> list[Target]:
    """The targets as one worker of `pytest -n` uses them: each takes another GPU, and the ids of its tests stay."""
    gpus = Counter(backend for backend, device in available if device.partition(":")[0] == "gpu")
    return [
        dataclasses.replace(target, device=of_worker(target.device, worker, gpus[target.backend]), shown=target.device)
        for target in targets
    ]


def _checked(oprt: Any, target: Target) -> Target:
    """The target, once the device with its index is known to be there."""
    if ":" in target.device:
        try:
            oprt.synchronize(**target.where)
        except oprt.OperatorRuntimeError as error:
            raise UnavailableError(str(error)) from None
    return target


def _reason(oprt: Any, backend: str, device: str) -> str:
    try:
        oprt.synchronize(backend=backend, device=device)
    except oprt.OperatorRuntimeError as error:
        return f"{backend} on {device}: {error}"
    return f"{backend} on {device}: not available"


def kernel_owner(path: str) -> str:
    """Whose a kernel is, from where its file lies."""
    file = Path(path)
    if file.is_relative_to(ROOT / "operators"):
        return "reference"
    return f"learner's {file}"


def kernels_option(path: str) -> list[str]:
    """The option with which a session uses the kernel in that file: <folder>/<op>/<backend>/<file>."""
    if kernel_owner(path) == "reference":
        return []
    folder = Path(path).parents[2]
    return ["--kernels"] if folder == ROOT / "workspace" else [f"--kernels {folder}"]


def kernel_lines(oprt: Any, target: Target) -> list[str]:
    """One line for each kernel that is not the reference, or one that says that all are."""
    kernels = [info for info in oprt.kernels(**target.where) if not info.technique]
    own = [f"{info.op}: {kernel_owner(info.path)}" for info in kernels if kernel_owner(info.path) != "reference"]
    reference = [info.op for info in kernels if kernel_owner(info.path) == "reference"]
    return [*own, f"{', '.join(reference)}: reference"] if reference else own
