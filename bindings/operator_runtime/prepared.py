"""Prepared operators: everything but the launch is done once, so that run() costs little more than the C call.

What is bound to what is decided in calls.py.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

from operator_runtime._native import CData
from operator_runtime.descriptors import Descriptor
from operator_runtime.errors import OperatorFailure, OperatorRuntimeError, Status, invalid, raise_status
from operator_runtime.owner import Owner
from operator_runtime.staging import Staging
from operator_runtime.stream import Stream, StreamOfCall


class Prepared(Owner):
    """An operator bound to its arrays, made by `prepare_copy`, `prepare_softmax` and the like.

    Attributes
    ----------
    run : callable
        `run()` queues the operator on the stream and returns nothing. With host arrays it copies the inputs to the
        device, runs, copies the result back and waits. Errors are raised as by the operator itself; a second thread
        that enters while one is inside gets RuntimeError.
    stream : Stream or int
        Where it runs: the stream that was asked for, else the address of the stream that was current when it was made.

    Notes
    -----
    It borrows its arrays: they have to stay open. Closing it twice is harmless, running a closed one raises ValueError.
    """

    run: Callable[[], None]

    def __init__(
        self,
        operator: str,
        descriptor: Descriptor,
        pointers: list[CData],
        stream: StreamOfCall,
        borrowed: object,
        staging: Staging | None,
    ) -> None:
        self.operator = operator
        self.stream: Stream | int = stream.stream
        self._descriptor = descriptor
        self._borrowed = borrowed
        self._staging = staging
        self._lock = threading.Lock()
        workspace, size_bytes = descriptor.workspace(stream.key), descriptor.workspace_size_bytes
        execute = functools.partial(
            descriptor.execute, descriptor.handle, workspace, size_bytes, *pointers, stream.cdata
        )
        self.run = self._bind(execute) if staging is None else self._bind_staged(execute, staging, stream.cdata)
        self._open = True

    def _bind(self, execute: Callable[[], int]) -> Callable[[], None]:
        """A function without a look-up that could be spared: it is called as often as a kernel is launched."""
        enter, leave, operator = self._lock.acquire, self._lock.release, self.operator

        def run() -> None:
            if not enter(False):
                raise _in_use(operator)
            try:
                status = execute()
                if status:
                    raise_status(status)
            finally:
                leave()

        return run

    def _bind_staged(self, execute: Callable[[], int], staging: Staging, stream: CData) -> Callable[[], None]:
        def execute_staged() -> int:
            staging.bring_in(stream)
            status = execute()
            if not status:
                staging.bring_back(stream)
            return status

        return self._bind(execute_staged)

    @property
    def workspace_size_bytes(self) -> int:
        """Scratch memory that it holds on the device."""
        return self._descriptor.workspace_size_bytes

    def _release(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._open = True
            raise _in_use(self.operator)
        try:
            self.run = functools.partial(_refuse_closed, self.operator)
            self._descriptor.release()
            if self._staging is not None:
                self._staging.close()
            self._borrowed = None
        finally:
            self._lock.release()

    def __repr__(self) -> str:
        return f"<Prepared {self.operator} on {self._descriptor.place}{', closed' if self.closed else ''}>"


def _in_use(operator: str) -> OperatorRuntimeError:
    return OperatorFailure(
        f"a prepared {operator} was used by two threads at once; give each thread its own", Status.RUNTIME
    )


def _refuse_closed(operator: str) -> None:
    raise invalid(f"the prepared {operator} was closed")
