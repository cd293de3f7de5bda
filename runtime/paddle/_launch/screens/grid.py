"""A grid: the rows of a board as lines of text.

It must never know where they are shown. Guarantee: no line is wider than there is room. Where that is little,
columns are left out, the first of ``_SPARED`` first; what the job is judged by, state and cost, stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from paddle._launch.board import Row

HEADINGS = ("node", "address", "role", "rank", "state", "pass", "batch", "cost", "samples/s", "restarts")
_SPARED = ("address", "node", "samples/s", "restarts", "pass", "batch")
_TEXTS = ("address", "role", "state")  # the others are numbers
_BETWEEN = "  "
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class GridLine:
    """A line of a grid. ``row``: whose it is; None of a heading, or of what is said of rows left out."""

    text: str
    row: Row | None = None


def grid(rows: Sequence[Row], *, width: int | None = None, most: int | None = None) -> list[GridLine]:
    """Lay rows out, below headings, in lines of at most ``width`` letters, and ``most`` rows."""
    shown, left_out = (list(rows), []) if most is None else shortened(rows, max(most, _FEWEST))
    columns = _columns([cells(row) for row in shown], width)
    lines = [_BETWEEN.join(texts).rstrip()[:width] for texts in zip(*columns, strict=True)]
    made = [GridLine(lines[0]), *(GridLine(text, row) for text, row in zip(lines[1:], shown, strict=True))]
    return [*made, GridLine(_summary(left_out)[:width])] if left_out else made


def cells(row: Row) -> tuple[str, ...]:
    """Give a row as texts, below ``HEADINGS``."""
    moving = (row.pass_id, row.batch_id)
    cost = "" if row.cost is None else f"{row.cost:.4f}"
    rate = "" if row.samples_per_s is None or not isfinite(row.samples_per_s) else f"{row.samples_per_s:,.0f}"
    return (
        str(row.node),
        row.address,
        row.kind,
        str(row.rank),
        state(row),
        *("" if number is None else str(number) for number in moving),
        cost,
        rate,
        str(row.restarts or ""),
    )


def state(row: Row) -> str:
    """Give the state of a role in words."""
    if row.exit_status is None or row.state != "failed":
        return row.state
    if row.exit_status < 0:
        return f"killed by signal {-row.exit_status}"
    return f"failed: status {row.exit_status}"


def shortened(rows: Sequence[Row], most: int) -> tuple[list[Row], list[Row]]:
    """Give at most so many rows, and those left out: first those that nothing is to be seen of."""
    if len(rows) <= most:
        return list(rows), []
    by_interest = sorted(rows, key=lambda row: (row.is_ordinary, row.kind != "trainer"))
    kept = {row.role for row in by_interest[: max(most - 1, 1)]}
    return [row for row in rows if row.role in kept], [row for row in rows if row.role not in kept]


def _columns(table: list[tuple[str, ...]], width: int | None) -> list[list[str]]:
    """Give the columns that there is room for, each as wide as its widest."""
    texts = dict(zip(HEADINGS, zip(HEADINGS, *table, strict=True), strict=True))
    for spared in ("restarts" if not any(texts["restarts"][1:]) else "", *_SPARED):
        if width is None or _width(texts) <= width:
            break
        texts.pop(spared, None)
    return [_aligned(name, column) for name, column in texts.items()]


def _width(columns: dict[str, tuple[str, ...]]) -> int:
    return sum(max(map(len, column)) for column in columns.values()) + len(_BETWEEN) * (len(columns) - 1)


def _aligned(name: str, column: tuple[str, ...]) -> list[str]:
    width = max(map(len, column))
    return [text.ljust(width) if name in _TEXTS else text.rjust(width) for text in column]


def _summary(left_out: Sequence[Row]) -> str:
    states = Counter(state(row) for row in left_out)
    return f"and {len(left_out)} more: " + ", ".join(f"{what} {number}" for what, number in states.items())
