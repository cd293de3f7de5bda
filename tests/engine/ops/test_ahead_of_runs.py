"""What says ahead of a run how many rows there are: repeated, padded and unpadded sequences."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.errors import FeedError

OFFSETS, TIMES = np.array([0, 2, 2, 5]), np.array([0, 2, 3, 3])


def found(type: str, attrs: dict | None = None, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    row = registry.row(type)
    assert row.ahead is not None
    return dict(row.ahead({slot: [array] for slot, array in inputs.items()}, row.attributes(attrs or {})))


def test_a_sequence_is_repeated_as_often_as_another_has_parts() -> None:
    made = found("sequence_repeat", Offsets=OFFSETS, Times=TIMES)
    assert made["Rows"].tolist() == [0, 1, 0, 1]
    assert made["Out"].tolist() == [0, 2, 4, 4]
    with pytest.raises(FeedError, match="3 sequences are to be repeated as often as 2 others"):
        found("sequence_repeat", Offsets=OFFSETS, Times=TIMES[:3])


def test_a_row_is_repeated() -> None:
    assert found("row_repeat", Times=TIMES)["Rows"].tolist() == [0, 0, 1]


def test_lengths_become_offsets() -> None:
    made = found("sequence_ends", X=np.array([[2], [0], [1]]))
    assert made["Out"].tolist() == [0, 2, 2, 3]
    assert made["Rows"].tolist() == [0, 1, 2]
    with pytest.raises(FeedError, match="cannot have -1"):
        found("sequence_ends", X=np.array([-1]))


def test_places_are_counted_up_to_the_longest_or_as_far_as_is_said() -> None:
    lengths = np.array([2, 0, 3])
    assert found("count_up", X=lengths)["Out"].tolist() == [0, 1, 2]
    assert found("count_up", {"maxlen": 2}, X=lengths)["Out"].tolist() == [0, 1]
    with pytest.raises(FeedError, match="padded to 2 elements, and one has 3"):
        found("count_up", {"maxlen": 2, "holds_all": True}, X=lengths)
