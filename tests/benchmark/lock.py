"""One benchmark at a time on a GPU: a lock file that says who holds it. It ends with the process, however that ends."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

FOLDER = Path(tempfile.gettempdir())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def exclusive(gpu: str, *, folder: Path = FOLDER, say: Callable[[str], None] = _say) -> Iterator[None]:
    """Hold the lock of a GPU; wait for who holds it, and say so.

    Parameters
    ----------
    gpu : str
        What tells this GPU from others on the machine.
    """
    path = folder / f"operator-runtime-{re.sub(r'[^A-Za-z0-9.-]', '_', gpu)}.lock"
    descriptor, is_mine = _opened(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for {gpu}: {_holder(descriptor)} measures there ({path})")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if is_mine:
            _sign(descriptor)
        yield
        if is_mine:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> tuple[int, bool]:
    """The file, and whether it can be written to."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644), True
    except PermissionError:  # another user made it: enough to lock, not to sign
        return os.open(path, os.O_RDONLY), False


def _sign(descriptor: int) -> None:
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()} ({command}, since {now})".encode(), 0)


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 4096, 0).decode(errors="replace") or "another process"
