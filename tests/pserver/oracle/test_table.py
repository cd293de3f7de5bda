"""Every mode with every rule, dense, in tables of a height and in open ones: all that trainers see is what a
reference foresees, event by event."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddle._engine import rules
from paddle._engine.exchange import ModeName, ModeSpec, ParameterSpec, RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.schedules import SCHEDULES as COURSES
from tests.examples import one_fixture_for_all

from ..conftest import Start
from .foreseen import foreseen
from .job import TRAINERS, Event, Job
from .seeing import Sight, trained
from .table import DENSE, MODES, OPENED, PACKED, RULES, SCHEDULES

FIRST: list[Event] = [
    *[(0, "step"), (1, "step"), (0, "step"), (1, "step"), (1, "step"), (0, "fetch")],
    *[(0, "step"), (1, "step"), (1, "step")],
]
SECOND: list[Event] = [(1, "step"), (0, "step"), (0, "step"), (1, "fetch"), (0, "step"), (0, "step")]
PASSES = st.tuples(st.permutations(FIRST), st.permutations(SECOND))
SOUGHT = 1 if "CI" in os.environ else 3
"""New orders of events in each cell: there, none but the one that the cell has."""


def assert_close(found: list[Sight], expected: list[Sight], who: int) -> None:
    assert len(found) == len(expected)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.keys() <= other.keys()
        for name, array in one.items():
            about = f"{name} in sight {number} of trainer {who}"
            np.testing.assert_allclose(array, other[name], rtol=1e-3, atol=1e-4, err_msg=about)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", MODES)
@example(passes=(FIRST, SECOND), is_averaged=True)
@given(passes=PASSES, is_averaged=st.booleans())
@settings(one_fixture_for_all, max_examples=SOUGHT)
def test_trainers_see_what_their_mode_and_their_rule_promise(
    start_pservers: Start, mode: str, rule: str, passes: tuple[list[Event], list[Event]], is_averaged: bool
) -> None:
    place = turn(mode, rule)
    job = Job(MODES[mode], RULES[rule], place, is_averaged=is_averaged)
    events = [given[place % len(given) :] + given[: place % len(given)] for given in passes]
    pservers = start_pservers(ports_num_for_sparse=1, num_gradient_servers=TRAINERS)
    both = zip(trained(pservers, job, events), foreseen(job, events), strict=True)
    for who, (found, expected) in enumerate(both):
        assert_close(found, expected, who)


def turn(mode: str, rule: str) -> int:
    """A number that is another one in each cell of a row and of a column."""
    return list(MODES).index(mode) + list(RULES).index(rule)


# The table is whole.


def test_no_mode_is_missing_and_none_of_its_numbers() -> None:
    modes = [cell.mode for cell in MODES.values()]
    assert {mode.name for mode in modes} == set(get_args(ModeName))
    assert {mode.name for mode in modes if mode.is_async} == {"average", "elastic_average"}
    assert {mode.name for mode in modes if mode.is_in_step} == {"sync", "average", "elastic_average"}
    assert {cell.reduce for cell in MODES.values() if cell.mode.name == "sync"} == {"sum", "mean"}
    for number in fields(ModeSpec):
        if number.name != "name":
            assert len({getattr(mode, number.name) for mode in modes}) > 1, number.name


def test_no_rule_is_missing_and_no_way_in_which_one_treats_idle_rows() -> None:
    def moves(name: str, options: dict[str, float]) -> bool:
        return rules.rule(RuleSpec(name=name, options=options)).changes_idle_rows(Penalties())

    assert {how.name for how in RULES.values()} == set(rules.RULES)
    ways = {(how.name, moves(how.name, how.told)) for how in RULES.values()}
    for name, made in rules.RULES.items():
        usual = {option.name: option.default for option in fields(made)}
        usual |= {"momentum": 0.5} if "momentum" in usual else {}
        for option, value in usual.items():
            assert (name, moves(name, usual | {option: float(not value)})) in ways, (name, option)


def test_no_number_of_a_parameter_is_missing_and_no_unit_of_a_schedule() -> None:
    for number in fields(ParameterSpec):
        given = {repr(getattr(p, number.name)) for p in (*DENSE, *PACKED, *OPENED)}
        assert len(given) > 1, number.name
    units = {kind.unit for kind in COURSES.values()}
    assert {COURSES[schedule.name].unit for schedule, _ in SCHEDULES} == units


def test_every_mode_and_every_rule_has_its_turn_with_all_features() -> None:
    for mode in MODES:
        assert {turn(mode, rule) % 9 for rule in RULES} == set(range(9))
    for rule in RULES:
        assert {turn(mode, rule) % 9 for mode in MODES} == set(range(9))
