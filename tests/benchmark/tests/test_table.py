"""The printed table: GPU and emulator apart, rows of a problem together, and all that makes a number doubtful."""

from __future__ import annotations

import pytest

from tests.benchmark import table
from tests.benchmark.document import Document
from tests.benchmark.tests import sample


def printed(document: Document, capsys: pytest.CaptureFixture[str]) -> list[str]:
    table.print_rows(document)
    return capsys.readouterr().out.splitlines()


def test_gpu_and_emulator_rows_never_share_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [sample.row(), sample.row("copy", (1024,), device="emulator", limit_us=None, numpy_us=4.0, time_us=2.0)]
    lines = printed(sample.document(rows), capsys)
    headers = [position for position, line in enumerate(lines) if line.startswith("operator")]
    assert len(headers) == 2
    emulated, real = lines[headers[0] : headers[1]], lines[headers[1] :]
    assert any(line.startswith("copy") for line in emulated) and any(line.startswith("softmax") for line in real)
    assert not any(line.startswith("softmax") for line in emulated)
    assert table.EMULATOR_NOTE in emulated and table.EMULATOR_NOTE not in real
    assert "ratio" in emulated[0] and "x limit" in real[0]


def test_a_row_reads_from_left_to_right(capsys: pytest.CaptureFixture[str]) -> None:
    row = sample.row("reduce_sum", (4096, 4096), "float16", time_us=10.0, spread_us=0.2, limit_us=8.0)
    lines = printed(sample.document([row]), capsys)
    header, line = (next(each for each in lines if each.startswith(word)) for word in ("operator", "reduce_sum"))
    for name, text in (("shape", "4096x4096 axis -1"), ("dtype", "float16")):
        assert line[header.index(name) :].startswith(text)
    assert [text for text in ("10.00 us", "2.0 %", "3356", "1.25", "miss by", "TRUSTED") if text not in line] == []


def test_rows_of_a_problem_stand_together(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = (144, 1280), (4096, 4096)
    rows = [
        sample.peer("torch", "softmax", small, "float32", 1.9),
        sample.row(shape=large),
        sample.peer("triton", "softmax", small, "float32", 1.1),
        sample.row(shape=small, subject="naive", factor=3.0),
        sample.row(shape=small),
    ]
    assert [(row.shape[0], row.subject) for row in table.ordered(rows)] == [
        (144, "reference"),
        (144, "naive"),
        (144, "triton"),
        (144, "torch"),
        (4096, "reference"),
    ]


def test_doubts_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    row = sample.row(verdict="SUSPECT", reasons=["clocks moved from 1980 to 1200 MHz", "another process"])
    absent = [{"peer": "quack", "reason": "quack cannot be imported", "hint": "pip install quack-kernels"}]
    text = "\n".join(printed(sample.document([row], peers_absent=absent), capsys))
    assert "SUSPECT softmax 4096x4096 float32, reference: clocks moved from 1980 to 1200 MHz; another process" in text
    assert "no rows of quack: quack cannot be imported (pip install quack-kernels)" in text
    assert "differs by 0.4 % at most" in text
    assert "goals:" not in text


def test_goals_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [sample.row("reduce_sum", (64, 64)), sample.row("reduce_sum", (4096, 4096), factor=2)]
    assert "goals: 1 hold, 1 miss, counting TRUSTED rows" in printed(sample.document(rows), capsys)


def test_overlapped_rows_are_marked_and_devices_named(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [sample.row(device="gpu:0", launch="overlap"), sample.row(device="gpu:1")]
    devices = [{"backend": "nvidia", "device": f"gpu:{index}", "name": "Example GPU"} for index in (0, 1)]
    text = "\n".join(printed(sample.document(rows, devices=devices), capsys))
    assert "reference, overlap" in text
    assert "nvidia on gpu:1: Example GPU" in text and "gpu:0" in text
