"""Timing, verifying and judging together: honest subjects are TRUSTED, every kind of cheating is SUSPECT.

On a model of a GPU, and with real memory, graphs and events on the emulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.benchmark import limits, operands, timers, verdict, verify
from tests.benchmark.operands import OperandSets, Pools
from tests.benchmark.subject import ProbeSubject, TechniqueSubject
from tests.benchmark.tests import model
from tests.benchmark.workload import Workload, load_workload, row
from tests.harness.record import Case, OperatorRecord, load_record
from tests.harness.targets import Target

COLD_SETS = operands.set_count(model.BYTES_MOVED, model.CACHE_BYTES)
WORKLOAD = Workload("copy", [model.CASE], [model.CASE])


def judged(subject_class: type[model.Copy], sets_count: int = COLD_SETS, **device_settings: float) -> tuple[str, str]:
    """Verdict and reasons of a subject on the model; the floor is that of the model's memory."""
    device, sets = model.Device(), model.Sets(sets_count)
    vars(device).update(device_settings)
    subject = subject_class(device, sets)
    run = timers.GraphRun(subject, len(sets), device, device.event)
    timers.measure([run])
    sets.refill(verify.CHANGED_SEED)
    reference = verify.Reference(model.RECORD, model.CASE, WORKLOAD, sets, False)
    problem = verify.verify(sets, reference, run.replay, subject.outputs)
    evidence = verdict.Evidence(
        time_us=run.timing.time_us,
        bytes_moved=model.BYTES_MOVED,
        problem=problem,
        slope_us=run.timing.slope_us,
        floor_us=limits.floor_us(model.BYTES_MOVED, model.MEMORY_GB_S),
        empty_us=model.LAUNCH_US,
        sets=run.timing.sets,
        cache_bytes=model.CACHE_BYTES,
    )
    word, reasons = verdict.judge(evidence)
    return word, "; ".join(reasons)


def test_an_honest_kernel_with_cold_caches_is_trusted() -> None:
    assert judged(model.Copy) == ("TRUSTED", "")


@pytest.mark.parametrize(
    ("subject_class", "reasons"),
    [
        (model.DoesNothing, ["never written", "is less than"]),
        (model.SkipsHalf, ["2048 of 4096 elements were never written", "is less than"]),
        (model.SameBuffers, ["never written", "is less than"]),
        (model.RemembersResults, ["elements are wrong"]),
        (model.LosesLaunches, ["never written", "is less than"]),
        (model.HalfTheLaunches, ["is less than"]),
    ],
)
def test_what_does_not_do_its_work_is_suspect(subject_class: type[model.Copy], reasons: list[str]) -> None:
    word, text = judged(subject_class)
    assert word == "SUSPECT"
    for reason in reasons:
        assert reason in text


def test_too_few_sets_leave_the_cache_warm() -> None:
    word, text = judged(model.Copy, sets_count=operands.MIN_SETS)
    assert word == "SUSPECT"
    assert "is less than" in text
    assert "the cache was warm: 2 sets of 32768 bytes are less than 4 times its 262144 bytes" in text


def test_a_cost_of_each_replay_makes_the_timers_disagree() -> None:
    word, text = judged(model.Copy, replay_us=100.0)
    assert (word, "two timers disagree" in text) == ("SUSPECT", True)


# On the emulator -------------------------------------------------------------------------------------------------


class EmptyKernel(TechniqueSubject):
    """Launches something that writes nothing."""

    def launch(self, index: int) -> None:
        where = {"backend": self._stream.backend, "device": self._stream.device}
        self._oprt.run_probe("empty", stream=self._stream, **where)


class HalfOfTheOutput(TechniqueSubject):
    """Copies the first half."""

    def launch(self, index: int) -> None:
        x, y = self._sets[index].inputs[0], self._sets[index].output
        self._oprt.run_probe("copy", 0, y[: y.size // 2], x[: x.size // 2], stream=self._stream)


class FirstSetOnly(TechniqueSubject):
    """Runs on the same memory whatever it is told."""

    def launch(self, index: int) -> None:
        super().launch(0)


@contextmanager
def prepared(
    oprt: Any, target: Target, subject_class: type[TechniqueSubject], op: str, case: Case, sets_count: int = 3
) -> Iterator[tuple[OperatorRecord, OperandSets, TechniqueSubject, Any]]:
    record, pools = load_record(op), Pools(oprt, target)
    with oprt.Stream(**target.where) as stream:
        pool = pools.of(case.dtype, 1 << 16)
        sets = OperandSets(oprt, record, case, target, stream, sets_count, pool)
        subject = subject_class(oprt, record, case, target, stream, sets)
        try:
            yield record, sets, subject, stream
        finally:
            subject.close()
            sets.close()
            pools.close()


def problem_of(
    oprt: Any, target: Target, subject_class: type[TechniqueSubject], op: str, case: Case, graph: bool
) -> str:
    with prepared(oprt, target, subject_class, op, case) as (record, sets, subject, stream):
        run = timers.GraphRun(subject, len(sets), stream, oprt.Event) if graph else timers.HostRun(subject, stream)
        try:
            run.sample()
            sets.refill(verify.CHANGED_SEED)
            reference = verify.Reference(record, case, load_workload(op), sets, target.flushes_subnormals)
            replay = run.replay if graph else lambda: [subject.launch(index) for index in range(len(sets))]
            return verify.verify(sets, reference, replay, subject.outputs)
        finally:
            run.close()


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "host"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("op", "shape", "parameters"),
    [
        ("copy", (1000,), {}),
        ("vector_add", (1000,), {}),
        ("relu", (1000,), {}),
        ("softmax", (8, 100), {}),
        ("softmax", (100, 8), {"axis": 0}),
        ("reduce_sum", (8, 100), {"axis": -1}),
        ("reduce_sum", (100,), {}),
    ],
)
def test_shipped_kernels_are_verified(
    oprt: Any, target: Target, op: str, shape: tuple[int, ...], parameters: dict[str, Any], dtype: str, graph: bool
) -> None:
    assert problem_of(oprt, target, TechniqueSubject, op, row(shape, dtype, **parameters), graph) == ""


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "host"])
@pytest.mark.parametrize("subject_class", [EmptyKernel, HalfOfTheOutput, FirstSetOnly])
def test_broken_subjects_are_found(
    oprt: Any, target: Target, subject_class: type[TechniqueSubject], graph: bool
) -> None:
    assert "never written" in problem_of(oprt, target, subject_class, "copy", row((1024,)), graph)


def test_a_probe_copies_and_can_be_timed(oprt: Any, target: Target) -> None:
    with oprt.Stream(**target.where) as stream:
        arena = operands.Arena(oprt, target, [4096, 4096], 2)
        pools = Pools(oprt, target)
        pools.of("float32", 4096).fill(arena.buffer(1, 0), 160, stream)
        subject = ProbeSubject(oprt, "copy", 0, stream, arena)
        subject.launch(1)
        stream.synchronize()
        assert (subject.outputs(1) == arena.buffer(1, 0).numpy()).all()
        assert len(set(subject.outputs(1).tolist())) > 100
        pools.close()
        arena.close()


def test_limits_are_measured_for_each_size(oprt: Any, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "SAMPLES", 2)
    monkeypatch.setattr(timers, "GRAPH_US", 1.0)
    pools = Pools(oprt, target)
    with oprt.Stream(**target.where) as stream:

        def new_run(subject: Any, sets: int) -> timers.Run:
            return timers.GraphRun(subject, sets, stream, oprt.Event)

        found = limits.Limits(oprt, target, stream, pools, 4096, new_run)
        found.measure_launches()
        found.measure_size(10_000)
        assert found.sets_bytes(1000) / 2 > operands.CACHE_FACTOR * 4096  # the sources alone
        assert found.missing(10_000) == []
        assert found.missing(10_001) == ["copy", "read", "read_twice"]
        (entry,) = found.entries()
        assert entry["size_bytes"] == 10_000
        assert entry["copy_gb_s"] == pytest.approx(2 * 10_000 / entry["copy_us"] / 1e3)
        assert found.best_gb_s() == max(entry["copy_gb_s"], entry["read_gb_s"])
        assert entry["empty_us"] > 0
        assert entry["bare_launch_us"] > 0
    pools.close()
