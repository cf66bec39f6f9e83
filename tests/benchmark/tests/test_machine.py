"""What is said of the machine, with a stand-in for the driver's library."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest

from tests.benchmark import machine


class Library:
    """NVML of a machine with two GPUs."""

    names = ("NVIDIA H200", "NVIDIA A10")

    def __init__(self, processes: list[int] | None = None, reasons: int = 0) -> None:
        self.processes, self.reasons = processes or [], reasons

    def nvmlInit_v2(self) -> int:  # noqa: N802
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:  # noqa: N802
        handle._obj.value = index.value + 1
        return 0 if index.value < len(self.names) else 6

    def nvmlDeviceGetHandleByUUID(self, text: bytes, handle: Any) -> int:  # noqa: N802
        handle._obj.value = int(text.decode().removeprefix("GPU-"))
        return 0

    def nvmlDeviceGetName(self, handle: Any, text: Any, size: Any) -> int:  # noqa: N802
        text.value = self.names[handle.value - 1].encode()
        return 0

    def nvmlDeviceGetUUID(self, handle: Any, text: Any, size: Any) -> int:  # noqa: N802
        text.value = f"GPU-{handle.value}".encode()
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Any, value: Any) -> int:  # noqa: N802
        value._obj.value = self.reasons
        return 0

    def nvmlDeviceGetPowerUsage(self, handle: Any, value: Any) -> int:  # noqa: N802
        return 3  # not supported

    def nvmlDeviceGetClockInfo(self, handle: Any, kind: int, value: Any) -> int:  # noqa: N802
        value._obj.value = {1: 1980, 2: 3201}[kind]
        return 0

    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int, value: Any) -> int:  # noqa: N802
        value._obj.value = 40
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v3(self, handle: Any, count: Any, found: Any) -> int:  # noqa: N802
        for place, process in enumerate(self.processes):
            found[place].pid = process
        count._obj.value = len(self.processes)
        return 0


def test_state_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    library = Library([os.getpid(), 5, 6], reasons=0x1 | 0x40)
    monkeypatch.setattr(machine, "_library", lambda: library)
    monitor = machine.find_monitor("gpu", "NVIDIA H200")
    assert monitor is not None
    assert monitor.identity == "GPU-1"
    assert monitor.state() == {
        "sm_mhz": 1980,
        "memory_mhz": 3201,
        "temperature_c": 40,
        "power_w": None,
        "throttle_reasons": ["hardware thermal"],
        "other_processes": 2,
    }


@pytest.mark.parametrize(
    ("device", "name", "visible", "identity"),
    [
        ("gpu", "NVIDIA H200", None, "GPU-1"),
        ("gpu:1", "NVIDIA A10", None, "GPU-2"),
        ("gpu:0", "NVIDIA A10", "1,0", "GPU-2"),
        ("gpu:1", "NVIDIA H200", "GPU-2, GPU-1", "GPU-1"),
        ("gpu:1", "NVIDIA H200", None, None),  # another device: another vendor's, or another order
        ("gpu:2", "NVIDIA H200", None, None),
        ("emulator", "NVIDIA H200", None, None),
    ],
)
def test_the_gpu_of_a_device(
    device: str, name: str, visible: str | None, identity: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_library", Library)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monitor = machine.find_monitor(device, name)
    assert (monitor.identity if monitor else None) == identity


@pytest.mark.parametrize(
    ("processes", "others"),
    [([], 0), ([7], 0), ([7, 8], 1), ([100], 0), ([100, 8], 1), ([100, 8, 8, 9], 2)],
)
def test_other_processes(processes: list[int], others: int) -> None:
    assert machine.count_others(processes, 100) == others


def test_without_a_driver_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert machine.find_monitor("gpu", "NVIDIA H200") is None


def test_versions_and_machine_are_text_and_numbers(oprt: Any) -> None:
    found = machine.versions(oprt)
    assert {"python", "numpy", "operator_runtime"} <= set(found)
    assert all(isinstance(version, str) and version for version in found.values())
    assert machine.describe_machine()["cores"] >= 1


def test_git_outside_a_repository_is_empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.git() == {}
