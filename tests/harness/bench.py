"""Measures operators and prints what came out: one table a device, never GPU and emulator rows in one.

A result is verified before it is timed. On a GPU events time a graph of launches over inputs larger than the L2 cache;
on the emulator the host's clock times one launch and its wait. Shapes stand in bench/<op>.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.harness.comparison import explain, wrong_elements
from tests.harness.formats import FORMATS
from tests.harness.record import Case, OperatorRecord, load_record
from tests.harness.running import make_inputs
from tests.harness.targets import ROOT, Target, kernel_lines

EMULATOR_NOTE = "Times on the emulator are times of this machine's CPU: they say nothing about any GPU."
# Emulator: at most this long for one row, so that an operator ends within 10 s on both backends together.
ROW_BUDGET_S = 0.25
NUMPY_BUDGET_S = 0.1
MIN_REPEATS, MAX_REPEATS = 5, 100
GPU_REPEATS = 30
MIN_GRAPH_LAUNCHES = 20


class BenchError(Exception):
    """A row could not be measured, or its result is wrong."""


@dataclass(frozen=True)
class Workload:
    """The shapes of one operator's benchmark; the emulator and a quick run get smaller ones."""

    op: str
    emulator: Sequence[Case]
    gpu: Sequence[Case]


def row(shape: tuple[int, ...], dtype: str = "float32", **parameters: Any) -> Case:
    """A benchmark's input."""
    return Case("bench", 1, shape, dtype, parameters=parameters)


@dataclass(frozen=True)
class Result:
    """One line of the table. Times are of one launch; spread is the distance between the quartiles."""

    operator: str
    technique: str
    backend: str
    device: str
    shape: tuple[int, ...]
    parameters: Mapping[str, Any]
    dtype: str
    bytes_moved: int
    time_us: float
    spread_us: float
    bandwidth_gb_s: float
    numpy_us: float | None
    ratio: float | None
    timer: str
    samples_us: Sequence[float] = field(repr=False, default=())


def load_workload(op: str) -> Workload:
    """The workload of an operator."""
    workload: Workload = importlib.import_module(f"tests.bench.{op}").WORKLOAD
    return workload


def operators_with_workload() -> list[str]:
    """The names in bench/."""
    return sorted(file.stem for file in (ROOT / "tests" / "bench").glob("*.py"))


def measure(oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str = "") -> Result:
    """Verify and time one input on one target."""
    bytes_moved = record.bytes_moved(case)
    inputs = make_inputs(record, case)
    arrays = {name: np.ascontiguousarray(operand.elements()) for name, operand in inputs.items()}
    wanted = record.wanted(case, arrays)
    run = _Prepared(oprt, record, case, target, technique, arrays)
    with run:
        run.once()
        got = run.result()
        wrong = wrong_elements(got, wanted, case.dtype, target.flushes_subnormals)
        if wrong.any():
            problem = explain(got, wanted, wrong, np.zeros(wrong.shape, bool), case.dtype)
            raise BenchError(f"{record.name} {case.shape} {case.dtype}: {problem}")
        timer, samples = run.time()
    numpy_us = _time_numpy(record, case, arrays)
    median = statistics.median(samples)
    quartiles = statistics.quantiles(samples, n=4)
    return Result(
        operator=record.name,
        technique=technique or "reference",
        backend=target.backend,
        device=target.device,
        shape=case.shape,
        parameters=dict(case.parameters),
        dtype=case.dtype,
        bytes_moved=bytes_moved,
        time_us=median,
        spread_us=quartiles[2] - quartiles[0],
        bandwidth_gb_s=bytes_moved / median / 1e3,
        numpy_us=numpy_us,
        ratio=numpy_us / median if numpy_us else None,
        timer=timer,
        samples_us=samples,
    )


class _Prepared:
    """One operator prepared over as many sets of operands as keep the GPU's L2 cache cold (one set on the emulator)."""

    def __init__(
        self, oprt: Any, record: OperatorRecord, case: Case, target: Target, technique: str, arrays: Mapping[str, Any]
    ) -> None:
        self.oprt, self.record, self.case, self.target = oprt, record, case, target
        self.stream = oprt.Stream(**target.where)
        self.owned: list[Any] = []
        self.outputs: list[Any] = []
        self.prepared: list[Any] = []
        prepare = getattr(oprt, f"prepare_{record.name}")
        for _ in range(self._set_count()):
            inputs = [
                self._tensor(case.dtype, record.operand_shape(case, name), arrays[name]) for name in record.inputs
            ]
            self.outputs.append(self._tensor(case.dtype, record.operand_shape(case, "y"), None))
            with oprt.technique(technique or None):
                self.prepared.append(
                    prepare(self.outputs[-1], *inputs, **case.parameters, **target.where, stream=self.stream)
                )

    def _set_count(self) -> int:
        if self.target.is_emulator:
            return 1
        cache = int(self.oprt.device_properties(**self.target.where).l2_cache_bytes)
        return max(1, min(256, math.ceil(4 * cache / max(self.record.bytes_moved(self.case), 1))))

    def _tensor(self, dtype: str, shape: tuple[int, ...], array: Any) -> Any:
        size_bytes = FORMATS[dtype].size_bytes * math.prod(shape)
        buffer = self.oprt.empty((max(size_bytes, 1),), "uint8", **self.target.where)
        if array is not None:
            buffer.copy_from(np.frombuffer(array.tobytes(), np.uint8))
        self.owned.append(buffer)
        strides = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
        return buffer.as_strided(shape, strides, 0, dtype=dtype)

    def __enter__(self) -> _Prepared:
        return self

    def __exit__(self, *error: object) -> None:
        for item in (*self.prepared, *self.owned, self.stream):
            item.close()

    def once(self) -> None:
        for prepared in self.prepared:
            prepared.run()
        self.stream.synchronize()

    def result(self) -> Any:
        raw = self.owned[len(self.record.inputs)].numpy()
        shape = self.record.operand_shape(self.case, "y")
        return (
            np.ascontiguousarray(raw)[: math.prod(shape) * FORMATS[self.case.dtype].size_bytes]
            .view(FORMATS[self.case.dtype].storage)
            .reshape(shape)
        )

    def time(self) -> tuple[str, list[float]]:
        """The timer's name and samples in microseconds a launch."""
        return self._time_on_host() if self.target.is_emulator else self._time_with_events()

    def _time_on_host(self) -> tuple[str, list[float]]:
        run, wait = self.prepared[0].run, self.stream.synchronize

        def call() -> None:
            run()
            wait()

        return "host clock, launch and wait", _repeat(call, ROW_BUDGET_S)

    def _time_with_events(self) -> tuple[str, list[float]]:
        rounds = math.ceil(MIN_GRAPH_LAUNCHES / len(self.prepared))
        with self.oprt.capture(self.stream) as graph:
            for _ in range(rounds):
                for prepared in self.prepared:
                    prepared.run()
        launches = rounds * len(self.prepared)
        start, stop = self.oprt.Event(), self.oprt.Event()
        samples = []
        for repeat in range(3 + GPU_REPEATS):
            start.record(self.stream)
            graph.launch(self.stream)
            stop.record(self.stream)
            stop.synchronize()
            if repeat >= 3:  # the first ones warm up
                samples.append(stop.elapsed_ms(start) * 1e3 / launches)
        graph.close()
        return f"events around a graph of {launches} launches over {len(self.prepared)} sets of operands", samples


def _repeat(call: Callable[[], object], budget_s: float) -> list[float]:
    """Microseconds of each call, after one that warms up."""
    call()
    samples: list[float] = []
    end = time.perf_counter() + budget_s
    while len(samples) < MIN_REPEATS or (time.perf_counter() < end and len(samples) < MAX_REPEATS):
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e6)
    return samples


def _time_numpy(record: OperatorRecord, case: Case, arrays: Mapping[str, Any]) -> float | None:
    """Median of NumPy on the same input; None for a format that NumPy does not compute in."""
    if case.dtype == "bfloat16" or not FORMATS[case.dtype].is_floating:
        return None
    out = np.empty(record.operand_shape(case, "y"), FORMATS[case.dtype].storage)
    inputs = [arrays[name] for name in record.inputs]
    return statistics.median(_repeat(lambda: record.numpy_call(*inputs, out=out, **case.parameters), NUMPY_BUDGET_S))


# The table -----------------------------------------------------------------------------------------------------------


def _duration(time_us: float | None) -> str:
    if time_us is None:
        return "-"
    return f"{time_us:.2f} us" if time_us < 1000 else f"{time_us / 1000:.2f} ms"


def _shape(result: Result) -> str:
    parameters = [f"{name} {value}" for name, value in result.parameters.items()]
    return " ".join(["x".join(map(str, result.shape)), *parameters])


# Header, width of the plain table, and the text of a result.
COLUMNS: tuple[tuple[str, int, Callable[[Result], str]], ...] = (
    ("operator", 10, lambda result: result.operator),
    ("technique", 11, lambda result: result.technique),
    ("backend", 7, lambda result: result.backend),
    ("device", 8, lambda result: result.device),
    ("shape", 18, _shape),
    ("dtype", 8, lambda result: result.dtype),
    ("time", 9, lambda result: _duration(result.time_us)),
    ("spread", 6, lambda result: f"{100 * result.spread_us / result.time_us:.0f} %"),
    ("GB/s", 6, lambda result: f"{result.bandwidth_gb_s:{'.0f' if result.bandwidth_gb_s >= 100 else '.3g'}}"),
    ("NumPy", 9, lambda result: _duration(result.numpy_us)),
    ("ratio", 6, lambda result: "-" if result.ratio is None else f"{result.ratio:.3g}"),
)
LEGEND = "spread: distance of the quartiles, of the median time. ratio: NumPy's time over this one."
FIRST_NUMBER = [name for name, _, _ in COLUMNS].index("time")  # columns from here on are numbers


def run(oprt: Any, jobs: Sequence[tuple[OperatorRecord, Case, Target, str]]) -> list[Result]:
    """Measure jobs and print their table: with a progress bar on a terminal, line by line elsewhere."""
    if sys.stdout.isatty() and importlib.util.find_spec("rich"):
        return _run_on_terminal(oprt, jobs)
    print(_plain_line([(name, width) for name, width, _ in COLUMNS]), flush=True)
    results = []
    for job in jobs:
        results.append(measure(oprt, *job))
        print(_plain_line([(text(results[-1]), width) for _, width, text in COLUMNS]), flush=True)
    print(LEGEND)
    return results


def _plain_line(cells: Iterable[tuple[str, int]]) -> str:
    return "  ".join(text.ljust(width) for text, width in cells).rstrip()


def _run_on_terminal(oprt: Any, jobs: Sequence[tuple[OperatorRecord, Case, Target, str]]) -> list[Result]:
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console = Console()
    results = [measure(oprt, *job) for job in track(jobs, "measuring", console=console, transient=True)]
    table = Table(box=None, padding=(0, 1, 0, 0))
    needed = 0
    for position, (name, _, text) in enumerate(COLUMNS):
        table.add_column(name, justify="right" if position >= FIRST_NUMBER else "left", no_wrap=True)
        needed += 1 + max(len(name), *(len(text(result)) for result in results))
    for result in results:
        table.add_row(*(text(result) for _, _, text in COLUMNS))
    # On a narrow terminal lines run over; nothing is cut off.
    Console(width=max(console.width, needed)).print(table)
    print(LEGEND)
    return results


def jobs_for(
    oprt: Any, ops: Sequence[str], targets: Sequence[Target], techniques: Sequence[str], *, quick: bool
) -> Iterator[tuple[OperatorRecord, Case, Target, str]]:
    """What to measure; the technique "all" stands for the reference and everything beside it."""
    for op in ops:
        record, workload = load_record(op), load_workload(op)
        for target in targets:
            known = ["", *oprt.techniques(op, **target.where)]
            asked = (
                known
                if "all" in techniques
                else ["" if name == "reference" else name for name in techniques or ["reference"]]
            )
            for case in workload.emulator if quick or target.is_emulator else workload.gpu:
                yield from ((record, case, target, technique) for technique in asked if technique in known)


def bench(
    oprt: Any,
    ops: Sequence[str],
    targets: Sequence[Target],
    techniques: Sequence[str],
    json_path: Path | None,
    *,
    quick: bool = False,
) -> None:
    """Measure and print everything, emulator and GPU apart, and write the JSON file."""
    results: list[Result] = []
    for is_emulator in (False, True):
        group = [target for target in targets if target.is_emulator == is_emulator]
        if not group:
            continue
        for target in group:
            print(f"{target.backend} on {target.device}: {device_name(oprt, target)}")
            for line in kernel_lines(oprt, target):
                print(f"  kernels of {line}")
        if is_emulator:
            print(EMULATOR_NOTE)
        results += run(oprt, list(jobs_for(oprt, ops, group, techniques, quick=quick)))
        print()
    if json_path is not None:
        json_path.write_text(json.dumps(document(oprt, targets, results), indent=1) + "\n")
        print(f"wrote {json_path}")


def device_name(oprt: Any, target: Target) -> str:
    """The device's own name; an emulated one never bears a product's name."""
    return str(oprt.device_properties(**target.where).name)


def document(oprt: Any, targets: Sequence[Target], results: Sequence[Result]) -> dict[str, Any]:
    """All that is needed to read the numbers later."""
    kernels = [
        {
            "backend": target.backend,
            "device": target.device,
            "operator": info.op,
            "technique": info.technique,
            "path": info.path,
            "sha256": info.sha256,
        }
        for target in targets
        for info in oprt.kernels(**target.where)
    ]
    return {
        "note": EMULATOR_NOTE if any(target.is_emulator for target in targets) else "",
        "machine": _machine(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "operator_runtime": oprt.__version__,
        },
        "build": oprt.build_information(),
        "devices": [
            {"backend": target.backend, "device": target.device, "name": device_name(oprt, target)}
            for target in targets
        ],
        "gpu_clocks": _gpu_clocks() if any(not target.is_emulator for target in targets) else None,
        "kernels": kernels,
        "rows": [asdict(result) for result in results],
    }


def _machine() -> dict[str, Any]:
    model = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else ""
    return {
        "system": platform.platform(),
        "architecture": platform.machine(),
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
    }


def _gpu_clocks() -> str | None:
    """What the driver's own tool says of clocks and throttling; None where there is no such tool."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks_throttle_reasons.active,temperature.gpu"
    done = subprocess.run([tool, query, "--format=csv"], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip() or None
