"""The machine and its GPUs as far as they bear on the numbers: versions, commit, clocks, slow-downs, other processes.

Clocks come from NVML, the driver's own library, where it is there and knows the device; elsewhere nobody says them.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.harness.targets import ROOT

# Distributions whose version can change a row.
PEER_DISTRIBUTIONS = ("torch", "triton", "quack-kernels", "cupy", "cupy-cuda12x", "cupy-cuda13x")
THROTTLE_REASONS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "hardware power brake",
}
SM_CLOCK, MEMORY_CLOCK = 1, 2
TEXT_BYTES = 96
MAX_PROCESSES = 64


def describe_machine() -> dict[str, Any]:
    """The host."""
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
        "load": list(os.getloadavg()),
    }


def versions(oprt: Any) -> dict[str, str]:
    """Of everything that runs; nothing is imported for it."""
    found = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "operator_runtime": str(oprt.__version__),
    }
    for name in PEER_DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    monitor = _library()
    if monitor is not None:
        found["driver"] = _text(monitor.nvmlSystemGetDriverVersion)
    return found


def git() -> dict[str, Any]:
    """The commit of the tree, and whether it was changed since; empty outside a repository."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return {}
    return {"commit": commit, "dirty": bool(_git("status", "--porcelain"))}


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    except OSError:  # no git on this machine
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# GPUs ----------------------------------------------------------------------------------------------------------------


class Monitor:
    """A GPU as the driver's library sees it."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library, self._handle = library, handle
        self.name = _text(library.nvmlDeviceGetName, handle)
        self.identity = _text(library.nvmlDeviceGetUUID, handle)

    def state(self) -> dict[str, Any]:
        """Clocks, temperature and power now; what slows it down; how many other processes compute on it."""
        reasons = self._number(ctypes.c_ulonglong, "nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        power = self._number(ctypes.c_uint, "nvmlDeviceGetPowerUsage")
        return {
            "sm_mhz": self._number(ctypes.c_uint, "nvmlDeviceGetClockInfo", SM_CLOCK),
            "memory_mhz": self._number(ctypes.c_uint, "nvmlDeviceGetClockInfo", MEMORY_CLOCK),
            "temperature_c": self._number(ctypes.c_uint, "nvmlDeviceGetTemperature", 0),
            "power_w": None if power is None else power / 1000,
            "throttle_reasons": [text for bit, text in THROTTLE_REASONS.items() if reasons & bit],
            "other_processes": count_others(self._processes(), os.getpid()),
        }

    def _number(self, kind: Any, function: str, *arguments: int) -> int | None:
        value = kind()
        status = getattr(self._library, function)(self._handle, *arguments, ctypes.byref(value))
        return int(value.value) if status == 0 else None

    def _processes(self) -> list[int]:
        count = ctypes.c_uint(MAX_PROCESSES)
        found = (_Process * MAX_PROCESSES)()
        status = self._library.nvmlDeviceGetComputeRunningProcesses_v3(self._handle, ctypes.byref(count), found)
        return [found[index].pid for index in range(count.value)] if status == 0 else []


class _Process(ctypes.Structure):
    """nvmlProcessInfo_t."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory_bytes", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


def count_others(processes: Sequence[int], own: int) -> int:
    """How many of the processes are not this one, which computes on the GPU and so is among them.

    In a container the driver may know this process by another number: then one of them is this one all the same.
    """
    return len(set(processes) - {own}) - (0 if own in processes or not processes else 1)


def find_monitor(device: str, name: str) -> Monitor | None:
    """The monitor of a device of this process, gpu or gpu:N; None where there is none that knows it by this name."""
    library = _library()
    if library is None or not device.startswith("gpu"):
        return None
    handle = _handle(library, int(device.partition(":")[2] or 0), os.environ.get("CUDA_VISIBLE_DEVICES"))
    if handle is None:
        return None
    monitor = Monitor(library, handle)
    return monitor if monitor.name == name else None


def _handle(library: Any, index: int, visible: str | None) -> Any:
    handle = ctypes.c_void_p()
    names = [each.strip() for each in visible.split(",")] if visible else []
    name = names[index] if index < len(names) else str(index)
    if name.isdigit():
        status = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(handle))
    else:
        status = library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle))
    return handle if status == 0 else None


def _library() -> Any:
    """NVML, ready to be used, or None."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return library if library.nvmlInit_v2() == 0 else None


def _text(function: Any, *handle: Any) -> str:
    text = ctypes.create_string_buffer(TEXT_BYTES)
    return text.value.decode() if function(*handle, text, ctypes.c_uint(TEXT_BYTES)) == 0 else ""
