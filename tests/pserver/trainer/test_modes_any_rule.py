"""Any rule in modes in which trainers update by themselves: the simulation of their meetings, in which each
applies its rule as one process does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec, RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import rule as rule_of
from paddle._pserver.trainer.local import LocalExchange
from tests.examples import one_fixture_for_all

from ..conftest import Start
from ..test_equality import RULE_SPECS
from .test_modes_local import (
    EVENTS,
    IN_STEP,
    MODEL,
    NOT_IN_STEP,
    PASSES,
    VALUES,
    Event,
    Simulation,
    Step,
    compare,
    compare_passes,
    gradient,
    joined,
    look_at,
    update,
)

LAZY = [name for name, spec in RULE_SPECS.items() if not rule_of(spec).changes_idle_rows(Penalties())]
RULES = st.sampled_from(sorted(LAZY))
"""With these, rows that a batch does not touch stay as they are."""


class OfAnyRule(Simulation):
    """Each trainer's rule has a process of its own, whose parameters are the trainer's."""

    def __init__(self, mode: ModeSpec, trainers: int, rule: RuleSpec) -> None:
        super().__init__(mode, trainers, "sgd")
        self.alone = [LocalExchange() for _ in range(trainers)]
        self.own = [dict(each.start(MODEL, update(ModeSpec(), rule), VALUES)) for each in self.alone]

    def step(self, id: int, step: Step) -> bool:
        """See Simulation."""
        look_at(self.alone[id], step)
        self.alone[id].step(gradient(step), samples=1)
        self.touched[id] |= set(step[1])
        self.steps[id] += 1
        return self.steps[id] == self.mode.k_steps


@given(
    mode=NOT_IN_STEP,
    rule=RULES,
    events=st.lists(st.tuples(st.integers(0, 1), EVENTS), max_size=10),
)
@settings(one_fixture_for_all, max_examples=40)
def test_trainers_that_wait_for_nobody_equal_the_simulation_of_every_event(
    start_pservers: Start, mode: ModeSpec, rule: str, events: list[Event]
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2, num_gradient_servers=2)
    how = RULE_SPECS[rule]
    compare(joined(pservers, mode, how), OfAnyRule(mode, 2, how), events)


@given(mode=IN_STEP, rule=RULES, passes=PASSES)
@settings(one_fixture_for_all, max_examples=30)
def test_trainers_that_wait_for_each_other_equal_the_simulation_of_their_meetings(
    start_pservers: Start, mode: ModeSpec, rule: str, passes: list[list[list[Step]]]
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2, num_gradient_servers=3)
    how = RULE_SPECS[rule]
    compare_passes(pservers, OfAnyRule(mode, 3, how), how, passes)
