"""Made-up but plausible documents for the tests: one GPU whose memory copies at 4200 GB/s, and one emulator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.benchmark.document import Document
from tests.benchmark.records import Limit, Row

COPY_GB_S, READ_GB_S = 4200.0, 4600.0
LAUNCH_US = 1.2
ITEMSIZE = {"float32": 4, "float16": 2, "bfloat16": 2}
SHAPES = [(144, 1280), (1008, 2304), (4080, 1536), (4096, 4096), (4096, 32768), (1024, 131072), (1, 67108864)]
LENGTHS = [(1024,), (1001000,), (4093000,), (65521000,)]


def samples(time_us: float, spread: float = 0.002, count: int = 24) -> list[float]:
    """Evenly spaced around the time; the quartiles are spread x time apart."""
    return [time_us * (1 + 2 * spread * (position / (count - 1) - 0.5)) for position in range(count)]


def copy_us(size_bytes: int) -> float:
    """The best copy of so many bytes."""
    return LAUNCH_US + 2 * size_bytes / COPY_GB_S / 1e3


def read_us(size_bytes: int) -> float:
    """The best read of so many bytes."""
    return LAUNCH_US + size_bytes / READ_GB_S / 1e3


def row(operator: str = "softmax", shape: Sequence[int] = (4096, 4096), dtype: str = "float32", **settings: Any) -> Row:
    """A row at 1.01 times its limit, unless factor= or time_us= says otherwise; other settings replace its fields."""
    elements, size = math.prod(shape), ITEMSIZE[dtype]
    read = elements * size * (2 if operator == "vector_add" else 1)
    written = elements // shape[-1] * size if operator == "reduce_sum" else elements * size
    limit_us = read_us(read) if operator == "reduce_sum" else copy_us(read)
    time_us = settings.pop("time_us", settings.pop("factor", 1.01) * limit_us)
    values: dict[str, Any] = {
        "operator": operator,
        "subject": "reference",
        "kind": "technique",
        "launch": "ordinary",
        "backend": "nvidia",
        "device": "gpu",
        "shape": list(shape),
        "parameters": {"axis": -1} if operator == "reduce_sum" else {},
        "dtype": dtype,
        "bytes_read": read,
        "bytes_written": written,
        "bytes_moved": read + written,
        "time_us": time_us,
        "spread_us": time_us * 0.002,
        "slope_us": time_us,
        "bandwidth_gb_s": (read + written) / time_us / 1e3,
        "floor_us": 0.9 * limit_us,
        "limit_us": limit_us,
        "limit_kind": "read" if operator == "reduce_sum" else "copy",
        "verified": True,
        "verdict": "TRUSTED",
        "timer": "events around a graph of 64 launches over 64 sets of operands",
        "sets": 64,
        "launches_per_graph": 64,
        "samples_us": samples(time_us),
    }
    return Row(**values | settings)


def peer(name: str, operator: str, shape: Sequence[int], dtype: str, factor: float, **settings: Any) -> Row:
    """A peer's row."""
    return row(operator, shape, dtype, subject=name, kind="peer", factor=factor, **settings)


def limit(size_bytes: int) -> Limit:
    """The limits for one size."""
    copy, read = copy_us(size_bytes), read_us(size_bytes)
    return Limit(
        "nvidia",
        "gpu",
        size_bytes,
        copy_us=copy,
        copy_gb_s=2 * size_bytes / copy / 1e3,
        copy_variant=1,
        read_us=read,
        read_gb_s=size_bytes / read / 1e3,
        read_variant=0,
        read_twice_us=copy + read - LAUNCH_US,
        empty_us=1.1,
        bare_launch_us=2.4,
    )


def document(rows: Sequence[Row] = (), **sections: Any) -> Document:
    """A document of one GPU with the given rows and the limits that they need."""
    values: dict[str, Any] = {
        "created": "2026-01-31T12:00:00Z",
        "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
        "machine": {"cpu": "a processor", "cores": 16},
        "versions": {"python": "3.12.1", "numpy": "2.1.0", "torch": "2.9.0"},
        "build": {"version": "0.1"},
        "devices": [{"backend": "nvidia", "device": "gpu", "name": "Example GPU", "properties": {"warp_size": 32}}],
        "self_test": [
            {
                "backend": "nvidia",
                "device": "gpu",
                "operator": "softmax",
                "shape": [4096, 4096],
                "dtype": "float32",
                "time_us_first": 100.0,
                "time_us_second": 100.4,
                "noise": 0.004,
            }
        ],
        "limits": [limit(size) for size in sorted({each.bytes_read for each in rows if each.limit_us})],
        "rows": list(rows),
    }
    return Document(**values | sections)


def full_document() -> Document:
    """Every operator, shape and dtype with peers, a ladder of techniques, overlapped launches and things that miss."""
    rows: list[Row] = []
    for dtype in ITEMSIZE:
        for operator in ("softmax", "reduce_sum"):
            for shape in SHAPES:
                rows += _reduction_rows(operator, shape, dtype)
        for operator in ("copy", "vector_add", "relu"):
            for shape in LENGTHS:
                rows.append(row(operator, shape, dtype, factor=1.03))
                rows.append(peer("torch", operator, shape, dtype, 1.05))
                rows.append(peer("torch.compile", operator, shape, dtype, 1.04))
    rows.append(row("softmax", (4096, 4096), subject="naive", factor=2.2))
    rows.append(row("softmax", (4096, 4096), parameters={"axis": 0}, factor=1.3))
    rows.append(row("relu", (1001000,), subject="naive", factor=0.4, verdict="SUSPECT", reasons=["below the floor"]))
    host = [("bare launch", 2.4), ("prepared run", 3.1), ("functional", 6.0), ("torch.add", 7.6)]
    return document(
        rows,
        host_time=[{"backend": "nvidia", "device": "gpu", "what": what, "median_us": time} for what, time in host],
        peers_absent=[{"peer": "quack", "reason": "quack cannot be imported", "hint": "pip install quack-kernels"}],
    )


def _reduction_rows(operator: str, shape: Sequence[int], dtype: str) -> list[Row]:
    rows = [row(operator, shape, dtype, factor=1.4 if shape[0] == 1 else 1.02)]
    rows.append(peer("torch", operator, shape, dtype, 1.6))
    rows.append(peer("torch.compile", operator, shape, dtype, 1.5))
    if operator == "softmax":
        rows.append(row(operator, shape, dtype, launch="overlap", factor=0.98))
        if shape[1] <= 65536:
            rows.append(peer("triton", operator, shape, dtype, 1.12))
    else:
        rows.append(peer("cub", operator, shape, dtype, 1.2))
    return rows
