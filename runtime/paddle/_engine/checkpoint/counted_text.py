"""Columns of sparse text for rows that are counted: the row as a program has it, its counts, and what its
rule remembers of them.

It must never know a rule. Guarantee: what is written is all that there is of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.checkpoint import sparse_text

COUNTS = "Counts"


def column_of(slot: str) -> str:
    """The name of the column that has a slot."""
    return slot.capitalize()


def widths(width: int, counts: int, slots: Sequence[str]) -> dict[str, int]:
    """The columns of rows of ``width`` numbers without their ``counts``."""
    return {
        sparse_text.ROW: width,
        COUNTS: counts,
        **{column_of(slot): counts + width for slot in slots},
    }


def joined(
    values: np.ndarray, kept: Mapping[str, np.ndarray], counts: int, slots: Sequence[str]
) -> np.ndarray:
    """All columns of rows ``values`` float32 (k, counts and more), of which ``kept`` has slots, (k, as many);
    where it has not, they are zeros."""
    none = np.zeros_like(values)
    columns = [values[:, counts:], values[:, :counts], *(kept.get(slot, none) for slot in slots)]
    return np.concatenate(columns, axis=1)
