"""The document: what is written is what is read, and what is no document is refused with its place."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmark.document import (
    SCHEMA_VERSION,
    Document,
    as_json,
    from_json,
    load,
    merge_peers_absent,
    save,
    save_csv,
)
from tests.benchmark.records import DocumentError
from tests.benchmark.tests import sample


def test_a_saved_document_comes_back(tmp_path: Path) -> None:
    document = sample.full_document()
    save(document, tmp_path / "result.json")
    assert load(tmp_path / "result.json") == document


def test_sections_may_be_dictionaries() -> None:
    document = sample.document([sample.row()])
    assert Document(**as_json(document)) == document


def test_keys_survive_json(tmp_path: Path) -> None:
    rows = [sample.row("reduce_sum", (4, 8, 16), parameters={"axis": (0, 2), "keepdims": True})]
    save(sample.document(rows), tmp_path / "result.json")
    assert load(tmp_path / "result.json").rows[0].key == rows[0].key


@pytest.mark.parametrize(
    ("change", "pieces"),
    [
        ({"schema_version": SCHEMA_VERSION + 1}, ["schema_version", str(SCHEMA_VERSION + 1), str(SCHEMA_VERSION)]),
        ({"rows": [{"operator": "copy"}]}, ["rows[0]", "subject", "missing"]),
        ({"rows": "none"}, ["rows", "'none'"]),
        ({"surprise": 1}, ["surprise", "unknown", "limits"]),
        ({"created": 7}, ["created", "7", "str"]),
        ({"peers_absent": [{"peer": "cub", "reason": 3}]}, ["peers_absent[0].reason", "3", "str"]),
        ({"git": []}, ["git", "[]", "object"]),
    ],
)
def test_what_is_no_document_is_refused(change: dict[str, Any], pieces: list[str]) -> None:
    values = as_json(sample.document([sample.row()])) | change
    with pytest.raises(DocumentError) as error:
        from_json(values)
    assert [piece for piece in pieces if piece not in str(error.value)] == []


def test_a_field_of_a_row_is_checked() -> None:
    values = as_json(sample.document([sample.row(), sample.row()]))
    values["rows"][1]["time_us"] = "fast"
    with pytest.raises(DocumentError, match=r"rows\[1\]\.time_us is 'fast', wanted float"):
        from_json(values)
    values["rows"][1]["time_us"] = 3  # JSON writes whole numbers without a point
    assert from_json(values).rows[1].time_us == 3


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    for name in ("broken.json", "missing.json"):
        with pytest.raises(DocumentError, match=name):
            load(tmp_path / name)
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(DocumentError, match=r"list\.json.*list"):
        load(tmp_path / "list.json")


def test_csv_has_a_line_for_each_row_and_no_samples(tmp_path: Path) -> None:
    row = sample.row("reduce_sum", reasons=["clocks moved", "another process"], verdict="SUSPECT")
    save_csv(sample.document([row]), tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert (line["shape"], line["parameters"], line["dtype"]) == ("4096x4096", "axis=-1", "float32")
    assert line["reasons"] == "clocks moved; another process"
    assert float(line["time_us"]) == row.time_us
    assert "samples_us" not in line


def test_limits_and_peers_are_those_of_the_row() -> None:
    shape = (1008, 2304)
    rows = [
        sample.row(shape=shape),
        sample.peer("torch", "softmax", shape, "float32", 2),
        sample.peer("torch", "softmax", shape, "float16", 2),
        sample.peer("torch", "softmax", shape, "float32", 2, device="gpu:1"),
    ]
    document = sample.document(rows)
    limit = document.limit_of(rows[0])
    assert limit is not None and limit.size_bytes == rows[0].bytes_read
    assert document.limit_of(rows[3]) is None
    assert document.peers_of(rows[0]) == [rows[1]]


def test_absent_peers_are_named_once() -> None:
    entry = {"peer": "quack", "reason": "cannot be imported", "hint": "install it"}
    assert len(merge_peers_absent([entry, dict(entry), entry | {"reason": "another"}])) == 2


def test_json_is_plain(tmp_path: Path) -> None:
    save(sample.document([sample.row()]), tmp_path / "result.json")
    values = json.loads((tmp_path / "result.json").read_text())
    assert next(iter(values)) == "schema_version"
    assert values["rows"][0]["shape"] == [4096, 4096]
