"""Backend and device of a call: their names, the thread's defaults, and what C has selected while a call runs.

C keeps a selection for each thread too. Outside the calls of this package it always equals the thread's default here.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

from operator_runtime._native import ffi, lib
from operator_runtime.errors import check, invalid

_BACKEND_NAMES: dict[int, str] = {
    value: ffi.string(lib.oprt_backend_name(value)).decode() for value in sorted(ffi.typeof("oprt_backend_t").elements)
}
_KIND_NAMES: dict[int, str] = {
    value: name.removeprefix("OPRT_DEVICE_").lower()
    for value, name in sorted(ffi.typeof("oprt_device_kind_t").elements.items())
}
ANY_BACKEND = lib.OPRT_BACKEND_AUTO
ANY_DEVICE = lib.OPRT_DEVICE_AUTO
GPU = lib.OPRT_DEVICE_GPU


class Place(NamedTuple):
    """A backend and a device, both as C numbers them; either may be still to be chosen."""

    backend: int
    kind: int
    device_index: int

    @property
    def backend_name(self) -> str:
        return _BACKEND_NAMES[self.backend]

    @property
    def device_name(self) -> str:
        """The name that device= takes: emulator, gpu, gpu:1."""
        name = _KIND_NAMES[self.kind]
        return f"{name}:{self.device_index}" if self.device_index else name

    def __str__(self) -> str:
        return f"{self.backend_name} {self.device_name}"


def backends() -> tuple[str, ...]:
    """Names of the backends that the C library knows, whether or not they are built.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> oprt.backends()
    ('nvidia', 'metax')
    """
    return tuple(name for value, name in _BACKEND_NAMES.items() if value != ANY_BACKEND)


@functools.cache
def parse_backend(name: str | None) -> int:
    """The number of a backend's name; None and "auto" leave it to be chosen."""
    if name is None:
        return ANY_BACKEND
    for value, known in _BACKEND_NAMES.items():
        if name == known:
            return value
    raise invalid(f"unknown backend {name!r}; known: {', '.join(_BACKEND_NAMES.values())}")


@functools.cache
def parse_device(name: str | None, origin: str = "device") -> tuple[int, int]:
    """Kind and index of a device's name (auto, emulator, gpu, gpu:1); None leaves it to be chosen."""
    if name is None:
        return ANY_DEVICE, 0
    kind_name, colon, index = name.partition(":") if isinstance(name, str) else ("", "", "")
    for value, known in _KIND_NAMES.items():
        if kind_name == known and (not colon or (value == GPU and index.isdecimal() and len(index) < 5)):
            return value, int(index or 0)
    raise invalid(f"unknown {origin} {name!r}; known: {', '.join(_KIND_NAMES.values())}, gpu:N")


class KernelChoice(NamedTuple):
    """Which kernels a descriptor gets, and whether they may overlap those before them."""

    technique: str | None
    launch_overlap: bool


def _launch_overlap_of_c() -> bool:
    enabled = ffi.new("int32_t *")
    check(lib.oprt_get_launch_overlap(enabled))
    return bool(enabled[0])


class _Defaults(threading.local):
    """What a thread selected.

    It starts with backend auto, the device of CAMP_DEVICE, the reference kernels, the overlap of CAMP_LAUNCH_OVERLAP.
    """

    def __init__(self) -> None:
        self.backend = ANY_BACKEND
        self.kind, self.index = parse_device(os.environ.get("CAMP_DEVICE") or None, "CAMP_DEVICE")
        self.kernels = KernelChoice(None, _launch_overlap_of_c())
        self.active: Place | None = None  # what C has selected, where that is not the above


defaults = _Defaults()


def _apply(backend: int, kind: int, index: int) -> None:
    check(lib.oprt_set_backend(backend))
    check(lib.oprt_set_device(kind, index))


class selected:
    """Selects a place in C for the calls inside a with statement. A finaliser may nest one at any moment."""

    __slots__ = ("_before", "_place")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._before: Place | None = None

    def __enter__(self) -> None:
        self._before = defaults.active
        defaults.active = self._place
        try:
            _apply(*self._place)
        except BaseException:
            self._restore()
            raise

    def _restore(self) -> None:
        defaults.active = before = self._before
        if before is None:
            _apply(defaults.backend, defaults.kind, defaults.index)
        else:
            _apply(*before)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._restore()


def set_backend(backend: str | None) -> None:
    """Choose the backend of the calling thread's calls that name none.

    Parameters
    ----------
    backend : str or None
        One of `backends()`; None or "auto" takes the first backend with a GPU, else the first with an emulator.

    Raises
    ------
    ValueError
        An unknown name. A backend that is not built is reported by the first call that needs it.

    Examples
    --------
    >>> oprt.set_backend("nvidia")
    >>> oprt.get_backend()
    'nvidia'
    >>> oprt.set_backend(None)
    """
    defaults.backend = parse_backend(backend)
    _apply(defaults.backend, defaults.kind, defaults.index)


def set_device(device: str | None) -> None:
    """Choose the device of the calling thread's calls that name none.

    Parameters
    ----------
    device : str or None
        "auto", "emulator", "gpu" or "gpu:1"; None goes back to CAMP_DEVICE, which is "auto" when not set.

    Raises
    ------
    ValueError
        An unknown name. A device that is not there is reported by the first call that needs it.

    Examples
    --------
    >>> oprt.set_device("emulator")
    >>> oprt.get_device()
    'emulator'
    >>> oprt.set_device(None)
    """
    if device is None:
        kind, index = parse_device(os.environ.get("CAMP_DEVICE") or None, "CAMP_DEVICE")
    else:
        kind, index = parse_device(device)
    _apply(defaults.backend, kind, index)
    defaults.kind, defaults.index = kind, index


def get_backend() -> str:
    """The backend that the calling thread's next call would use.

    Returns
    -------
    str

    Raises
    ------
    RuntimeError
        No backend is built for the thread's device.
    """
    return resolve(choose(None, None)).backend_name


def get_device() -> str:
    """The device that the calling thread's next call would use.

    Returns
    -------
    str
        "emulator", "gpu", "gpu:1", ...

    Raises
    ------
    RuntimeError
        No backend is built for the thread's device.
    """
    return resolve(choose(None, None)).device_name


@contextmanager
def technique(name: str | None) -> Iterator[None]:
    """Use one technique of the operators, by name, for the calls and prepared operators made inside the with statement.

    Parameters
    ----------
    name : str or None
        One of `techniques(operator)`; None is the reference kernel, or the learner's.

    Raises
    ------
    NotImplementedError
        From a call inside, when its operator has no such technique; the message lists those it has.

    Examples
    --------
    >>> x = np.array([-1.0, 2.0], np.float32)
    >>> with oprt.technique(None):
    ...     oprt.relu(x)
    array([0., 2.], dtype=float32)
    """
    before = defaults.kernels.technique
    _set_technique(name or None)
    try:
        yield
    finally:
        _set_technique(before)


def _set_technique(name: str | None) -> None:
    check(lib.oprt_set_technique(ffi.NULL if name is None else name.encode()))
    defaults.kernels = defaults.kernels._replace(technique=name)


@contextmanager
def launch_overlap(enabled: bool) -> Iterator[None]:
    """Let kernels start before those in front of them in the stream have ended, for the calls made inside.

    It saves time between short kernels and changes no result: such a kernel waits before it touches memory. Prepared
    operators keep what was chosen when they were made. Kernels and devices that cannot overlap start in order.

    Parameters
    ----------
    enabled : bool
        A thread starts with False, or with True where CAMP_LAUNCH_OVERLAP is 1.

    Examples
    --------
    >>> x = np.array([-1.0, 2.0], np.float32)
    >>> with oprt.launch_overlap(True):
    ...     oprt.relu(x)
    array([0., 2.], dtype=float32)
    """
    before = defaults.kernels.launch_overlap
    _set_launch_overlap(bool(enabled))
    try:
        yield
    finally:
        _set_launch_overlap(before)


def _set_launch_overlap(enabled: bool) -> None:
    check(lib.oprt_set_launch_overlap(enabled))
    defaults.kernels = defaults.kernels._replace(launch_overlap=enabled)


def choose(backend: str | None, device: str | None, *owners: Place | None) -> Place:
    """The place of a call: what was named, else that of its operands or stream, else the thread's default."""
    chosen = parse_backend(backend)
    kind, index = parse_device(device)
    for owner in owners:
        if owner is not None:
            chosen = chosen or owner.backend
            if kind == ANY_DEVICE:
                kind, index = owner.kind, owner.device_index
    if kind == ANY_DEVICE:
        kind, index = defaults.kind, defaults.index
    return Place(chosen or defaults.backend, kind, index)


_resolved: dict[Place, Place] = {}


def resolve(place: Place) -> Place:
    """The place with nothing left to be chosen; C chooses, once for each place in a process.

    Equal places come as one object.
    """
    found = _resolved.get(place)
    if found is None and place.backend != ANY_BACKEND and place.kind != ANY_DEVICE:
        found = _resolved.setdefault(place, place)
    elif found is None:
        backend, kind, index = ffi.new("oprt_backend_t *"), ffi.new("oprt_device_kind_t *"), ffi.new("int32_t *")
        with selected(place):
            check(lib.oprt_get_backend(backend))
            check(lib.oprt_get_device(kind, index))
        found = _resolved[place] = resolve(Place(int(backend[0]), int(kind[0]), int(index[0])))
    return found
