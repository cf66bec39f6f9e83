"""Workers and rows on several GPUs, without any."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.benchmark.devices import expand, of_worker, share
from tests.harness.targets import Target, find_targets, for_worker


def test_worker_i_uses_gpu_i_modulo_their_number() -> None:
    assert [of_worker("gpu", f"gw{i}", 3) for i in (0, 1, 2, 3, 10)] == ["gpu:0", "gpu:1", "gpu:2", "gpu:0", "gpu:1"]


@pytest.mark.parametrize(
    ("device", "worker", "gpus"),
    [("gpu:1", "gw0", 4), ("emulator", "gw3", 4), ("gpu", None, 4), ("gpu", "master", 4), ("gpu", "gw3", 1)],
)
def test_what_was_named_stays(device: str, worker: str | None, gpus: int) -> None:
    assert of_worker(device, worker, gpus) == device


AVAILABLE = [("nvidia", "gpu"), ("nvidia", "gpu:1"), ("nvidia", "emulator"), ("metax", "gpu"), ("metax", "emulator")]


def test_workers_collect_the_same_tests_on_other_gpus() -> None:
    asked = [Target("nvidia", "gpu"), Target("metax", "gpu"), Target("metax", "emulator")]
    found = [for_worker(asked, f"gw{i}", AVAILABLE) for i in range(3)]
    assert [[target.device for target in targets] for targets in found] == [
        ["gpu:0", "gpu", "emulator"],
        ["gpu:1", "gpu", "emulator"],
        ["gpu:0", "gpu", "emulator"],
    ]
    assert all([str(target) for target in targets] == [str(target) for target in asked] for targets in found)


@pytest.mark.parametrize("device", ["auto", "gpu"])
def test_of_several_gpus_the_first_is_taken(device: str) -> None:
    oprt = SimpleNamespace(available=lambda: AVAILABLE, backends=lambda: ("nvidia", "metax"))
    assert [target.device for target in find_targets(oprt, "nvidia", device)] == ["gpu"]


def test_a_run_without_workers_uses_what_was_asked_for() -> None:
    asked = [Target("nvidia", "gpu"), Target("nvidia", "gpu:1")]
    found = for_worker(asked, None, AVAILABLE)
    assert [(target.device, str(target)) for target in found] == [("gpu", "nvidia-gpu"), ("gpu:1", "nvidia-gpu1")]


def test_all_gpus() -> None:
    assert expand("gpu:all", 3) == ["gpu:0", "gpu:1", "gpu:2"]
    assert expand("gpu", 3) == ["gpu"]


def test_every_job_is_done_once_and_in_order() -> None:
    shared = share(list(range(10)), ["gpu:0", "gpu:1", "gpu:2"])
    assert sorted(job for jobs in shared.values() for job in jobs) == list(range(10))
    assert all(jobs == sorted(jobs) for jobs in shared.values())
    assert {len(jobs) for jobs in shared.values()} == {3, 4}


def test_a_group_stays_on_one_device() -> None:
    jobs = [(shape, subject) for shape in "abcde" for subject in ("ours", "torch", "limit")]
    shared = share(jobs, ["gpu:0", "gpu:1"], group=lambda job: job[0])
    for members in shared.values():
        for shape in {shape for shape, _ in members}:
            assert [subject for each, subject in members if each == shape] == ["ours", "torch", "limit"]


def test_costly_jobs_are_balanced() -> None:
    shared = share([8, 1, 1, 1, 1, 4], ["gpu:0", "gpu:1"], cost=float)
    assert shared == {"gpu:0": [8], "gpu:1": [1, 1, 1, 1, 4]}


def test_more_devices_than_jobs() -> None:
    assert share(["a"], ["gpu:0", "gpu:1"]) == {"gpu:0": ["a"], "gpu:1": []}
    with pytest.raises(ValueError, match="devices is empty"):
        share(["a"], [])
