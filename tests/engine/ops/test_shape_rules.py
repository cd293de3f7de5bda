"""Shape rules: what one lets through its kernel computes, and what does not fit is refused in our words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from paddle._engine import pointers, registry
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops.floats import FLOATS
from paddle._engine.program import Form
from paddle._engine.single import Single

from ..passes.case import Case
from ..test_operators import DIFFERENTIABLE, OTHERS

CHECKED_ELSEWHERE = {"Offsets", "LabelOffsets", "YOffsets", "Outer", "Starts", "Ends", "Rows", "Places"}
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


Changes = Mapping[str, Callable[[np.ndarray], np.ndarray]]
RANKS: Changes = {
    "an axis more": lambda array: array[None],
    "an axis more behind": lambda array: array[..., None],
    "an axis less": lambda array: array[0],
    "an axis less behind": lambda array: array[..., 0],
    "one axis": lambda array: array.reshape(-1),
    "float64": lambda array: array.astype(np.float64),
}
DTYPES: Changes = {
    "int64": lambda array: array.astype(np.int64),
    "float32": lambda array: array.astype(np.float32),
}
OFFSETS: Changes = {
    "float32": lambda array: array.astype(np.float32),
    "two axes": lambda array: array[:, None],
    "no element": lambda array: array[:0],
}


def altered(case: Case) -> Iterator[tuple[str, Slots]]:
    """The inputs of a case, of which one has another rank or dtype; offsets that are none are among them."""
    yield from changed(case, {**RANKS, **DTYPES})
    given = case.slots(np.float32)
    for slot in given.keys() & CHECKED_ELSEWHERE:
        for what, change in OFFSETS.items():
            yield f"{slot} with {what}", given | {slot: [change(array) for array in given[slot]]}


def changed(case: Case, ways: Changes) -> Iterator[tuple[str, Slots]]:
    given = case.slots(np.float32)
    each = ((slot, i) for slot in given.keys() - CHECKED_ELSEWHERE for i in range(len(given[slot])))
    for (slot, i), (what, change) in product(each, ways.items()):
        array = given[slot][i]
        if (array.ndim and array.size) or what in DTYPES:
            arrays = [*given[slot][:i], np.array(change(array)), *given[slot][i + 1 :]]
            yield f"{slot}[{i}] with {what}", given | {slot: arrays}


def run(type: str, slots: Slots, attrs: dict[str, Any]) -> None:
    """As an executor does: what points somewhere is looked at before."""
    single = Single(type, slots, attrs)
    values = single._values()
    forms = {name: Form(value.shape, value.dtype.name) for name, value in values.items()}
    for _, _, check in pointers.checks(single._operator(), values, forms):
        check()
    single.forward()


def refused_or_computed(
    type: str, inputs: Callable[[Case], Iterable[tuple[str, Slots]]], compute: Callable[..., object]
) -> None:
    """Whichever inputs are made of a case, they are computed with, or refused in our words."""
    for case in (case for case in DIFFERENTIABLE + OTHERS if case.type == type):
        for what, slots in inputs(case):
            try:
                compute(type, slots, case.attrs)
            except (ShapeError, FeedError):
                pass
            except Exception as error:
                pytest.fail(f"{case}, {what}: {error!r} and no ShapeError")


@pytest.mark.parametrize("type", sorted({case.type for case in DIFFERENTIABLE + OTHERS}))
def test_what_a_shape_rule_lets_through_is_computed(type: str) -> None:
    refused_or_computed(type, with_one_more, lambda *of: Single(*of).forward())


@pytest.mark.parametrize("type", sorted({case.type for case in DIFFERENTIABLE + OTHERS}))
@pytest.mark.unusual  # one input in float64 and another in float32
def test_what_has_another_rank_is_refused_or_computed(type: str) -> None:
    refused_or_computed(type, lambda case: changed(case, RANKS), run)


def forms_of(slots: Slots, attrs: dict[str, Any]) -> registry.Forms:
    forms = {slot: tuple(Form(a.shape, a.dtype.name) for a in arrays) for slot, arrays in slots.items()}
    return registry.Forms(forms, attrs)


def whole(case: Case) -> Iterator[tuple[str, Slots]]:
    """The inputs of a case, of which those in one slot that are floats, or all of them, are whole numbers."""
    given = case.slots(np.float32)
    floats = [slot for slot in given if given[slot] and given[slot][0].dtype.kind == "f"]
    for slots in [*([slot] for slot in floats), floats]:
        with np.errstate(invalid="ignore"):
            made = {slot: [array.astype(np.int64) for array in given[slot]] for slot in slots}
        yield " and ".join(slots), given | made


@pytest.mark.parametrize("type", sorted({case.type for case in DIFFERENTIABLE + OTHERS}))
@pytest.mark.unusual  # no program has whole numbers there
@np.errstate(all="ignore")
def test_whole_numbers_are_refused_or_computed_with(type: str) -> None:
    refused_or_computed(type, whole, run)


@pytest.mark.parametrize("type", FLOATS)
def test_a_slot_of_floats_is_named_with_what_it_was_given(type: str) -> None:
    refused = 0
    for case in (case for case in DIFFERENTIABLE + OTHERS if case.type == type):
        given = case.slots(np.float32)
        row = registry.row(type)
        attrs = row.attributes(case.attrs)
        for slot in filter(given.get, row.floats(forms_of(given, attrs))):
            wholes = forms_of(given | {slot: [each.astype(np.int64) for each in given[slot]]}, attrs)
            with pytest.raises(TypeError, match=f"{slot} is of float32 or float64, and not of int64"):
                row.check_kinds(wholes)
            refused += 1
    assert refused


@pytest.mark.parametrize(
    ("empty", "shape", "expected"),
    [
        ((0, 4), (0, -1), (0, 4)),
        ((0, 3, 4), (0, 2, -1), (0, 2, 6)),
        ((3, 0), (0, -1), (3, 0)),
        ((0, 4), (-1, 0), (0, 4)),
        ((0, 4), (0,), (0,)),
        ((0, 4), (2, 0, 3), (2, 0, 3)),
        ((0, 4), (-1, 4), (0, 4)),
    ],
)
def test_a_batch_of_nothing_is_reshaped_as_any_other(
    empty: tuple[int, ...], shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    given = {"X": [np.ones(empty, np.float32)]}
    assert Single("reshape", given, {"shape": shape}).forward()["Out"].shape == expected
