"""Two declarations that differ are told apart by the settings that do, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddle._engine.exchange import (
    AverageSpec,
    ModeSpec,
    ParameterSpec,
    RowsSpec,
    RuleSpec,
    ScheduleSpec,
    UpdateSpec,
)
from paddle._engine.rows import OPEN
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard.difference import difference

W = ParameterSpec(name="w", shape=(4, 2))
T = ParameterSpec(name="t", shape=(OPEN, 2), sparse=True, rows=RowsSpec())
UPDATE = UpdateSpec(
    rule=RuleSpec(name="momentum", options={"momentum": 0.9}), schedule=ScheduleSpec(learning_rate=0.1)
)
MINE = Declare((W, T), UPDATE, 0, 2)


def of_update(update: UpdateSpec) -> Declare:
    return Declare((W, T), update, 0, 2)


@pytest.mark.parametrize(
    ("theirs", "told"),
    [
        (
            of_update(replace(UPDATE, schedule=ScheduleSpec(learning_rate=0.2))),
            "optimizer settings: schedule.learning_rate 0.1 and 0.2",
        ),
        (
            of_update(replace(UPDATE, l2_rate=0.5, rule=RuleSpec(name="sgd"))),
            "optimizer settings: rule.name 'momentum' and 'sgd', rule.options.momentum 0.9 and None, "
            "l2_rate 0.0 and 0.5",
        ),
        (
            of_update(replace(UPDATE, mode=ModeSpec(name="async"))),
            "optimizer settings: mode.name 'sync' and 'async'",
        ),
        (Declare((W,), UPDATE, 0, 2), "2 and 1 parameters"),
        (Declare((T, W), UPDATE, 0, 2), "parameter 'w' and parameter 't' in its place"),
        (Declare((replace(W, shape=(4, 3)), T), UPDATE, 0, 2), "parameter 'w': shape (4, 2) and (4, 3)"),
        (
            Declare((W, replace(T, rows=RowsSpec(seed=1))), UPDATE, 0, 2),
            "parameter 't': rows.seed 0 and 1",
        ),
        (Declare((W, T), UPDATE, 1, 2), "shard 0 of 2 and shard 1 of 2: their lists"),
    ],
)
def test_what_differs_is_named_with_both_values(theirs: Declare, told: str) -> None:
    found = difference(MINE, theirs)
    assert found.startswith(told)
    assert "shard" in told or found == told


def test_what_only_one_has_is_shown_whole() -> None:
    average = AverageSpec(window=0.5, min_window=1, max_window=9)
    found = difference(MINE, of_update(replace(UPDATE, average=average)))
    assert found == f"optimizer settings: average None and {average}"


def test_other_numbers_on_the_wire_are_named_by_their_flags() -> None:
    theirs = Declare((W, T), UPDATE, 0, 2, WireSpec(name="bfloat16"))
    assert difference(MINE, theirs).startswith("--wire, --wire_topk and --wire_answers: ")
