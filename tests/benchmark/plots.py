"""Two pictures of a result for each device: the roofline, and speed over size.

matplotlib draws them; it is imported when they are asked for, and only then has to be there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmark import table
from tests.benchmark.document import Document
from tests.benchmark.records import Limit, Row

# Arithmetic of one input element (of each pair for vector_add), as the formula has it: softmax is maximum, subtraction,
# exponential, addition, division. copy computes nothing and has no place in a roofline.
OPERATIONS = {"vector_add": 1, "relu": 1, "reduce_sum": 1, "softmax": 5}
MARKERS = {"float32": "o", "float16": "s", "bfloat16": "^", "float64": "D"}
DTYPES = tuple(MARKERS)
# Okabe and Ito's colours, which colour-blind readers tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PNG_DPI = 130


class PlotError(Exception):
    """The pictures cannot be drawn; the text says what to do."""


def write(document: Document, folder: Path) -> list[Path]:
    """Draw a document.

    Returns
    -------
    list of Path
        <backend>-<device>-roofline.png and <backend>-<device>-speed.png of each device that has rows.

    Raises
    ------
    PlotError
        matplotlib is not there, or the folder cannot be made.
    """
    pyplot = _pyplot()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlotError(f"--plots {folder}: {error.strerror}") from None
    written = []
    for place in dict.fromkeys((row.backend, row.device) for row in document.rows):
        rows = [row for row in document.rows if (row.backend, row.device) == place]
        limits = [limit for limit in document.limits if (limit.backend, limit.device) == place]
        title = _title(document, *place)
        for name, figure in (
            ("roofline", _roofline(pyplot, rows, limits, title)),
            ("speed", _speed(pyplot, rows, limits, title)),
        ):
            path = folder / f"{'-'.join(place).replace(':', '')}-{name}.png"
            figure.savefig(path, dpi=PNG_DPI)
            pyplot.close(figure)
            written.append(path)
    return written


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise PlotError(
            "--plots needs matplotlib, and this Python has none: pip install matplotlib, or leave --plots out"
        ) from None
    matplotlib.use("Agg")  # files only, no window
    from matplotlib import pyplot

    return pyplot


def _title(document: Document, backend: str, device: str) -> str:
    name = next((each.name for each in document.devices if (each.backend, each.device) == (backend, device)), device)
    return f"{name} ({backend}, {device}), {document.created[:10]}"


# Roofline ------------------------------------------------------------------------------------------------------------


def _roofline(pyplot: Any, rows: Sequence[Row], limits: Sequence[Limit], title: str) -> Any:
    """Operations a second over operations a byte; memory allows what lies under the slanted lines."""
    figure, axes = pyplot.subplots(figsize=(10.5, 6), layout="constrained")
    shown = [row for row in rows if row.is_reference and row.launch == "ordinary" and row.operator in OPERATIONS]
    operators = list(dict.fromkeys(row.operator for row in shown))
    for row in shown:
        axes.plot(
            *intensity_and_speed(row),
            MARKERS.get(row.dtype, "x"),
            color=COLOURS[operators.index(row.operator) % len(COLOURS)],
            markersize=6,
            markerfacecolor="none",
        )
    intensities = [intensity_and_speed(row)[0] for row in shown] or [0.1, 1.0]
    ends = (min(intensities) / 2, max(intensities) * 2)
    _roofs(axes, limits, ends)
    axes.set(xscale="log", yscale="log", xlim=ends)
    for axis in (axes.xaxis, axes.yaxis):
        _plain_ticks(axis)
    axes.set_xlabel("operations for each byte that moves")
    axes.set_ylabel("Gop/s: billion operations a second")
    axes.set_title(f"Roofline: {title}\none mark an input, the kernel that users get; lower marks are smaller inputs")
    axes.grid(which="major", color="0.9")
    _roofline_legend(pyplot, axes, operators, [dtype for dtype in DTYPES if any(row.dtype == dtype for row in shown)])
    return figure


def intensity_and_speed(row: Row) -> tuple[float, float]:
    """Operations a byte, and billion operations a second."""
    operations = OPERATIONS[row.operator] * math.prod(row.shape)
    return operations / row.bytes_moved, operations / row.time_us / 1e3


def _roofs(axes: Any, limits: Sequence[Limit], ends: tuple[float, float]) -> None:
    if not limits:
        return
    for text, style, best in (
        ("read", "--", max(limit.read_gb_s for limit in limits)),
        ("copy", "-", max(limit.copy_gb_s for limit in limits)),
    ):
        label = f"best {text}: {best:.0f} GB/s"
        axes.plot(ends, [end * best for end in ends], style, color="0.35", linewidth=1.2, label=label)


def _roofline_legend(pyplot: Any, axes: Any, operators: Sequence[str], dtypes: Sequence[str]) -> None:
    line = pyplot.Line2D
    handles = list(axes.get_legend_handles_labels()[0])
    for position, operator in enumerate(operators):
        text = f"{operator} ({OPERATIONS[operator]} an element)"
        handles.append(line([], [], linewidth=6, color=COLOURS[position % len(COLOURS)], label=text))
    for dtype in dtypes:
        mark = {"marker": MARKERS[dtype], "linestyle": "", "markerfacecolor": "none"}
        handles.append(line([], [], color="0.3", label=dtype, **mark))
    axes.figure.legend(handles=handles, loc="outside right upper", fontsize=9, frameon=False)


# Speed over size -----------------------------------------------------------------------------------------------------


def _speed(pyplot: Any, rows: Sequence[Row], limits: Sequence[Limit], title: str) -> Any:
    """A field for each operator and dtype: bandwidth over the bytes that move, a line for each subject."""
    operators = list(dict.fromkeys(row.operator for row in rows))
    dtypes = [dtype for dtype in DTYPES if any(row.dtype == dtype for row in rows)]
    subjects = _subjects(rows)
    size = (1.5 + 3.4 * len(operators), 1.6 + 2.7 * len(dtypes))
    figure, fields = pyplot.subplots(
        len(dtypes), len(operators), figsize=size, layout="constrained", sharex="col", sharey=True, squeeze=False
    )
    for axes_of_dtype, dtype in zip(fields, dtypes, strict=True):
        for axes, operator in zip(axes_of_dtype, operators, strict=True):
            here = [row for row in rows if (row.operator, row.dtype) == (operator, dtype)]
            _field(axes, here, limits, subjects)
            axes.set_title(f"{operator} {dtype}", fontsize=10)
            if not here:
                axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", color="0.5")
    for axes in fields[-1]:
        axes.set_xlabel("bytes moved")
        _byte_ticks(axes.xaxis)
    for axes in fields[:, 0]:
        axes.set_ylabel("GB/s")
    fields[0, 0].set_ylim(bottom=0)  # of all, and last: what is drawn later would be cut off
    figure.suptitle(f"Speed over size: {title}")
    handles, labels = _legend_of(fields)
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8), fontsize=9, frameon=False)
    return figure


def _subjects(rows: Sequence[Row]) -> dict[str, str]:
    """The colour of each line: the reference, overlapped or not, and the peers; other techniques would hide them."""
    names = dict.fromkeys(table.subject(row) for row in rows if row.is_reference or row.kind == "peer")
    ordered = sorted(names, key=lambda name: not name.startswith("reference"))
    return {name: COLOURS[position % len(COLOURS)] for position, name in enumerate(ordered)}


def _field(axes: Any, rows: Sequence[Row], limits: Sequence[Limit], subjects: dict[str, str]) -> None:
    for name, colour in reversed(subjects.items()):  # the reference last, on top
        best: dict[int, float] = {}
        for row in rows:
            if table.subject(row) == name:
                best[row.bytes_moved] = max(row.bandwidth_gb_s, best.get(row.bytes_moved, 0.0))
        is_reference = name.startswith("reference")
        style = {"linewidth": 2.0 if is_reference else 1.1, "markersize": 4.5 if is_reference else 3}
        axes.plot(sorted(best), [best[size] for size in sorted(best)], "o-", color=colour, label=name, **style)
    curve = limit_curve(rows, limits)
    axes.plot(*zip(*curve, strict=True), "k--", linewidth=1, label="limit: best copy or read") if curve else None
    axes.set_xscale("log")
    axes.grid(color="0.92")


def limit_curve(rows: Sequence[Row], limits: Sequence[Limit]) -> list[tuple[int, float]]:
    """(bytes moved, GB/s) that the rows would reach in the time of their limit."""
    points = {row.bytes_moved: row.bytes_moved / row.limit_us / 1e3 for row in rows if limits and row.limit_us}
    return sorted(points.items())


def _legend_of(fields: Any) -> tuple[list[Any], list[str]]:
    """Each label once."""
    found: dict[str, Any] = {}
    for axes in fields.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    labels = sorted(found, key=lambda label: (not label.startswith("reference"), label.startswith("limit")))
    return [found[label] for label in labels], labels


def _byte_ticks(axis: Any) -> None:
    """10 kB, 1 MB instead of powers of ten."""
    from matplotlib import ticker

    axis.set_major_formatter(ticker.EngFormatter(unit="B", places=0))
    axis.set_minor_formatter(ticker.NullFormatter())


def _plain_ticks(axis: Any) -> None:
    """0.1, 0.2, 0.5 instead of powers of ten."""
    from matplotlib import ticker

    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())
