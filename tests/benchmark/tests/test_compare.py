"""SAME, FASTER, SLOWER, UNSURE: each word has its reason, and doubt is never hidden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmark.compare import compare, print_comparison
from tests.benchmark.records import Row
from tests.benchmark.tests import sample


def timed(time_us: float, spread: float = 0.002, **settings: Any) -> Row:
    return sample.row(time_us=time_us, samples_us=sample.samples(time_us, spread), **settings)


def word(before: Row, after: Row) -> str:
    (change,) = compare(sample.document([before]), sample.document([after]))
    assert (change.old_us, change.new_us) == (before.time_us, after.time_us)
    return change.word


@pytest.mark.parametrize(
    ("now_us", "expected"),
    [(100.0, "SAME"), (100.5, "SAME"), (99.5, "SAME"), (103.0, "SLOWER"), (97.0, "FASTER"), (101.0, "UNSURE")],
)
def test_sharp_samples(now_us: float, expected: str) -> None:
    assert word(timed(100.0), timed(now_us)) == expected


@pytest.mark.parametrize("now_us", [100.0, 103.0, 97.0])
def test_spreads_that_overlap_beyond_telling(now_us: float) -> None:
    assert word(timed(100.0, 0.2), timed(now_us, 0.2)) == "UNSURE"


def test_a_wide_spread_does_not_hide_a_large_change() -> None:
    assert word(timed(100.0, 0.2), timed(200.0, 0.2)) == "SLOWER"


@pytest.mark.parametrize(("before", "after"), [("SUSPECT", "TRUSTED"), ("TRUSTED", "SUSPECT")])
def test_suspect_rows_prove_nothing(before: str, after: str) -> None:
    assert word(timed(100.0, verdict=before), timed(50.0, verdict=after)) == "UNSURE"


def test_few_samples_prove_nothing() -> None:
    assert word(sample.row(time_us=100.0, samples_us=[100.0] * 4), timed(50.0)) == "UNSURE"


def test_the_noise_of_the_self_test_counts() -> None:
    noisy = [{**vars(sample.document().self_test[0]), "noise": 0.05}]
    before, after = sample.document([timed(100.0)]), sample.document([timed(104.0)], self_test=noisy)
    assert compare(before, after)[0].word == "SAME"
    assert compare(before, sample.document([timed(104.0)]))[0].word == "SLOWER"


def test_a_gpu_of_the_same_kind_is_compared() -> None:
    assert word(timed(100.0, device="gpu"), timed(100.0, device="gpu:1")) == "SAME"


def test_only_rows_of_the_same_problem_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    before = sample.document([timed(100.0), timed(90.0, launch="overlap"), timed(80.0, dtype="float16")])
    after = sample.document([timed(50.0), timed(70.0, parameters={"axis": 0}), timed(80.0, dtype="bfloat16")])
    assert [(change.word, change.new_us) for change in compare(before, after)] == [("FASTER", 50.0)]
    print_comparison(before, after)
    text = capsys.readouterr().out
    assert "-50.0 %" in text
    assert "0 SAME, 1 FASTER, 0 SLOWER, 0 UNSURE" in text
    assert "only before: 2 rows; only now: 2 rows" in text
    assert "another device" not in text


def test_another_device_of_the_same_place_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"backend": "nvidia", "device": "gpu:1", "name": "Other GPU"}
    emulator = {"backend": "metax", "device": "emulator", "name": "emulator"}
    after = sample.document([timed(100.0, device="gpu:1")], devices=[entry, emulator])
    print_comparison(sample.document([timed(100.0)]), after)
    text = capsys.readouterr().out
    assert "nvidia gpu is another device, so every time may differ: before Example GPU, now Other GPU" in text
    assert "metax emulator is" not in text
