"""Portion: how much of an open table one answer brings (messages.Export). It must never know a table."""

from __future__ import annotations

_EXPORT_BYTES = 16 << 20


def rows_at_once(width: int) -> int:
    """How many rows of ``width`` numbers one Export may ask for."""
    return max(1, min(1 << 20, _EXPORT_BYTES // (8 + 4 * width)))
