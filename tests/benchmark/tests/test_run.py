"""The benchmark as a whole on the emulator: from names to a document, and an end that says when a result was wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests import run_ops
from tests.benchmark import document, limits, parallel, run, timers, verdict, workload
from tests.benchmark.subject import TechniqueSubject
from tests.benchmark.tests.test_core import HalfOfTheOutput
from tests.benchmark.workload import Workload, load_workload, operators_with_workload, row
from tests.harness.record import load_record
from tests.harness.targets import Target

COPY = Workload("copy", [row((1000,)), row((512,), "float16"), row((640,), "bfloat16")], [row((4000,))])


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One operator with small shapes, timed briefly."""
    monkeypatch.setattr(run, "load_workload", lambda op: COPY)
    monkeypatch.setattr(timers, "HOST_BUDGET_S", 0.001)
    monkeypatch.setattr(run, "NUMPY_BUDGET_S", 0.001)


def request_for(target: Target, **settings: Any) -> run.Request:
    return run.Request(ops=["copy"], targets=[target], **settings)


@pytest.mark.usefixtures("short")
def test_a_run_on_the_emulator(oprt: Any, target: Target, tmp_path: Path) -> None:
    found = run.bench(oprt, request_for(target, techniques=["all"], overlap=True))
    rows = [each for each in found.rows if each.dtype == "float32"]
    names = {"reference", *oprt.techniques("copy", **target.where)}
    assert {(each.subject, each.launch) for each in rows} == {
        (name, launch) for name in names for launch in ("ordinary", "overlap")
    }
    assert {each.dtype for each in found.rows} == {"float32", "float16", "bfloat16"}
    assert all(each.verified and each.verdict == "TRUSTED" and each.reasons == [] for each in found.rows)
    assert all(each.floor_us is None and each.limit_us is None for each in found.rows)
    reference = next(each for each in rows if each.is_reference)
    assert (reference.bytes_read, reference.bytes_written, reference.bytes_moved) == (4000, 4000, 8000)
    assert reference.bandwidth_gb_s == pytest.approx(8000 / reference.time_us / 1e3)
    assert reference.numpy_us is not None
    assert next(each for each in found.rows if each.dtype == "bfloat16").numpy_us is None
    assert [each.noise for each in found.self_test] == [
        pytest.approx(abs(each.time_us_first - each.time_us_second) / min(each.time_us_first, each.time_us_second))
        for each in found.self_test
    ]
    assert len(found.self_test) == 1
    assert found.devices[0].name == oprt.device_properties(**target.where).name
    document.save(found, tmp_path / "now.json")
    assert document.load(tmp_path / "now.json") == found


@pytest.mark.usefixtures("short")
def test_a_quick_run_times_nothing_twice(oprt: Any, target: Target) -> None:
    found = run.bench(oprt, request_for(target, quick=True))
    assert found.self_test == []
    assert [each.subject for each in found.rows] == ["reference"] * 3


class RemembersResults(TechniqueSubject):
    """Computes once for each set, and after that writes the same again."""

    def launch(self, index: int) -> None:
        if not hasattr(self, "_results"):
            self._results: dict[int, Any] = {}
        if index not in self._results:
            super().launch(index)
            self._stream.synchronize()
            self._results[index] = self._sets[index].output.numpy()
        self._sets[index].output.copy_from(self._results[index])


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("subject_class", "reason"),
    [
        (HalfOfTheOutput, "500 of 1000 elements were never written"),
        (RemembersResults, "1000 of 1000 elements are wrong"),
    ],
)
def test_a_wrong_result_is_suspect_and_fails_the_run(
    target: Target,
    subject_class: type[TechniqueSubject],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--mode", "bench", "--op", "copy", "--quick", "--backend", target.backend, "--device", target.device]
    assert run_ops.main(words) == 0
    assert "SUSPECT" not in capsys.readouterr().out
    monkeypatch.setattr(run, "TechniqueSubject", subject_class)
    assert run_ops.main(words) == 1
    printed = capsys.readouterr().out
    assert "SUSPECT" in printed
    assert reason in printed
    assert run_ops.main([*words, "--share", "0/2"]) == 0  # who joins the parts says it


def test_the_way_of_a_gpu(oprt: Any, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events, graphs, limits, floor and cold sets, in the memory of the emulator."""
    monkeypatch.setattr(run, "load_workload", lambda op: COPY)
    for name, value in (("SAMPLES", 3), ("GRAPH_US", 1.0)):
        monkeypatch.setattr(timers, name, value)
    monkeypatch.setattr(limits, "LARGE_BYTES", 1 << 16)
    monkeypatch.setattr(run.host_time, "SAMPLES", 2)
    properties = dataclasses.replace(oprt.device_properties(**target.where), l2_cache_bytes=8192)
    monkeypatch.setattr(oprt, "device_properties", lambda **where: properties)
    monkeypatch.setattr(run.lock, "exclusive", _NoLock)
    monkeypatch.setattr(run.machine, "find_monitor", lambda device, name: FakeMonitor())
    seen: list[verdict.Evidence] = []
    monkeypatch.setattr(run.verdict, "judge", lambda evidence: seen.append(evidence) or ("SUSPECT", ["seen"]))
    gpu = LikeGpu(target.backend, target.device)
    found = run.bench(oprt, request_for(gpu))
    (measured,) = found.rows
    assert measured.verified
    assert "graph" in measured.timer
    assert measured.sets == 2
    assert measured.slope_us is not None
    best = max(max(each.copy_gb_s, each.read_gb_s) for each in found.limits)
    assert measured.floor_us == pytest.approx(32000 / best / 1e3 * limits.FLOOR_FACTOR)
    assert measured.limit_kind == "copy"
    own = next(each for each in found.limits if each.size_bytes == measured.bytes_read)
    assert measured.limit_us is not None
    assert measured.limit_us >= own.copy_us > 0
    assert {each.what for each in found.host_time} == {"bare launch", "prepared run", "functional"}
    assert len(found.self_test) == 1
    assert _NoLock.held == ["GPU-7"]
    assert (measured.verdict, measured.reasons) == ("SUSPECT", ["seen"])
    (evidence,) = seen
    assert (evidence.time_us, evidence.slope_us) == (measured.time_us, measured.slope_us)
    assert (evidence.floor_us, evidence.bytes_moved, evidence.sets) == (measured.floor_us, 32000, 2)
    assert (evidence.cache_bytes, evidence.empty_us) == (8192, own.empty_us)
    assert len(evidence.states) >= 2
    assert (
        evidence.states[0] == FakeMonitor().state() == found.devices[0].clocks_before == found.devices[0].clocks_after
    )


class FakeMonitor:
    """A GPU whose clocks stand."""

    identity = "GPU-7"

    def state(self) -> dict[str, Any]:
        return {"sm_mhz": 1980, "memory_mhz": 3201, "throttle_reasons": [], "other_processes": 0}


class LikeGpu(Target):
    """An emulator that is measured as a GPU is."""

    @property
    def is_emulator(self) -> bool:
        return False


class _NoLock:
    """Remembers which locks were taken."""

    held: list[str] = []  # noqa: RUF012

    def __init__(self, gpu: str) -> None:
        type(self).held = [gpu]

    def __enter__(self) -> None:
        """Taken."""

    def __exit__(self, *error: object) -> None:
        """Left."""


def test_what_does_not_fit_is_skipped_with_a_sentence(
    oprt: Any, first_target: Target, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "load_workload", lambda op: COPY)
    properties = dataclasses.replace(oprt.device_properties(**first_target.where), total_memory_bytes=4096)
    monkeypatch.setattr(oprt, "device_properties", lambda **where: properties)
    found = run.bench(oprt, request_for(first_target, quick=True))
    assert {tuple(each.shape) for each in found.rows} == {(512,), (640,)}
    assert "copy 1000 float32: skipped, it needs" in capsys.readouterr().out


def test_parts_have_every_case_once(first_target: Target) -> None:
    def cases(index: int, count: int) -> list[str]:
        asked = run.Request(ops=operators_with_workload(), targets=[first_target], share=(index, count))
        return [job.text for job in run.jobs_for(asked, first_target)]

    whole = cases(0, 1)
    parts = [cases(index, 3) for index in range(3)]
    assert all(parts)
    assert sorted(text for part in parts for text in part) == sorted(whole)


def test_techniques_of_a_gpu_run_in_the_typical_case_only(first_target: Target) -> None:
    asked = run.Request(ops=["copy"], targets=[first_target], techniques=["all"])
    typical, other = (run.Job(load_record("copy"), COPY, COPY.gpu[0], is_typical) for is_typical in (True, False))
    assert run.techniques_for(asked, typical, ["naive"], is_emulator=False) == ["reference", "naive"]
    assert run.techniques_for(asked, other, ["naive"], is_emulator=False) == ["reference"]
    assert run.techniques_for(asked, other, ["naive"], is_emulator=True) == ["reference", "naive"]
    named = dataclasses.replace(asked, techniques=["naive", "unknown_here"])
    assert run.techniques_for(named, other, ["naive"], is_emulator=False) == ["naive"]
    assert run.techniques_for(dataclasses.replace(asked, techniques=[]), other, ["naive"], is_emulator=True) == [
        "reference"
    ]


def test_every_workload_has_a_typical_case_and_a_limit() -> None:
    for op in operators_with_workload():
        record, found = load_record(op), load_workload(op)
        for small in (True, False):
            assert found.typical(record, small=small) in found.cases(small=small)
        assert found.limit_kind in ("copy", "read")
        assert (found.combined_axes is workload.no_axes) == (op not in ("softmax", "reduce_sum"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peers", "tourch"], "unknown peer 'tourch': did you mean torch?"),
        (["--technique", "naiv"], "unknown technique 'naiv': did you mean naive?"),
        (["--op", "sofmax"], "unknown operator 'sofmax': did you mean softmax?"),
        (["--json", "/no/such/folder/a.json"], "--json: the folder /no/such/folder does not exist"),
        (["--device", "gpu:all"], "--device gpu:all: no GPU of the backend all can be used here"),
        (["--compare", "/no/such/file.json"], "--compare: /no/such/file.json: cannot be read"),
    ],
)
def test_names_and_files_are_checked_first(
    oprt: Any,
    first_target: Target,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(oprt, "available", lambda: [(first_target.backend, first_target.device)])
    assert run_ops.main(["--mode", "bench", "--device", first_target.device, "--quick", *words]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_each_gpu_gets_a_part(oprt: Any, first_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[list[str], list[str]]] = []
    there = [(first_target.backend, device) for device in ("gpu", "gpu:1", "emulator")] + [("other", "gpu")]
    monkeypatch.setattr(oprt, "available", lambda: there)
    monkeypatch.setattr(parallel, "run", lambda words, gpus: calls.append((words, gpus)) or document.Document("now"))
    words = ["--op", "copy,relu", "--quick", "--peers", "torch", "--overlap", "--technique", "all"]
    assert run_ops.main(["--mode", "bench", "--backend", first_target.backend, "--device", "gpu:all", *words]) == 0
    ((given, gpus),) = calls
    assert gpus == ["gpu:0", "gpu:1"]
    assert run_ops.parser().parse_args(given) == run_ops.parser().parse_args(
        ["--mode", "bench", "--backend", first_target.backend, *words]
    )


@pytest.mark.parametrize("text", ["2/2", "1", "a/b", "-1/2"])
def test_parts_that_there_are_not(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_ops.main(["--mode", "bench", f"--share={text}"])
    assert "wanted I/N" in capsys.readouterr().err


def test_a_technique_that_refuses_is_skipped(
    oprt: Any, first_target: Target, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], short: None
) -> None:
    class Refuses(TechniqueSubject):
        def __init__(self, *arguments: Any, **settings: Any) -> None:
            raise NotImplementedError("copy: only whole blocks")

    monkeypatch.setattr(run, "TechniqueSubject", Refuses)
    assert run.bench(oprt, request_for(first_target, quick=True)).rows == []
    assert "copy 1000 float32: reference skipped: copy: only whole blocks" in capsys.readouterr().out
