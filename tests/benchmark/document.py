"""The benchmark's result: one JSON document that holds all that is needed to read its numbers later.

The entries are records.py's. Measuring is run.py's part, showing table.py's, plots.py's and page.py's.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmark.records import (
    AbsentPeer,
    DeviceRecord,
    DocumentError,
    HostTime,
    KernelFile,
    Limit,
    Row,
    SelfTest,
    checked,
    made,
)

SCHEMA_VERSION = 1


@dataclass
class Document:
    """Everything about one run. Sections may be given as dictionaries, as they stand in JSON.

    Examples
    --------
    >>> Document(created="2026-01-31T12:00:00Z").rows
    []
    """

    created: str  # ISO 8601, UTC
    git: dict[str, Any] = field(default_factory=dict)  # commit, dirty
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=dict)
    build: Any = None
    devices: list[DeviceRecord] = field(default_factory=list)
    self_test: list[SelfTest] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    kernels: list[KernelFile] = field(default_factory=list)
    host_time: list[HostTime] = field(default_factory=list)
    peers_absent: list[AbsentPeer] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        for name, kind in typing.get_type_hints(Document).items():
            value = getattr(self, name)
            if name != "build":
                setattr(self, name, checked(value, kind, name))

    def limit_of(self, row: Row) -> Limit | None:
        """The limits measured for the row's input bytes on the row's device."""
        place = (row.backend, row.device, row.bytes_read)
        found = (limit for limit in self.limits if (limit.backend, limit.device, limit.size_bytes) == place)
        return next(found, None)

    def peers_of(self, row: Row) -> list[Row]:
        """The peers' rows of the same problem."""
        key = row.input_key
        return [other for other in self.rows if other.kind == "peer" and other.input_key == key]


def as_json(document: Document) -> dict[str, Any]:
    """The document as JSON has it, what identifies it first."""
    values = dataclasses.asdict(document)
    return {"schema_version": values.pop("schema_version"), **values}


def save(document: Document, path: Path) -> None:
    """Write a document."""
    path.write_text(json.dumps(as_json(document), indent=1) + "\n")


def load(path: Path) -> Document:
    """Read and check a document.

    Raises
    ------
    DocumentError
        It is no JSON, has another schema version, or an entry lacks a value or has one of a wrong type.
    """
    try:
        values = json.loads(path.read_text())
        return from_json(values)
    except (OSError, json.JSONDecodeError) as error:
        raise DocumentError(f"{path}: cannot be read: {error}") from None
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None


def from_json(values: object) -> Document:
    """The document of a parsed JSON file."""
    if not isinstance(values, Mapping):
        raise DocumentError(f"is a {type(values).__name__}, wanted an object")
    version = values.get("schema_version")
    if version != SCHEMA_VERSION:
        raise DocumentError(f"schema_version is {version!r}, wanted {SCHEMA_VERSION}; measure again to compare")
    document: Document = made(values, Document, "document")
    return document


def merge_peers_absent(entries: Iterable[Mapping[str, str] | AbsentPeer]) -> list[AbsentPeer]:
    """The entries without repeats, in the order of their first."""
    made = (entry if isinstance(entry, AbsentPeer) else AbsentPeer(**entry) for entry in entries)
    return list(dict.fromkeys(made))


CSV_COLUMNS = tuple(item.name for item in dataclasses.fields(Row) if item.name != "samples_us")


def save_csv(document: Document, path: Path) -> None:
    """Write the rows without their samples, one line each; shapes as 4096x4096, reasons separated by semicolons."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(CSV_COLUMNS)
        writer.writerows([_cell(name, getattr(row, name)) for name in CSV_COLUMNS] for row in document.rows)


def _cell(name: str, value: object) -> object:
    if name == "shape":
        return "x".join(map(str, typing.cast("list[int]", value)))
    if name == "parameters":
        return " ".join(f"{key}={each}" for key, each in typing.cast("dict[str, Any]", value).items())
    return "; ".join(map(str, value)) if isinstance(value, list) else value
