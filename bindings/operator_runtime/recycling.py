"""Memory of results that are gone, kept for the thread's next results of the same size on the same stream.

A GPU waits for all its work when memory is freed, so a loop over `y = softmax(x)` would stop at every turn. Reuse needs
no waiting where every use of the memory was queued on one stream: later work of that stream comes after it.
Memory.only_stream says whether that is so. The emulator's memory is never kept: fresh memory, filled with 0xFF, shows
what a kernel forgot to write.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict

from operator_runtime._native import CData, lib
from operator_runtime.errors import check
from operator_runtime.selection import GPU, Place

# Place, stream (StreamOfCall.key) and size in bytes.
_Key = tuple[Place, int, int]
KINDS = frozenset({GPU})
# Kept by one thread. Little beside a GPU's memory, much beside the results of operators that are called one by one.
MOST_BYTES = 256 << 20


class _Blocks:
    """What one thread keeps; freed with the thread. The sizes that were used longest ago go first."""

    def __init__(self) -> None:
        self.by_key: OrderedDict[_Key, list[CData]] = OrderedDict()
        self.size_bytes = 0

    def take(self, key: _Key) -> CData | None:
        pointers = self.by_key.get(key)
        if not pointers:
            return None
        self.size_bytes -= key[2]
        pointer = pointers.pop()
        if not pointers:
            del self.by_key[key]
        return pointer

    def keep(self, key: _Key, pointer: CData) -> None:
        self.by_key.setdefault(key, []).append(pointer)
        self.by_key.move_to_end(key)
        self.size_bytes += key[2]
        while self.size_bytes > MOST_BYTES:
            self.release(next(iter(self.by_key)))

    def release(self, key: _Key) -> None:
        pointers = self.by_key.pop(key)
        while pointers:
            self.size_bytes -= key[2]
            check(lib.oprt_free_memory(pointers.pop()))

    def release_all(self) -> bool:
        """Whether there was anything."""
        had_some = self.size_bytes > 0
        while self.by_key:
            self.release(next(iter(self.by_key)))
        return had_some

    def __del__(self) -> None:
        if not sys.is_finalizing():  # the end of the process frees everything
            self.release_all()


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.blocks = _Blocks()


_of_thread = _OfThread()


def take(place: Place, stream_key: int, size_bytes: int) -> CData | None:
    """Memory whose earlier uses all come before the stream's next work."""
    return _of_thread.blocks.take((place, stream_key, size_bytes))


def keep(place: Place, stream_key: int, size_bytes: int, pointer: CData) -> bool:
    """Take over memory that is used no more; False where the caller has to free it."""
    if not 0 < size_bytes <= MOST_BYTES or place.kind not in KINDS:
        return False
    _of_thread.blocks.keep((place, stream_key, size_bytes), pointer)
    return True


def release_all() -> bool:
    """Free what the calling thread keeps; False when that is nothing."""
    return _of_thread.blocks.release_all()


def release_stream(stream_key: int) -> None:
    """Free what is kept for a stream that ends. Other threads' shares go with them, or when they need the room."""
    blocks = _of_thread.blocks
    for key in [key for key in blocks.by_key if key[1] == stream_key]:
        blocks.release(key)
