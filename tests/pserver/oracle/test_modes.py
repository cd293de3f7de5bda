"""Every mode with every rule, dense, in tables of a height and in open ones, whatever trainers, connections
and shards do: all that trainers see, and who waits, is what a reference foresees, event by event."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
from inspect import getsource
from typing import get_args

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from paddle._engine import rules
from paddle._engine.exchange import ModeName, ModeSpec, ParameterSpec, RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.schedules import SCHEDULES as COURSES

from .course import Course
from .references import Sync
from .table import DENSE, MODES, OPENED, PACKED, RULES, SCHEDULES

LEAST = 8
"""Steps that are applied in each cell."""
FEW = settings(max_examples=4, stateful_step_count=15)
MANY = settings(max_examples=30, stateful_step_count=40)


@pytest.mark.parametrize("course", [FEW, pytest.param(MANY, marks=pytest.mark.thorough)], ids=["few", "many"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", MODES)
def test_trainers_see_what_their_mode_and_their_rule_promise(mode: str, rule: str, course: settings) -> None:
    machine = partial(Course, mode, rule, applied := list[int]())
    if "CI" in os.environ:
        seed(f"{mode}, {rule}")(machine)  # else all would have the same ones there
    run_state_machine_as_test(machine, settings=course)
    assert sum(applied) >= LEAST


# The table is whole.


def test_a_mode_is_a_page() -> None:
    for cell in MODES.values():
        assert len(getsource(cell.reference).splitlines()) <= 50, cell.reference


def test_no_mode_is_missing_and_none_of_its_numbers() -> None:
    modes = [mode for cell in MODES.values() for mode in cell.modes]
    assert {mode.name for mode in modes} == set(get_args(ModeName))
    assert {mode.name for mode in modes if mode.is_async} == {"average", "elastic_average"}
    assert {mode.name for mode in modes if mode.is_in_step} == {"sync", "average", "elastic_average"}
    assert {cell.reduce for cell in MODES.values() if cell.reference is Sync} == {"sum", "mean"}
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
