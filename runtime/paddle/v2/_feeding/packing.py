"""Packing: a slot of sequences becomes the rows of all of them and the offsets at which they begin.

It must never know how an element becomes a row (that is ``slots``). Guarantee: offsets divide the rows, and
what does not fit is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from paddle._engine.errors import FeedError
from paddle.v2._feeding import slots
from paddle.v2._feeding.flat import has_text, joined
from paddle.v2._feeding.slots import Column, shown
from paddle.v2._lowering.output import OFFSETS, OUTER
from paddle.v2.data_type import InputType, SequenceType


def arrays(name: str, type: InputType, column: Column) -> Mapping[str, np.ndarray]:
    """All that a slot is fed: see slots, and where it is of sequences int64 (n + 1,) offsets."""
    if type.seq_type == SequenceType.NO_SEQUENCE:
        return slots.arrays(name, type, column)
    element = replace(type, seq_type=SequenceType.NO_SEQUENCE)
    outer, flat = _flattened(name, type, column)
    if type.seq_type == SequenceType.SEQUENCE:
        return {**_rows(name, element, flat), name + OFFSETS: outer}
    inner, rows = _flattened(name, type, flat)
    return {**_rows(name, element, rows), name + OUTER: outer, name + OFFSETS: inner}


def _flattened(name: str, type: InputType, column: Column) -> tuple[np.ndarray, Column]:
    """Offsets of the sequences in a column, and the elements of all of them."""
    try:
        counts = np.fromiter(map(len, column), np.int64, len(column))
        flat = joined(column)
        if isinstance(column, Sequence) and has_text(column):
            raise TypeError
    except TypeError:
        number, wrong = next(
            (i, each)
            for i, each in enumerate(column)
            if isinstance(each, str) or not isinstance(each, Iterable)
        )
        raise FeedError(
            f"row {number} of the batch, slot {name!r} ({type}): {shown(wrong)} does not fit: a sequence is "
            "needed, a list of elements"
        ) from None
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets, flat


def _rows(name: str, element: InputType, flat: Column) -> Mapping[str, np.ndarray]:
    if not len(flat):
        raise FeedError(f"slot {name!r} ({element}): all sequences of the batch are empty")
    try:
        return slots.arrays(name, element, flat)
    except FeedError as error:
        raise FeedError(f"in the sequences of a batch, elements counted through: {error}") from None
