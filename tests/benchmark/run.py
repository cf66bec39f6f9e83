"""From what was asked for to the document: chooses subjects for each case, has them timed, verified and judged.

The same way for every backend, on GPUs and on the emulator; timers.py has what differs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.benchmark import devices, host_time, limits, lock, machine, peers, verdict, verify
from tests.benchmark.document import Document, merge_peers_absent
from tests.benchmark.operands import OperandSets, Pools, arena_bytes, set_count
from tests.benchmark.subject import Subject, TechniqueSubject
from tests.benchmark.timers import GraphRun, HostRun, Run, Timing, measure, time_call
from tests.benchmark.workload import Workload, bytes_read, describe, load_workload, operand_bytes
from tests.harness.formats import FORMATS
from tests.harness.record import Case, OperatorRecord, load_record
from tests.harness.targets import Target, kernel_lines

NUMPY_BUDGET_S = 0.1
MEMORY_PART = 0.9  # of a device's memory that operands may take
REFERENCE = "reference"


@dataclass(frozen=True)
class Request:
    """What to measure."""

    ops: Sequence[str]
    targets: Sequence[Target]
    techniques: Sequence[str] = ()  # names, reference, all; none: the reference
    peers: Sequence[str] = ()  # names of peers.PEERS
    quick: bool = False  # the emulator's small shapes on a GPU too, and no self-test on the emulator
    overlap: bool = False  # rows with overlapped launches beside the others
    share: tuple[int, int] = (0, 1)  # of the cases: this part of so many


@dataclass(frozen=True)
class Job:
    """One case of an operator."""

    record: OperatorRecord
    workload: Workload
    case: Case
    is_typical: bool  # also timed against itself, and by all techniques

    @property
    def text(self) -> str:
        return describe(self.record, self.case)

    @property
    def bytes_moved(self) -> int:
        return self.record.bytes_moved(self.case)

    @property
    def limit_bytes(self) -> int:
        """What a copy, or a read, of the same traffic takes."""
        if self.workload.limit_kind == "read":
            return bytes_read(self.record, self.case)
        return self.bytes_moved // 2


@dataclass
class Measured:
    """One row before it is judged, which takes the best bandwidth of the whole run."""

    job: Job
    subject: Subject
    timing: Timing
    problem: str
    states: list[dict[str, Any]]
    limit_us: float | None = None
    numpy_us: float | None = None


@dataclass
class Sections:
    """What one target adds to the document."""

    device: dict[str, Any] = field(default_factory=dict)
    self_test: list[dict[str, Any]] = field(default_factory=list)
    limits: list[dict[str, Any]] = field(default_factory=list)
    host_time: list[dict[str, Any]] = field(default_factory=list)
    peers_absent: list[dict[str, str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)


def bench(oprt: Any, request: Request) -> Document:
    """Measure everything that was asked for."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    parts = []
    for target in request.targets:
        for line in kernel_lines(oprt, target):
            print(f"{target.backend} on {target.device}: kernels of {line}", flush=True)
        parts.append(measure_target(oprt, target, request))
    sections: dict[str, Any] = {
        name: [entry for part in parts for entry in getattr(part, name)]
        for name in ("self_test", "limits", "host_time", "rows")
    }
    sections["devices"] = [part.device for part in parts]
    sections["kernels"] = [entry for target in request.targets for entry in kernel_entries(oprt, target)]
    sections["peers_absent"] = merge_peers_absent(entry for part in parts for entry in part.peers_absent)
    return Document(
        created=created,
        git=machine.git(),
        machine=machine.describe_machine(),
        versions=machine.versions(oprt),
        build=oprt.build_information(),
        **sections,
    )


def kernel_entries(oprt: Any, target: Target) -> Iterator[dict[str, str]]:
    """The kernels of a target's module."""
    for info in oprt.kernels(**target.where):
        entry = dataclasses.asdict(info)
        yield {"backend": target.backend, "device": target.device, "operator": entry.pop("op"), **entry}


def jobs_for(request: Request, target: Target) -> list[Job]:
    """The cases for a target, or this run's share of them."""
    small = request.quick or target.is_emulator
    jobs = []
    for op in request.ops:
        record, workload = load_record(op), load_workload(op)
        typical = workload.typical(record, small=small)
        jobs += [Job(record, workload, case, case is typical) for case in workload.cases(small=small)]
    index, count = request.share
    names = [str(part) for part in range(count)]
    return devices.share(jobs, names, cost=lambda job: job.bytes_moved)[names[index]]


def techniques_for(request: Request, job: Job, known: Sequence[str], *, is_emulator: bool) -> list[str]:
    """Names of techniques, the reference's first; on a GPU all stands for all of them in the typical case only."""
    asked = list(request.techniques or [REFERENCE])
    if "all" in asked:
        asked = [REFERENCE, *(known if job.is_typical or is_emulator else ()), *asked]
    return [name for name in dict.fromkeys(asked) if name == REFERENCE or name in known]


def measure_target(oprt: Any, target: Target, request: Request) -> Sections:
    """Everything on one target, alone on its GPU."""
    properties = oprt.device_properties(**target.where)
    monitor = machine.find_monitor(target.device, properties.name)
    with ExitStack() as stack:
        if not target.is_emulator:
            identity = monitor.identity if monitor else f"{target.backend}-{target.device}"
            stack.enter_context(lock.exclusive(identity))
        session = stack.enter_context(Session(oprt, target, request, properties, monitor))
        return session.run()


class Session:
    """The measuring on one target."""

    def __init__(
        self, oprt: Any, target: Target, request: Request, properties: Any, monitor: machine.Monitor | None
    ) -> None:
        self.oprt, self.target, self.request, self.properties = oprt, target, request, properties
        self.monitor = monitor
        self.stream = oprt.Stream(**target.where)
        self.pools = Pools(oprt, target)
        self.cache_bytes = None if target.is_emulator else int(properties.l2_cache_bytes)
        self.limits: limits.Limits | None = None
        if self.cache_bytes is not None:
            self.limits = limits.Limits(oprt, target, self.stream, self.pools, self.cache_bytes, self.new_run)
        self.measured: list[Measured] = []
        self.sections = Sections()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.pools.close()
        self.stream.close()

    def new_run(self, subject: Subject, sets: int) -> Run:
        """The run of a subject by this device's timer."""
        if self.target.is_emulator:
            return HostRun(subject, self.stream)
        return GraphRun(subject, sets, self.stream, self.oprt.Event)

    def run(self) -> Sections:
        """Measure all jobs and judge them."""
        before = self._state()
        if self.limits is not None:
            self.limits.measure_launches()
            self.limits.measure_size(limits.LARGE_BYTES)
            self.sections.host_time += host_time.measure_host_time(
                self.oprt, self.target, self.stream, with_torch=bool(self.request.peers)
            )
        for job in jobs_for(self.request, self.target):
            self._run_job(job)
        self.sections.device = {
            "backend": self.target.backend,
            "device": self.target.device,
            "name": self.properties.name,
            "properties": dataclasses.asdict(self.properties),
            "clocks_before": before,
            "clocks_after": self._state(),
        }
        self.sections.limits += self.limits.entries() if self.limits else ()
        self.sections.rows += [self._row(each) for each in self.measured]
        return self.sections

    def _state(self) -> dict[str, Any] | None:
        return self.monitor.state() if self.monitor else None

    def _run_job(self, job: Job) -> None:
        needed, there = self._needed_bytes(job), MEMORY_PART * self.properties.total_memory_bytes
        if there and needed > there:
            print(f"{job.text}: skipped, it needs {needed >> 20} MiB of the device's {int(there) >> 20}", flush=True)
            return
        try:
            with ExitStack() as stack:
                CaseRun(self, job, stack).measure()
        except MemoryError as error:
            print(f"{job.text}: skipped, the device's memory is too small: {error}", flush=True)

    def sets_of(self, job: Job) -> int:
        """How many operand sets a case gets."""
        return 1 if self.cache_bytes is None else set_count(job.bytes_moved, self.cache_bytes)

    def _needed_bytes(self, job: Job) -> int:
        sizes = [operand_bytes(job.record, job.case, name) for name in (*job.record.inputs, "y")]
        probes = self.limits.sets_bytes(job.limit_bytes) if self.limits else 0
        return arena_bytes(sizes, self.sets_of(job)) + probes

    def _evidence(self, measured: Measured) -> verdict.Evidence:
        timing, bytes_moved = measured.timing, measured.job.bytes_moved
        best = self.limits.best_gb_s() if self.limits else None
        return verdict.Evidence(
            time_us=timing.time_us,
            bytes_moved=bytes_moved,
            problem=measured.problem,
            slope_us=timing.slope_us,
            single_us=timing.single_us,
            floor_us=limits.floor_us(bytes_moved, best),
            empty_us=self.limits.empty_us if self.limits else None,
            sets=timing.sets,
            cache_bytes=self.cache_bytes,
            states=measured.states,
        )

    def _row(self, measured: Measured) -> dict[str, Any]:
        job, timing = measured.job, measured.timing
        evidence = self._evidence(measured)
        word, reasons = verdict.judge(evidence)
        read = bytes_read(job.record, job.case)
        return {
            "operator": job.record.name,
            "subject": measured.subject.name,
            "kind": measured.subject.kind,
            "launch": getattr(measured.subject, "launch_mode", "ordinary"),
            "backend": self.target.backend,
            "device": self.target.device,
            "shape": list(job.case.shape),
            "parameters": dict(job.case.parameters),
            "dtype": job.case.dtype,
            "bytes_read": read,
            "bytes_written": job.bytes_moved - read,
            "bytes_moved": job.bytes_moved,
            "time_us": timing.time_us,
            "spread_us": timing.spread_us,
            "slope_us": timing.slope_us,
            "single_us": timing.single_us,
            "bandwidth_gb_s": job.bytes_moved / timing.time_us / 1e3,
            "floor_us": evidence.floor_us,
            "limit_us": measured.limit_us,
            "limit_kind": None if measured.limit_us is None else job.workload.limit_kind,
            "verified": not measured.problem,
            "verdict": word,
            "reasons": reasons,
            "timer": timing.timer,
            "sets": timing.sets,
            "launches_per_graph": timing.launches_per_graph,
            "samples_us": timing.samples_us,
            "numpy_us": measured.numpy_us,
        }


class CaseRun:
    """One case: its operands, its subjects and their runs; all are closed with the stack."""

    def __init__(self, session: Session, job: Job, stack: ExitStack) -> None:
        self.session, self.job, self.stack = session, job, stack
        self.oprt, self.target, self.stream = session.oprt, session.target, session.stream
        pool = session.pools.of(job.case.dtype, max(operand_bytes(job.record, job.case, x) for x in job.record.inputs))
        self.sets = OperandSets(self.oprt, job.record, job.case, self.target, self.stream, session.sets_of(job), pool)
        stack.callback(self.sets.close)
        self.runs: list[Run] = []
        self.states: list[dict[str, Any]] = []

    def measure(self) -> None:
        """Time, verify and keep what came out."""
        for subject in self._subjects():
            self._add(subject)
        own = len(self.runs)
        probes = self._limit_runs()
        failed = measure([*self.runs, *probes], self._watch)
        limit_us = None
        if self.session.limits is not None:
            found = self.session.limits.note(self.job.limit_bytes, probes)
            limit_us = found[self.job.workload.limit_kind]
        for place, error in failed.items():
            self._note_absent(self.runs[place].subject.name, error)
        kept = [run for place, run in enumerate(self.runs[:own]) if place not in failed]
        self._verify(kept, limit_us)
        self._note_self_test(kept)

    def _subjects(self) -> Iterator[Subject]:
        """In the order of the table: the reference, other techniques, peers."""
        request, job = self.session.request, self.job
        known = self.oprt.techniques(job.record.name, **self.target.where)
        names = techniques_for(request, job, known, is_emulator=self.target.is_emulator)
        for name in names:
            yield from self._technique(name)
            if request.overlap:
                yield from self._technique(name, overlap=True)
        if job.is_typical and REFERENCE in names and not (request.quick and self.target.is_emulator):
            yield from self._technique(REFERENCE, kind="self")
        if request.peers:
            found = peers.available(self.oprt, job.record, job.case, self.sets, self.stream, names=request.peers)
            self.session.sections.peers_absent += found.absent
            yield from found.subjects

    def _technique(self, name: str, **settings: Any) -> Iterator[Subject]:
        technique = "" if name == REFERENCE else name
        try:
            yield TechniqueSubject(
                self.oprt, self.job.record, self.job.case, self.target, self.stream, self.sets, technique, **settings
            )
        except NotImplementedError as error:
            print(f"{self.job.text}: {name} skipped: {error}", flush=True)

    def _add(self, subject: Subject) -> None:
        self.stack.callback(subject.close)
        try:
            run = self.session.new_run(subject, len(self.sets))
        except Exception as error:
            if subject.kind != "peer":
                raise
            self._note_absent(subject.name, error)
            return
        self.stack.callback(run.close)
        self.runs.append(run)

    def _note_absent(self, name: str, error: Exception) -> None:
        self.session.sections.peers_absent.append(peers.absent(name, error))

    def _limit_runs(self) -> list[Run]:
        found = self.session.limits
        if found is None:
            return []
        kinds = dict.fromkeys([self.job.workload.limit_kind, *found.missing(self.job.limit_bytes)])
        return self.stack.enter_context(found.runs(self.job.limit_bytes, list(kinds)))

    def _watch(self) -> None:
        state = self.session._state()
        self.states += [] if state is None else [state]

    def _verify(self, runs: Sequence[Run], limit_us: float | None) -> None:
        job = self.job
        self.sets.refill(verify.CHANGED_SEED)
        reference = verify.Reference(job.record, job.case, job.workload, self.sets, self.target.flushes_subnormals)
        numpy_us = self._numpy_us()
        texts = []
        for run in runs:
            problem = verify.verify(self.sets, reference, run.replay, run.subject.outputs)
            texts.append(f"{_label(run.subject)} {run.timing.time_us:.2f} us{' WRONG' if problem else ''}")
            if run.subject.kind != "self":
                self.session.measured.append(
                    Measured(job, run.subject, run.timing, problem, self.states, limit_us, numpy_us)
                )
        if not self.target.is_emulator:
            limit = f"; best {job.workload.limit_kind} {limit_us:.2f} us" if limit_us else ""
            print(f"{job.text}: {'; '.join(texts)}{limit}", flush=True)

    def _numpy_us(self) -> float | None:
        """NumPy on the same input, on the emulator only and for formats that it computes in."""
        record, case = self.job.record, self.job.case
        if not self.target.is_emulator or case.dtype == "bfloat16" or not FORMATS[case.dtype].is_floating:
            return None
        inputs = [self.sets.input_bits(0)[name] for name in record.inputs]
        out = self.sets.outputs(0)
        return time_call(lambda: record.numpy_call(*inputs, out=out, **case.parameters), NUMPY_BUDGET_S)

    def _note_self_test(self, runs: Sequence[Run]) -> None:
        twins = [run.timing.time_us for run in runs if _is_twin(run.subject)]
        if len(twins) != 2:
            return
        self.session.sections.self_test.append(
            {
                "backend": self.target.backend,
                "device": self.target.device,
                "operator": self.job.record.name,
                "shape": list(self.job.case.shape),
                "dtype": self.job.case.dtype,
                "time_us_first": twins[0],
                "time_us_second": twins[1],
                "noise": abs(twins[0] - twins[1]) / min(twins),
            }
        )


def _label(subject: Subject) -> str:
    is_overlapped = getattr(subject, "launch_mode", "ordinary") == "overlap"
    return subject.name + (" again" if subject.kind == "self" else ", overlap" if is_overlapped else "")


def _is_twin(subject: Subject) -> bool:
    """One of the two subjects that time the same kernel."""
    return subject.name == REFERENCE and getattr(subject, "launch_mode", "") == "ordinary"
