"""Ownership of things that live in C: closed once, by hand, by a with statement or, with a warning, by the finaliser.

What releasing means is left to the subclasses.
"""

from __future__ import annotations

import sys
import warnings
from types import TracebackType
from typing import TypeVar

Self = TypeVar("Self", bound="Owner")


class Owner:
    """Base of every object that owns memory, a stream, an event, a graph or a descriptor of the C library."""

    # True while there is something to release. On the class, so that an object whose constructor failed has it too.
    _open = False
    # Whether forgetting to close is worth a warning; not for results that nobody could have closed.
    _warns = True

    def _release(self) -> None:
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._open

    def close(self) -> None:
        """Release what is held. A second call does nothing, or tries again what the first one could not do."""
        if not self._open:
            return
        self._open = False
        try:
            self._release()
        except BaseException:
            self._open = True
            raise

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not self._open or sys.is_finalizing():  # the end of the process releases everything
            return
        if self._warns:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)
        self.close()
