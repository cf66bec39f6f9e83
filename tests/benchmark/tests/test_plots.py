"""The pictures: drawn for every kind of document, and nothing in them is cut off or out of place."""

from __future__ import annotations

import builtins
import importlib.util
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.benchmark import plots
from tests.benchmark.document import Document
from tests.benchmark.tests import sample

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


def size(png: Path) -> tuple[int, int]:
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


@needs_matplotlib
@pytest.mark.parametrize(
    "document",
    [
        sample.full_document(),
        sample.document([sample.row()]),
        sample.document([sample.row("copy", (1024,))]),
        sample.document([sample.row(device="emulator", limit_us=None)]),
    ],
    ids=["full", "one row", "nothing for the roofline", "emulator"],
)
def test_each_device_gets_two_pictures(document: Document, tmp_path: Path) -> None:
    written = plots.write(document, tmp_path / "new" / "folder")
    device = document.rows[0].device
    assert [path.name for path in written] == [f"nvidia-{device}-roofline.png", f"nvidia-{device}-speed.png"]
    assert all(min(size(path)) > 300 for path in written)


@needs_matplotlib
def test_no_line_is_cut_off() -> None:
    document = sample.full_document()
    figure = plots._speed(plots._pyplot(), document.rows, document.limits, "title")
    for axes in figure.axes:
        bottom, top = axes.get_ylim()
        highest = max(max(line.get_ydata(), default=0) for line in axes.lines)
        assert bottom == 0 and highest <= top


def test_a_point_of_the_roofline() -> None:
    row = sample.row("vector_add", (1000,), time_us=1.0)
    assert plots.intensity_and_speed(row) == (pytest.approx(1 / 12), pytest.approx(1.0))


def test_the_limit_is_the_speed_of_its_time() -> None:
    row = sample.row("reduce_sum", (1000, 1000), limit_us=2.0)
    assert plots.limit_curve([row], [sample.limit(row.bytes_read)]) == [(4004000, pytest.approx(2002.0))]
    assert plots.limit_curve([row], []) == []


def test_without_matplotlib_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **settings: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(plots.PlotError, match="pip install matplotlib"):
        plots.write(sample.document([sample.row()]), tmp_path)
