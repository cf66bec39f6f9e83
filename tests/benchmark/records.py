"""The entries of the benchmark's document, and the check that a value from outside is one.

These classes are the schema of the JSON file, beside Document in document.py; docs/benchmarking.md explains it.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

REFERENCE = "reference"  # the subject that a user gets: the kernel that the operator chooses by itself


class DocumentError(Exception):
    """A document that cannot be read; the text names the file, the entry, what came and what was wanted."""


@dataclass(frozen=True)
class DeviceRecord:
    """One device of the run. Clocks are None where nobody can say them."""

    backend: str
    device: str
    name: str
    properties: dict[str, Any] = field(default_factory=dict)
    clocks_before: dict[str, Any] | None = None
    clocks_after: dict[str, Any] | None = None


@dataclass(frozen=True)
class SelfTest:
    """The same kernel measured as two subjects; noise is the difference as a fraction of the smaller time."""

    backend: str
    device: str
    operator: str
    shape: list[int]
    dtype: str
    time_us_first: float
    time_us_second: float
    noise: float


@dataclass(frozen=True)
class Limit:
    """What the device does at best with size_bytes: copied, read, read twice and written, one way each."""

    backend: str
    device: str
    size_bytes: int
    copy_us: float
    copy_gb_s: float
    copy_variant: int
    read_us: float
    read_gb_s: float
    read_variant: int
    read_twice_us: float | None = None
    empty_us: float | None = None
    bare_launch_us: float | None = None


@dataclass(frozen=True)
class KernelFile:
    """A kernel of the modules that were measured."""

    backend: str
    device: str
    operator: str
    technique: str
    path: str
    sha256: str


@dataclass(frozen=True)
class HostTime:
    """What one call costs the host, in bursts on an idle stream. what: bare launch, prepared run, functional, ..."""

    backend: str
    device: str
    what: str
    median_us: float
    samples_us: list[float] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class AbsentPeer:
    """A peer without rows, or with fewer than the others."""

    peer: str
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """One subject on one input. Times are of one launch; spread is the distance between the quartiles."""

    operator: str
    subject: str
    kind: str  # technique or peer
    launch: str  # ordinary or overlap
    backend: str
    device: str
    shape: list[int]
    parameters: dict[str, Any]
    dtype: str
    bytes_read: int
    bytes_written: int
    bytes_moved: int
    time_us: float
    spread_us: float
    bandwidth_gb_s: float
    verified: bool
    verdict: str  # TRUSTED or SUSPECT
    timer: str
    reasons: list[str] = field(default_factory=list)
    slope_us: float | None = None
    single_us: float | None = None
    floor_us: float | None = None
    limit_us: float | None = None  # the best measured copy or read of the same input bytes
    limit_kind: str | None = None  # copy or read
    sets: int = 1
    launches_per_graph: int = 1
    numpy_us: float | None = None
    samples_us: list[float] = field(default_factory=list, repr=False)

    @property
    def is_reference(self) -> bool:
        return self.kind == "technique" and self.subject == REFERENCE

    @property
    def is_trusted(self) -> bool:
        return self.verdict == "TRUSTED"

    @property
    def device_kind(self) -> str:
        """gpu of gpu:1."""
        return self.device.partition(":")[0]

    @property
    def input_key(self) -> tuple[Any, ...]:
        """What two rows have in common that measured the same problem on the same device."""
        return (self.operator, self.backend, self.device, *_problem(self))

    @property
    def key(self) -> tuple[Any, ...]:
        """What two rows of different runs have in common that can be compared."""
        return (self.operator, self.subject, self.launch, self.backend, self.device_kind, *_problem(self))


def _problem(row: Row) -> tuple[Any, ...]:
    parameters = tuple(sorted((name, json.dumps(value)) for name, value in row.parameters.items()))
    return (tuple(row.shape), parameters, row.dtype)


def made(values: Mapping[str, Any], kind: type, where: str) -> Any:
    """An instance of a dataclass from a dictionary."""
    fields = {item.name: item for item in dataclasses.fields(kind)}
    for name in values:
        if name not in fields:
            raise DocumentError(f"{where}: {name} is unknown; known are {', '.join(fields)}")
    for name, item in fields.items():
        has_default = not (item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING)
        if name not in values and not has_default:
            raise DocumentError(f"{where}: {name} is missing")
    hints = typing.get_type_hints(kind)
    return kind(**{name: checked(value, hints[name], f"{where}.{name}") for name, value in values.items()})


def checked(value: Any, kind: Any, where: str) -> Any:
    """The value, as the schema wants it."""
    if isinstance(kind, types.UnionType):
        return None if value is None else checked(value, typing.get_args(kind)[0], where)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return value if isinstance(value, kind) else made(_mapping(value, where), kind, where)
    origin = typing.get_origin(kind) or kind
    if origin is list and isinstance(value, Sequence) and not isinstance(value, str):
        item = (typing.get_args(kind) or (Any,))[0]
        return [checked(each, item, f"{where}[{position}]") for position, each in enumerate(value)]
    if origin is dict:
        return dict(_mapping(value, where))
    if kind is Any or (kind is float and _is_number(value)):
        return value
    if not isinstance(value, origin) or (kind is int and isinstance(value, bool)):
        raise DocumentError(f"{where} is {value!r}, wanted {getattr(kind, '__name__', kind)}")
    return value


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DocumentError(f"{where} is {value!r}, wanted an object")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
