"""What says which rows there are, ahead of a run or in it: repeated, padded, cut and chosen sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.errors import FeedError
from paddle._engine.single import Single

from .ahead_operators import AHEAD, AHEAD_WRONG, DURING, OFFSETS, Listed

Given = dict[str, Any]


def found(type: str, inputs: Given, attrs: Given) -> dict[str, np.ndarray]:
    row = registry.row(type)
    assert row.ahead is not None
    listed = {slot: each if isinstance(each, list) else [each] for slot, each in inputs.items()}
    return dict(row.ahead(listed, row.attributes(attrs)))


@pytest.mark.parametrize(("type", "inputs", "attrs", "expected"), AHEAD)
def test_what_is_known_ahead_is_what_lists_say(
    type: str, inputs: Given, attrs: Given, expected: Listed
) -> None:
    assert {slot: array.tolist() for slot, array in found(type, inputs, attrs).items()} == expected


@pytest.mark.parametrize(("type", "inputs", "attrs", "message"), AHEAD_WRONG)
def test_what_no_sequence_has_is_refused(type: str, inputs: Given, attrs: Given, message: str) -> None:
    with pytest.raises(FeedError, match=message):
        found(type, inputs, attrs)


@pytest.mark.parametrize(("type", "inputs", "attrs", "expected"), DURING)
def test_what_a_run_finds_is_what_lists_say(type: str, inputs: Given, attrs: Given, expected: Listed) -> None:
    made = Single(type, {slot: [each] for slot, each in inputs.items()}, attrs).forward()
    assert {slot: array.tolist() for slot, array in made.items()} == expected


def test_rows_that_are_no_whole_ones_of_another_width_are_refused() -> None:
    with pytest.raises(FeedError, match="rows of 3 cannot become rows of 2 in each sequence"):
        Single("sequence_resize", {"Offsets": [OFFSETS]}, {"width": 3, "into": 2}).forward()
