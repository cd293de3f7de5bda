"""The state of a table whose rows are made when asked for: it goes on anywhere, and refuses what is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.rows import TableRows
from paddle._engine.rules import RULES
from paddle._pserver.tables.gradient import Rows

from ..hashed import (
    IDS,
    RATE,
    as_saved,
    assert_equal,
    int64,
    normal,
    state_of,
    table,
    update,
)


def test_a_row_that_is_given_values_has_made_up_for_the_steps_before_it():
    made, ids = table(how=update("sgd", l2_rate=0.1)), int64([3, 5])
    made.gather(ids)
    for step in range(1, 6):
        made.apply([Rows(ids[1:], normal(step, 1))], None, RATE, step)
    given_values = normal(9, 2)
    made.take(TableRows(ids, given_values))
    np.testing.assert_array_equal(made.peek(ids), given_values)
    made.apply([Rows(ids[1:], normal(6, 1))], None, RATE, 6)
    np.testing.assert_allclose(made.peek(ids[:1]), given_values[:1] * (1 - 0.1 * RATE), rtol=1e-6)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=10, deadline=None)
@given(batches=st.lists(IDS, min_size=1, max_size=5), more=IDS, shards=st.integers(1, 3))
def test_it_goes_on_on_another_number_of_shards_as_if_it_had_not_moved(name, batches, more, shards):
    entry = Entry("count", 2)
    how = update(name, l2_rate=0.1)
    old = table(entry, how=how)
    new = [table(entry, how=how, shard=shard, shards=shards) for shard in range(shards)]
    for step, ids in enumerate(batches, 1):
        old.gather(int64(ids))
        old.apply([Rows(int64(ids), normal(step, len(ids)))], None, RATE, step)
    state = old.state()
    for one in new:
        mine, waiting = (one.held.pick(state[kind]) for kind in ("ids", "candidates"))
        entered = state["entered"][one.held.pick(state["entered"])]
        part = {
            kind: array[waiting] if kind in ("candidates", "seen", "seen_on") else array[mine]
            for kind, array in state.items()
            if kind not in ("rates", "days", "entered")
        }
        alike = {"rates": state["rates"], "days": state["days"], "entered": entered}
        one.restore(as_saved(part | alike), len(batches))
    for one in (old, *new):
        here = one.held.pick(int64(more))
        one.gather(int64(more)[here])
        gradient = normal(99, len(more))[here]
        one.apply([Rows(int64(more)[here], gradient)], None, RATE, len(batches) + 1)
    assert_equal(state_of(*new), state_of(old))


WRONG_STATES = {
    "is missing": lambda state: state.pop("last_step/t"),
    "of another kind": lambda state: state.update({"values/t": state["values/t"].astype(np.float64)}),
    "not one of all": lambda state: state.update({"ids/t": state["ids/t"][1:]}),
    "some more than once": lambda state: state.update({"ids/t": state["ids/t"] * 0}),
    "some of another shard": lambda state: state.update({"ids/t": state["ids/t"] + 1}),
}


@pytest.mark.parametrize("said", WRONG_STATES)
def test_a_state_that_does_not_fit_is_refused_by_name(said):
    part = table(shards=2)
    part.gather(int64([2, 4]))
    state = as_saved(part.state())
    WRONG_STATES[said](state)
    with pytest.raises(ValueError, match=said):
        table(shards=2).restore(state, 0)
