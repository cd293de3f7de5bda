"""A profile as a table: a line for each type of operator, and what the columns are.

It must never know how time was taken. Guarantee: shares add up to one, of processor time within runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

from paddle._engine.profile import Line

Key = Callable[[Line], float]

ORDERS = MappingProxyType[str, Key](
    {
        "total": lambda line: -line.cpu_ns,
        "calls": lambda line: -line.calls,
        "max": lambda line: -line.most_ns,
        "min": lambda line: line.least_ns,
        "ave": lambda line: -line.each_ns,
    }
)
"""The orders that fluid's profiler names: the largest first, but for ``min``."""

_HEADS = ("", "calls", "CPU ms", "share", "wall ms", "us a call", "least", "most", "MB", "GB/s")


def table(lines: Iterable[Line], runs: int, order: str = "total", passed: int = 0) -> str:
    """The lines as text. The share is of the processor time within runs. ``passed``: runs not looked at."""
    counted = sorted(lines, key=ORDERS[order])
    within = sum(line.cpu_ns for line in counted if not line.is_named)
    rows = [_HEADS, *(_cells(line, within) for line in counted)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    body = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
    each_ms = within / max(runs, 1) / 1e6
    of = f"{runs} of {runs + passed} runs" if passed else f"{runs} runs"
    return "\n".join([f"{of}, {each_ms:.3f} ms of the processor each", *body])


def _cells(line: Line, within: int) -> tuple[str, ...]:
    share = f"{line.cpu_ns / within:.1%}" if within and not line.is_named else ""
    moved = [f"{line.nbytes / 1e6:.1f}", f"{line.nbytes / line.wall_ns:.1f}"] if line.nbytes else ["", ""]
    times = (line.each_ns / 1e3, line.least_ns / 1e3, line.most_ns / 1e3)
    return (
        line.name,
        f"{line.calls}",
        f"{line.cpu_ns / 1e6:.2f}",
        share,
        f"{line.wall_ns / 1e6:.2f}",
        *(f"{each:.1f}" for each in times),
        *moved,
    )
