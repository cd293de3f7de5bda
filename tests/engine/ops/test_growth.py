"""How much Python an operator takes does not depend on how many sequences, rows or regions there are: their
number makes arrays longer, and calls no more. What is otherwise is listed, with a reason. The length of the
longest sequence is another matter: a recurrence takes a product for each moment.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.single import Single
from tests.counting import instructions_of

from ..passes.case import Case
from ..test_operators import DIFFERENTIABLE, OTHERS
from .ahead_operators import AHEAD, DURING

OFFSETS = {"Offsets", "LabelOffsets", "YOffsets", "Outer", "Ends", "Times", "Starts"}
OTHER_OFFSETS = {("sequence_merge", "X")}
ALWAYS_AS_LARGE = {
    *("Weight", "Bias", "Projection", "Transition", "Filter", "W", "Pad", "Padding", "Places", "Priors"),
}
"""Slots of parameters, and of what sequences share."""
OF_EACH = {
    "beam_cost": "each sample's ways are found, which are as many as its choices make",
    "detection_output": "each image's boxes put one another out, in the order of their scores",
    "lambda_rank": "each sequence has products with BLAS, and a matrix of its pairs on the way back",
    "multibox_loss": "each image has a matrix of its priors and objects, and its own hardest ones",
    "region_max": "each cell is a piece of another size",
    "scale_piece": "each image has a piece of another size",
}
"""Operators that take Python for each sample, sequence or region, and why."""
TIMES = 12


def grown(type: str, slot: str, array: np.ndarray, times: int) -> np.ndarray:
    """The same sequences, so often."""
    if slot in ALWAYS_AS_LARGE or (type == "sequence_scatter" and slot == "Like"):
        return array
    if slot in OFFSETS or (type, slot) in OTHER_OFFSETS:
        ends = [array[1:] + at * array[-1] for at in range(times)]
        return np.concatenate([array[:1], *ends])
    return np.concatenate([array] * times)


def over_sequences() -> list[Case]:
    """Cases of what has sequences or regions, in a run or ahead of it."""
    ahead = [Case(type, inputs, dict, attrs) for type, inputs, attrs, _ in AHEAD + DURING]
    seen = OFFSETS | {"Regions", "Bounds", "Priors"}
    every = [case for case in DIFFERENTIABLE + OTHERS if seen & case.inputs.keys()]
    return every + ahead


def running(case: Case, times: int) -> Callable[[], object]:
    """It, with so many times as many sequences, and back again, where there is a way."""
    row = registry.row(case.type)
    slots = {
        slot: [grown(case.type, slot, each, times) for each in arrays]
        for slot, arrays in case.slots(np.float32).items()
    }
    if row.ahead is not None:
        return lambda: row.ahead(slots, row.attributes(case.attrs))
    single = Single(case.type, slots, case.attrs)
    if row.gradient is None:
        return single.forward
    made = single.forward()
    given = {name: np.ones_like(made[name]) for name in single.given()}
    of = [slot for slot in row.gradient.of if slots.get(slot) and slots[slot][0].dtype.kind == "f"]
    return lambda: single.gradient(given, of)


def counts(case: Case) -> tuple[int, int]:
    few, many = (instructions_of(running(case, times)) for times in (2, TIMES))
    return few, many


@pytest.mark.parametrize("case", [each for each in over_sequences() if each.type not in OF_EACH], ids=str)
def test_more_sequences_take_no_more_python(case: Case) -> None:
    few, many = counts(case)
    assert few == many


@pytest.mark.parametrize("type", OF_EACH)
def test_what_takes_python_for_each_is_listed_for_a_reason(type: str) -> None:
    cases = [each for each in over_sequences() if each.type == type]
    assert any(few < many for few, many in map(counts, cases))


def test_every_operator_over_sequences_is_counted() -> None:
    of_steps = {"generate", "gru_step", "is_id", "lstm_step", "recurrent", "spread_row"}
    table = registry.table()
    with_runs = {type for type, row in table.items() if row.runs or row.ahead is not None}
    assert with_runs - of_steps <= {case.type for case in over_sequences()}


def test_more_classes_that_are_drawn_apart_take_no_more_python() -> None:
    """In one go each, some of which are there already."""
    label = np.zeros((3, 1), np.int64)
    few, many = (
        instructions_of(
            Single("sample_apart", {"Label": [label]}, {"num_classes": 10**5, "num_samples": count}).forward
        )
        for count in (50, 500)
    )
    assert few == many
