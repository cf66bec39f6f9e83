"""Other libraries on the same problem: same operands, same stream, same timers as the techniques.

A library that is not there, or that fails, becomes an entry of peers_absent with the reason; it never ends a run.
Results go straight into the operand sets' outputs where the library can do that without an extra copy.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.benchmark.peer_subjects import Call, CupySubject, PeerSubject, TorchSubject, import_cupy
from tests.harness.record import Case, OperatorRecord

# Imports what the peer needs and makes its call for a case; None where the peer has nothing to offer.
Finder = Callable[[OperatorRecord, Case], Call | None]
DTYPES = ("float32", "float16", "bfloat16")


class Available(NamedTuple):
    """The peers of one case: those that ran once, and why others did not."""

    subjects: list[Any]
    absent: list[dict[str, str]]


@dataclass(frozen=True)
class Peer:
    """One library. subject is the class that knows its streams and graphs."""

    name: str
    modules: tuple[str, ...]
    packages: str  # what pip installs
    find: Finder
    subject: type[PeerSubject]


def available(
    oprt: Any, record: OperatorRecord, case: Case, sets: Any, stream: Any, *, names: Sequence[str] | None = None
) -> Available:
    """The peers that can run a case, each compiled and run once.

    Parameters
    ----------
    sets
        The operand sets that all subjects share: sets[i].inputs and .output are Tensors, sets.outputs(i) is a result on
        the host.
    stream : oprt.Stream
        Where everything is queued.
    names : sequence of str, optional
        Only these of PEERS; all if not given.
    """
    found = Available([], [])
    if stream.device == "emulator" or case.dtype not in DTYPES:
        return found
    for peer in PEERS:
        if names is not None and peer.name not in names:
            continue
        if missing := _missing(peer):
            found.absent.append(absent(peer.name, f"{', '.join(missing)} cannot be imported", hint=_hint(peer)))
            continue
        try:
            call = peer.find(record, case)
            if call is not None:
                found.subjects.append(peer.subject(peer.name, call, oprt, sets, stream))
        except Exception as error:  # whatever a foreign library raises is its reason
            # Without the shape, so that the same failure of many shapes is one entry.
            found.absent.append(absent(peer.name, f"{record.name} {case.dtype}: {_text(error)}"))
    return found


def absent(name: str, reason: str | Exception, *, hint: str = "") -> dict[str, str]:
    """An entry of peers_absent."""
    return {"peer": name, "reason": reason if isinstance(reason, str) else _text(reason), "hint": hint}


def _missing(peer: Peer) -> list[str]:
    return [module for module in peer.modules if importlib.util.find_spec(module) is None]


def _hint(peer: Peer) -> str:
    return (
        f"pip install {peer.packages} into the Python that runs nox, then nox --no-venv -s bench-nvidia: "
        "the private environment of the sessions has no other libraries"
    )


def _text(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0][:300]}"


# Calls -----------------------------------------------------------------------------------------------------------


def _axis(record: OperatorRecord, case: Case) -> Any:
    """The axis as PyTorch and CuPy take it; None for all."""
    return case.parameters.get("axis", -1 if record.name == "softmax" else None)


def _keepdims(case: Case) -> bool:
    return bool(case.parameters.get("keepdims", False))


def _torch_eager(record: OperatorRecord, case: Case) -> Call | None:
    torch = importlib.import_module("torch")
    axis, keepdims = _axis(record, case), _keepdims(case)
    calls: dict[str, Call] = {
        "copy": lambda inputs, out: out.copy_(inputs[0]),
        "vector_add": lambda inputs, out: torch.add(*inputs, out=out),
        "relu": lambda inputs, out: torch.clamp_min(inputs[0], 0, out=out),  # what torch.relu runs; that has no out=
        "softmax": lambda inputs, out: torch.softmax(inputs[0], axis, out=out),
        "reduce_sum": lambda inputs, out: torch.sum(inputs[0], dim=axis, keepdim=keepdims, out=out),
    }
    return None if case.parameters.get("slope") else calls.get(record.name)


def _torch_compile(record: OperatorRecord, case: Case) -> Call | None:
    torch = importlib.import_module("torch")
    axis, keepdims = _axis(record, case), _keepdims(case)
    values: dict[str, Callable[..., Any]] = {
        "copy": lambda x: x,
        "vector_add": lambda x, other: x + other,
        "relu": torch.relu,
        "softmax": lambda x: torch.softmax(x, axis),
        "reduce_sum": lambda x: torch.sum(x, dim=axis, keepdim=keepdims),
    }
    value = values.get(record.name)
    if value is None or case.parameters.get("slope"):
        return None
    torch.compiler.reset()  # a process may compile few variants of one function
    # Writing into out is part of what is compiled: the kernel stores there and allocates no result.
    call: Call = torch.compile(lambda inputs, out: out.copy_(value(*inputs)), dynamic=False, fullgraph=True)
    return call


def _triton(record: OperatorRecord, case: Case) -> Call | None:
    if not _is_softmax_of_rows(record, case):
        return None
    module = importlib.import_module("tests.benchmark.triton_softmax")
    if case.shape[1] > module.MAX_COLUMNS:
        raise ValueError(f"a program holds a whole row in registers, at most {module.MAX_COLUMNS} columns")
    return lambda inputs, out: module.softmax(inputs[0], out)


def _quack(record: OperatorRecord, case: Case) -> Call | None:
    if not _is_softmax_of_rows(record, case):
        return None
    softmax = importlib.import_module("quack.softmax")._softmax_fwd  # quack.softmax() itself allocates its result
    return lambda inputs, out: softmax(inputs[0], out)


def _cub(record: OperatorRecord, case: Case) -> Call | None:
    if record.name != "reduce_sum":
        return None
    cupy = import_cupy()
    axis, keepdims = _axis(record, case), _keepdims(case)
    return lambda inputs, out: cupy.sum(inputs[0], axis=axis, keepdims=keepdims)


def _is_softmax_of_rows(record: OperatorRecord, case: Case) -> bool:
    return record.name == "softmax" and len(case.shape) == 2 and _axis(record, case) in (-1, 1)


PEERS = (
    Peer("torch", ("torch",), "torch", _torch_eager, TorchSubject),
    Peer("torch.compile", ("torch", "triton"), "torch triton", _torch_compile, TorchSubject),
    Peer("triton", ("torch", "triton"), "torch triton", _triton, TorchSubject),
    Peer("quack", ("torch", "quack"), "torch quack-kernels", _quack, TorchSubject),
    Peer("cub", ("cupy",), "cupy-cuda13x", _cub, CupySubject),
)
