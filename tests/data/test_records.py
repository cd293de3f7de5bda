"""Columns of slots: what is cut out of them is as if it had been read alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._data.records import BadRecord, Column, Records
from paddle._data.slot import Slot

LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=12)


def of_lengths(lengths: list[int]) -> Column:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Column(np.arange(offsets[-1]) + 100, offsets)


def samples(column: Column) -> list[list[int]]:
    assert column.offsets[0] == 0 and column.offsets[-1] == len(column.values)
    return [column.values[a:b].tolist() for a, b in zip(column.offsets, column.offsets[1:], strict=False)]


@given(lengths=LENGTHS, data=st.data())
def test_a_part_of_a_part_has_its_samples_whole(lengths, data) -> None:
    whole = of_lengths(lengths)
    column, expected = whole, samples(whole)
    for _ in range(3):
        begin = data.draw(st.integers(0, len(column)))
        end = data.draw(st.integers(begin, len(column)))
        column, expected = column.cut(begin, end), expected[begin:end]
        assert len(column) == len(expected) and samples(column) == expected
        assert np.shares_memory(column.values, whole.values) or not len(column)
    assert samples(column.take(np.arange(len(column))[::-1])) == expected[::-1]
    assert samples(pickle.loads(pickle.dumps(column))) == expected


def test_a_dense_part_has_its_rows_or_says_how_many_values_there_are() -> None:
    slot = Slot("x", False, True, (2,))
    records = Records((slot,), (of_lengths([2, 2, 2, 2, 3]),))
    part = records.cut(1, 4)
    assert len(part) == 3
    assert part.columns[0].dense(slot).tolist() == [[102, 103], [104, 105], [106, 107]]
    with pytest.raises(BadRecord, match="have 2, 3 values"):
        records.cut(3, 5).columns[0].dense(slot)
