"""Shape rules: what one lets through its kernel computes, and what does not fit is refused in our words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.single import Single

from ..passes.case import Case
from ..test_operators import DIFFERENTIABLE, OTHERS

CHECKED_ELSEWHERE = {"Offsets", "LabelOffsets", "YOffsets", "Outer", "Starts", "Rows", "Places"}
"""The executor looks at offsets before a run; rows and places are counted from them."""
Slots = dict[str, list[np.ndarray]]


def with_one_more(case: Case) -> Iterator[tuple[str, Slots]]:
    """The inputs of a case, of which one has a row, a column or a plane more: the last one once again."""
    of_runs = {runs.of for runs in registry.row(case.type).runs}
    for slot, i, axis in places(case.slots(np.float32)):
        if axis or slot not in of_runs:
            given = case.slots(np.float32)
            array = given[slot][i]
            given[slot] = list(given[slot])
            given[slot][i] = np.concatenate([array, array.take([-1], axis)], axis)
            yield f"{slot}[{i}] with one more on axis {axis}", given


def places(slots: Slots) -> Iterator[tuple[str, int, int]]:
    """Every axis of every array."""
    for slot in slots.keys() - CHECKED_ELSEWHERE:
        for i, array in enumerate(slots[slot]):
            yield from ((slot, i, axis) for axis in range(array.ndim))


@pytest.mark.parametrize("type", sorted({case.type for case in DIFFERENTIABLE + OTHERS}))
def test_what_a_shape_rule_lets_through_is_computed(type: str) -> None:
    for case in (case for case in DIFFERENTIABLE + OTHERS if case.type == type):
        for what, slots in with_one_more(case):
            try:
                Single(type, slots, case.attrs).forward()
            except (ShapeError, FeedError):
                pass
            except Exception as error:
                pytest.fail(f"{case}, {what}: {error!r} and no ShapeError")
