"""The page of results: current, and saying of each goal what holds and what misses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmark import goals, page
from tests.benchmark.document import load, save
from tests.benchmark.records import AbsentPeer
from tests.benchmark.tests import sample


def test_the_page_is_current() -> None:
    document = load(page.RESULTS) if page.RESULTS.exists() else None
    text = page.PAGE.read_text()
    assert page.with_results(text, page.text(document)) == text, "python -m tests.benchmark.page writes it"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A page and a result file that tests may write."""
    written, results = tmp_path / "page.md", tmp_path / "h200.json"
    written.write_text(f"# Title\n\n{page.BEGIN}\nearlier text\n{page.END}\n\nfoot\n")
    monkeypatch.setattr(page, "PAGE", written)
    monkeypatch.setattr(page, "RESULTS", results)
    return written, results


def test_it_is_written_and_then_current(files: tuple[Path, Path]) -> None:
    written, results = files
    save(sample.full_document(), results)
    assert page.main(["--check"]) == 1
    assert page.main([]) == 0
    assert page.main(["--check"]) == 0
    text = written.read_text()
    assert text.startswith("# Title\n") and text.endswith("foot\n") and "earlier text" not in text
    assert page.main([]) == 0
    assert written.read_text() == text


def test_without_results_it_says_so(files: tuple[Path, Path]) -> None:
    written, _ = files
    assert page.main([]) == 0
    text = written.read_text()
    assert page.NO_RESULTS in text
    assert [line.text for line in goals.LINES if line.text not in text] == []


def test_a_page_without_markers_is_refused(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    written, _ = files
    written.write_text("# Title\n")
    assert page.main([]) == 1
    assert page.BEGIN in capsys.readouterr().err
    assert written.read_text() == "# Title\n"


def test_each_goal_has_its_counts_and_misses() -> None:
    rows = [
        sample.row("reduce_sum", (4096, 32768), factor=1.05),
        sample.row("reduce_sum", (1024, 131072), factor=1.188),
        sample.row("reduce_sum", (4096, 4096), factor=0.3, verdict="SUSPECT", reasons=["below the floor"]),
    ]
    text = page.text(sample.document(rows))
    assert f"| {goals.REDUCE_SUM.text} | 1 | 1 | 1 |" in text
    missed = text[text.index("Rows that miss") : text.index("Rows that are SUSPECT")]
    assert "reduce_sum 1024x131072 float32" in missed and "+10.0 %" in missed
    assert "4096x32768" not in missed
    assert "reduce_sum 4096x4096 float32, reference: below the floor" in text


def test_tables_have_a_column_for_each_peer() -> None:
    shape = (1008, 2304)
    rows = [
        sample.row(shape=shape, time_us=6.0),
        sample.row(shape=shape, time_us=5.5, launch="overlap"),
        sample.peer("torch", "softmax", shape, "float32", 2.0, time_us=13.0, verdict="SUSPECT"),
        sample.peer("quack", "softmax", shape, "float32", 2.0, time_us=6.5),
        sample.row(time_us=35.0),
        sample.row(time_us=70.0, subject="naive"),
    ]
    document = sample.document(rows, peers_absent=[AbsentPeer("cub", "cupy cannot be imported")])
    lines = page.text(document).splitlines()
    header = lines.index("| shape | dtype | reference | x limit | overlap | torch | quack | goals |")
    assert lines[header + 2].startswith("| 1008x2304 | float32 | 6.00 |")
    assert "| 5.50 | (13.00) | 6.50 | ok |" in lines[header + 2]
    assert "| 35.00 |" in lines[header + 3] and "| - | - | - |" in lines[header + 3]
    assert any("softmax 4096x4096 float32 | naive | 70.00" in line for line in lines)
    assert "- cub: cupy cannot be imported" in lines
