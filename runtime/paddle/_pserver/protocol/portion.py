"""Portion: how much of a table one answer brings (Export, PullChanges). It must never know a table."""

from __future__ import annotations

PORTION_BYTES = 16 << 20


def rows_at_once(width: int) -> int:
    """How many rows of ``width`` numbers one Export may ask for."""
    return max(1, min(1 << 20, PORTION_BYTES // row_bytes(width)))


def row_bytes(width: int) -> int:
    """What one takes in an answer, its id included."""
    return 8 + 4 * width
