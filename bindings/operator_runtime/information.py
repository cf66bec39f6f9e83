"""What there is: backends, devices, operators, kernels and modules; waiting for a device and resetting it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from operator_runtime._native import CData, ffi, lib
from operator_runtime.errors import Status, check, invalid
from operator_runtime.selection import ANY_DEVICE, GPU, Place, backends, choose, parse_backend, resolve, selected
from operator_runtime.tensor import wait


@dataclass(frozen=True)
class KernelInfo:
    """One kernel of a module: operator, technique ("" for the reference or the learner's), source file, its SHA-256."""

    op: str
    technique: str
    path: str
    sha256: str


@dataclass(frozen=True)
class DeviceProperties:
    """What a device can do; 0 where the backend does not know. The fields are those of oprt_device_properties_t."""

    name: str
    warp_size: int
    multiprocessor_count: int
    max_threads_per_block: int
    compute_capability_major: int
    compute_capability_minor: int
    shared_memory_per_block_bytes: int
    l2_cache_bytes: int
    total_memory_bytes: int


def _text(value: CData) -> str:
    return ffi.string(value).decode()


def available() -> list[tuple[str, str]]:
    """The backends and devices that can run operators here.

    Returns
    -------
    list of (backend, device)
        In the order of `backends()`, GPUs first; ("nvidia", "gpu"), ("nvidia", "gpu:1"), ("nvidia", "emulator"), ...

    Examples
    --------
    >>> ("nvidia", "emulator") in oprt.available()
    True
    """
    kinds = set(ffi.typeof("oprt_device_kind_t").elements) - {ANY_DEVICE, GPU}
    found = []
    for backend in backends():
        for kind in (GPU, *sorted(kinds)):
            place = Place(parse_backend(backend), kind, 0)
            found += [place._replace(device_index=index) for index in range(_device_count(place))]
    return [(place.backend_name, place.device_name) for place in found]


def _device_count(place: Place) -> int:
    count = ffi.new("int32_t *")
    status = lib.oprt_get_device_count(count, place.backend, place.kind)
    if status in (Status.BACKEND_UNAVAILABLE, Status.DEVICE_UNAVAILABLE):
        return 0
    check(status)
    return int(count[0])


def operators() -> tuple[str, ...]:
    """Names of the operators that the C library has.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "softmax" in oprt.operators()
    True
    """
    found = (re.fullmatch(r"oprt_create_(\w+)_descriptor", name) for name in dir(lib))
    return tuple(sorted(match[1] for match in found if match))


def kernels(*, backend: str | None = None, device: str | None = None) -> list[KernelInfo]:
    """The kernels that a module holds.

    Parameters
    ----------
    backend, device : str, optional
        Whose module; the thread's default if not given.

    Returns
    -------
    list of KernelInfo

    Raises
    ------
    RuntimeError
        The module is not built, or the device is not there.

    Examples
    --------
    >>> {kernel.op for kernel in oprt.kernels()} == set(oprt.operators())
    True
    """
    count, info = ffi.new("int32_t *"), ffi.new("oprt_kernel_info_t *")
    info.struct_size = ffi.sizeof("oprt_kernel_info_t")
    found = []
    with selected(resolve(choose(backend, device))):
        check(lib.oprt_get_kernel_count(count))
        for index in range(count[0]):
            check(lib.oprt_get_kernel_info(info, index))
            found.append(KernelInfo(*(_text(getattr(info, field.name)) for field in fields(KernelInfo))))
    return found


def techniques(operator: str, *, backend: str | None = None, device: str | None = None) -> tuple[str, ...]:
    """Names of an operator's techniques, for `technique(name)`.

    Parameters
    ----------
    operator : str
        One of `operators()`.
    backend, device : str, optional
        Where; the thread's default if not given.

    Returns
    -------
    tuple of str

    Raises
    ------
    ValueError
        An unknown operator.
    RuntimeError
        The module is not built, or the device is not there.
    """
    if operator not in operators():
        raise invalid(f"unknown operator {operator!r}; known: {', '.join(operators())}")
    held = kernels(backend=backend, device=device)
    return tuple(kernel.technique for kernel in held if kernel.op == operator and kernel.technique)


def module_path(backend: str | None = None, device: str | None = None) -> str:
    """Path of the shared library that serves a backend and device.

    Raises
    ------
    RuntimeError
        The module is not built, or the device is not there; the message names each place tried.
    """
    path = ffi.new("const char **")
    with selected(resolve(choose(backend, device))):
        check(lib.oprt_get_module_path(path))
    return _text(path[0])


def device_properties(backend: str | None = None, device: str | None = None) -> DeviceProperties:
    """What a device can do.

    Raises
    ------
    RuntimeError
        The module is not built, or the device is not there.

    Examples
    --------
    >>> oprt.device_properties("metax").warp_size
    64
    """
    properties = ffi.new("oprt_device_properties_t *")
    properties.struct_size = ffi.sizeof("oprt_device_properties_t")
    with selected(resolve(choose(backend, device))):
        check(lib.oprt_get_device_properties(properties))
    _, *numbers = (field.name for field in fields(DeviceProperties))
    return DeviceProperties(_text(properties.name), *(int(getattr(properties, name)) for name in numbers))


def synchronize(*, backend: str | None = None, device: str | None = None) -> None:
    """Wait for all work of a device.

    Raises
    ------
    RuntimeError
        A kernel broke since the device's last reset, and the message is its report; or the device is not there.
    """
    wait(resolve(choose(backend, device)))


def device_reset(*, backend: str | None = None, device: str | None = None) -> None:
    """Take an emulated device back to a clean state after a kernel broke.

    Raises
    ------
    NotImplementedError
        On a GPU: a fault there ends with the process.
    """
    with selected(resolve(choose(backend, device))):
        check(lib.oprt_device_reset())


def build_information() -> dict[str, str]:
    """How the C library was built: compiler, build type, hash of its interface.

    Returns
    -------
    dict of str
    """
    lines = (line.partition(": ") for line in _text(lib.oprt_build_information()).splitlines())
    return {name: value for name, _, value in lines}
