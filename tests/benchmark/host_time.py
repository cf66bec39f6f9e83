"""What a call costs the host: bursts on an idle stream, so short that the device never makes the host wait."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.harness.targets import Target

BURST = 64
SAMPLES = 32
WARM_UPS = 4  # bursts
ELEMENTS = 256


def measure_host_time(
    oprt: Any, target: Target, stream: Any, *, with_torch: bool, samples: int = SAMPLES
) -> Iterator[dict[str, Any]]:
    """The document's entries: a bare launch from C++, a prepared operator, the functional form, PyTorch's add."""
    yield _entry(target, "bare launch", oprt.measure_launches(samples, BURST, stream=stream))
    with _tensors(oprt, target) as (y, x, other):
        with oprt.prepare_vector_add(y, x, other, stream=stream, **target.where) as prepared:
            yield _entry(target, "prepared run", time_bursts(prepared.run, stream.synchronize, samples))

        def functional() -> None:
            oprt.vector_add(x, other, out=y, stream=stream)

        yield _entry(target, "functional", time_bursts(functional, stream.synchronize, samples))
    if with_torch and importlib.util.find_spec("torch"):
        yield _entry(target, "torch.add", _torch_samples(target, samples))


def time_bursts(
    call: Callable[[], object],
    wait: Callable[[], object],
    samples: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Microseconds of the host for one call, a number for each burst; the wait is not counted."""
    found = []
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for sample in range(-WARM_UPS, samples):
            wait()
            start = clock()
            for _ in range(BURST):
                call()
            elapsed_s = clock() - start
            if sample >= 0:
                found.append(elapsed_s * 1e6 / BURST)
        wait()
    finally:
        if was_enabled:
            gc.enable()
    return found


@contextmanager
def _tensors(oprt: Any, target: Target) -> Iterator[tuple[Any, ...]]:
    tensors = tuple(oprt.empty(ELEMENTS, **target.where) for _ in range(3))
    try:
        for tensor in tensors:
            tensor.fill_bytes(0)
        yield tensors
    finally:
        for tensor in tensors:
            tensor.close()


def _torch_samples(target: Target, samples: int) -> list[float]:
    torch = importlib.import_module("torch")
    index = int(target.device.partition(":")[2] or 0)
    with torch.cuda.device(index):
        y, x, other = (torch.zeros(ELEMENTS, device="cuda") for _ in range(3))
        return time_bursts(lambda: torch.add(x, other, out=y), torch.cuda.synchronize, samples)


def _entry(target: Target, what: str, samples_us: list[float]) -> dict[str, Any]:
    return {
        "backend": target.backend,
        "device": target.device,
        "what": what,
        "median_us": statistics.median(samples_us),
        "samples_us": samples_us,
    }
