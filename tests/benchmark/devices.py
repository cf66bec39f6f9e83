"""Which GPU a test worker or a benchmark row uses. Pure functions: what there is, the caller says."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Job = TypeVar("Job")
ALL_GPUS = "gpu:all"


def of_worker(device: str, worker: str | None, gpus: int) -> str:
    """The device for one worker of `pytest -n`: worker i takes GPU i modulo the number of GPUs.

    Parameters
    ----------
    device : str
        What was asked for. Only gpu without an index is mapped, and only for a worker.
    worker : str or None
        pytest-xdist's name of the worker, gw0, gw1, ...; None in a run without workers.
    gpus : int
        How many GPUs there are.

    Examples
    --------
    >>> [of_worker("gpu", f"gw{i}", 2) for i in range(4)]
    ['gpu:0', 'gpu:1', 'gpu:0', 'gpu:1']
    """
    found = re.fullmatch(r"gw(\d+)", worker or "")
    if device != "gpu" or found is None or gpus < 2:
        return device
    return f"gpu:{int(found[1]) % gpus}"


def expand(device: str, gpus: int) -> list[str]:
    """The devices of a --device option: every GPU for gpu:all, else the one named.

    Examples
    --------
    >>> expand("gpu:all", 2), expand("gpu:1", 2)
    (['gpu:0', 'gpu:1'], ['gpu:1'])
    """
    return [f"gpu:{index}" for index in range(gpus)] if device == ALL_GPUS else [device]


def share(
    jobs: Sequence[Job],
    devices: Sequence[str],
    *,
    group: Callable[[Job], Hashable] | None = None,
    cost: Callable[[Job], float] | None = None,
) -> dict[str, list[Job]]:
    """Divide jobs over devices: each next group goes to the device that has least to do so far.

    Parameters
    ----------
    jobs : sequence
        They keep their order on each device.
    devices : sequence of str
    group : callable, optional
        Jobs with the same group stay together, as subjects have to that are compared with each other.
    cost : callable, optional
        How long a job takes, in any unit; 1 if not given.

    Returns
    -------
    dict
        The jobs of each device; every job exactly once.

    Examples
    --------
    >>> share(["a", "b", "c"], ["gpu:0", "gpu:1"])
    {'gpu:0': ['a', 'c'], 'gpu:1': ['b']}
    """
    if not devices:
        raise ValueError("share: devices is empty, wanted at least one")
    groups: dict[Hashable, list[Job]] = {}
    for position, job in enumerate(jobs):
        groups.setdefault(group(job) if group else position, []).append(job)
    shared: dict[str, list[Job]] = {device: [] for device in devices}
    load = dict.fromkeys(devices, 0.0)
    for members in groups.values():
        chosen = min(devices, key=lambda device: load[device])  # the first of those with least
        shared[chosen] += members
        load[chosen] += sum(cost(job) if cost else 1.0 for job in members)
    return shared
