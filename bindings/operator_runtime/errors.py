"""Status codes of the C library as exceptions: one table, and the one place where a failed call is raised.

The texts come from C, which knows operator, argument, got and wanted; Python adds only what C cannot see.
"""

from __future__ import annotations

import enum
from typing import NoReturn

from operator_runtime._native import ffi, lib


class Status(enum.IntEnum):
    """What a call of the C library came to (oprt_status_t)."""

    SUCCESS = lib.OPRT_SUCCESS
    INVALID_ARGUMENT = lib.OPRT_ERR_INVALID_ARGUMENT
    INVALID_HANDLE = lib.OPRT_ERR_INVALID_HANDLE
    UNSUPPORTED_DTYPE = lib.OPRT_ERR_UNSUPPORTED_DTYPE
    NOT_SUPPORTED = lib.OPRT_ERR_NOT_SUPPORTED
    INSUFFICIENT_WORKSPACE = lib.OPRT_ERR_INSUFFICIENT_WORKSPACE
    OUT_OF_MEMORY = lib.OPRT_ERR_OUT_OF_MEMORY
    BACKEND_UNAVAILABLE = lib.OPRT_ERR_BACKEND_UNAVAILABLE
    DEVICE_UNAVAILABLE = lib.OPRT_ERR_DEVICE_UNAVAILABLE
    LAUNCH_FAILED = lib.OPRT_ERR_LAUNCH_FAILED
    KERNEL_FAULT = lib.OPRT_ERR_KERNEL_FAULT
    NOT_READY = lib.OPRT_ERR_NOT_READY
    RUNTIME = lib.OPRT_ERR_RUNTIME


class OperatorRuntimeError(Exception):
    """Everything that this package raises about a call; each subclass is also the fitting builtin exception.

    Attributes
    ----------
    status : Status
        What went wrong, as the C library counts it.
    """

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[OperatorRuntimeError], tuple[str, Status]]:
        return type(self), (str(self), self.status)  # so that it reaches another process whole


class OperatorValueError(OperatorRuntimeError, ValueError):
    """A shape, stride, axis, pointer, handle or name that is not allowed."""


class OperatorTypeError(OperatorRuntimeError, TypeError):
    """A dtype or a kind of object that is not taken."""


class OperatorNotImplementedError(OperatorRuntimeError, NotImplementedError):
    """A legal request that the backend, device or operator does not carry out."""


class OperatorMemoryError(OperatorRuntimeError, MemoryError):
    """Host or device memory is exhausted."""


class OperatorFailure(OperatorRuntimeError, RuntimeError):
    """Backend, device or kernel failed, or is not there."""


EXCEPTIONS: dict[Status, type[OperatorRuntimeError]] = {
    Status.INVALID_ARGUMENT: OperatorValueError,
    Status.INVALID_HANDLE: OperatorValueError,
    Status.UNSUPPORTED_DTYPE: OperatorTypeError,
    Status.NOT_SUPPORTED: OperatorNotImplementedError,
    Status.INSUFFICIENT_WORKSPACE: OperatorValueError,
    Status.OUT_OF_MEMORY: OperatorMemoryError,
    Status.BACKEND_UNAVAILABLE: OperatorFailure,
    Status.DEVICE_UNAVAILABLE: OperatorFailure,
    Status.LAUNCH_FAILED: OperatorFailure,
    Status.KERNEL_FAULT: OperatorFailure,
    Status.NOT_READY: OperatorFailure,
    Status.RUNTIME: OperatorFailure,
}


def last_message() -> str:
    """The C library's account of the calling thread's last failure."""
    return ffi.string(lib.oprt_last_error_message()).decode("utf-8", "replace")


def raise_status(status: int, remark: str = "") -> NoReturn:
    """Raise the exception of a failed call, with C's message and what Python adds to it."""
    known = Status(status)
    message = last_message() or ffi.string(lib.oprt_status_name(status)).decode()
    raise EXCEPTIONS[known](message + remark, known)


def check(status: int) -> None:
    """Raise unless the call succeeded."""
    if status:
        raise_status(status)


def invalid(message: str) -> OperatorValueError:
    """An error about a value that only Python can see."""
    return OperatorValueError(message, Status.INVALID_ARGUMENT)


def wrong_type(message: str) -> OperatorTypeError:
    """An error about an object that only Python can see."""
    return OperatorTypeError(message, Status.INVALID_ARGUMENT)
