"""A few seconds of random faults in every mode but that of the minute, with every wire and every way to the
pservers. What fails tells its seed, which gives the same faults again: see CONTRIBUTING.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.random_faults.scenario import MODES, WIRES, scenario
from tests.faults.random_faults.schedule import BETWEEN_PASSES, OUT_OF_STEP, schedule
from tests.faults.random_faults.turns import SHORT, TURNS, Turn

pytestmark = [pytest.mark.faults, pytest.mark.patient]

SHARDS = 4
TRAINS = 0.8  # of a turn, surely


@pytest.fixture(scope="module")
def done() -> dict[str, Counter[str]]:
    """What came to pass in each turn."""
    return {}


@pytest.mark.parametrize("turn", SHORT, ids=[turn.what for turn in SHORT])
def test_a_few_seconds_of_random_faults_break_no_promise(
    tmp_path: Path, turn: Turn, done: dict[str, Counter[str]]
) -> None:
    done[turn.mode] = turn.run(tmp_path).done


def test_in_these_turns_faults_of_most_kinds_came_to_pass(done: dict[str, Counter[str]]) -> None:
    """Not of all: what is to happen to a snapshot or to a byte does not where none is written in time."""
    if len(done) < len(SHORT):
        pytest.skip("not all of them were run, or one of them failed")
    total = sum(done.values(), Counter[str]())
    missing = [kind for kind in OUT_OF_STEP if not total[kind]]
    assert len(missing) <= 3, f"never came to pass: {missing}"
    assert total["kill shard"] >= len(SHORT) / 2


def test_all_turns_have_every_mode_wire_and_way_and_every_kind_of_fault() -> None:
    drawn = [scenario(turn.seed, turn.mode) for turn in TURNS]
    assert [str(one) for one in drawn] == [turn.what for turn in TURNS]
    assert [turn.mode for turn in TURNS] == list(MODES)
    assert all(wire in [one.wire for one in drawn] for wire in WIRES.values())
    for what in ("has_near", "is_locked", "has_open", "in_pieces", "ends_broken", "has_no_copies"):
        assert {(one.in_step, getattr(one, what)) for one in drawn} == {
            (a, b) for a in (0, 1) for b in (0, 1)
        }
    assert sum(one.has_passes for one in drawn) >= 3
    assert {one.takes_turns for one in drawn if one.in_step} == {False, True}
    plans = [
        schedule(turn.seed, turn.seconds, kinds=one.faults, shards=SHARDS)
        for turn, one in zip(TURNS, drawn, strict=True)
    ]
    kinds = [
        {fault.kind for fault in plan if fault.at_s < TRAINS * turn.seconds}
        for turn, plan in zip(TURNS, plans, strict=True)
    ]
    assert all("kill shard" in those for those in kinds)
    assert kinds[0] == {*BETWEEN_PASSES}
    assert set.union(*kinds[1:]) == {*OUT_OF_STEP}


def test_a_seed_gives_the_same_faults_again() -> None:
    one, again = (schedule(5, 60.0, kinds=OUT_OF_STEP, shards=SHARDS) for _ in range(2))
    assert one == again != schedule(6, 60.0, kinds=OUT_OF_STEP, shards=SHARDS)
    assert {fault.kind for fault in one} >= {"kill shard", "flip bit", "replace paused trainer"}
