"""Passes, as a learning rate goes by them: the shard counts those that all have ended, whoever trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddle._engine.exchange import ModeSpec, ScheduleSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, EndPass, Mark, Welcome

from ..talk import ONE, Talk, update
from .test_arrival import joined, welcome

BY_PASSES = ScheduleSpec(name="pass_manual", learning_rate=1.0, args="0:1,1:0.5,2:0.25,3:0.125")
EACH_STEP = SnapshotOptions(folder="a folder", period=1)
MODES = [ModeSpec(), ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)]


def trained(mode: ModeSpec, passes: int) -> Talk:
    """One trainer, after so many passes of one batch."""
    spec = replace(update(mode=mode), schedule=BY_PASSES)
    talk = joined(1, spec=spec, snapshots=EACH_STEP)
    for pass_id in range(passes):
        talk.push(0, ONE, pass_id=pass_id)
        talk.end_pass(0, pass_id)
    return talk


def rate(talk: Talk, pass_id: int) -> float:
    """That of the next step, whose trainer says that it is in pass ``pass_id``."""
    before = talk.w[0]
    talk.push(0, ONE, pass_id=pass_id)
    return before - talk.w[0]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.name))
def test_a_process_that_takes_a_place_begins_no_pass_count_anew(mode: ModeSpec) -> None:
    talk = trained(mode, 2)
    talk.lose(0)
    welcome(talk, 0, "another process", Mark())
    talk._steps[0] = 0
    assert rate(talk, pass_id=0) == 0.25


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.name))
def test_it_outlives_the_shard_and_the_next_job_goes_on_with_it(mode: ModeSpec) -> None:
    talk = trained(mode, 2)
    talk.goodbye(0)
    other = talk.restart()
    welcome(other, 0, "of the next job", Mark())
    other._steps[0] = 0
    assert rate(other, pass_id=0) == 0.25
    other.end_pass(0)
    assert rate(other, pass_id=1) == 0.125


def test_a_shard_whose_snapshot_lacks_the_end_of_a_pass_hears_of_it() -> None:
    talk = trained(ModeSpec(name="async"), 2)
    other = talk.restart()  # of the snapshot of step 2, made before pass 1 was over
    assert other.shard.clocks.passes_over == 1
    welcome(other, 0, "process 0", Mark(2, 2))
    assert rate(other, pass_id=2) == 0.25


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: str(mode.name))
def test_it_knows_then_what_the_trainer_was_answered_also_where_it_lacks_no_step(mode: ModeSpec) -> None:
    other = trained(mode, 2).restart()
    assert welcome(other, 0, "process 0", Mark(2, 2)).settled == Mark(2, 2)
    assert not any("lost" in note for note in other.notes)
    other.push(0, ONE, pass_id=2)
    other.end_pass(0, 2)
    assert other.shard.clocks.passes == [3]


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: str(mode.name))
def test_the_end_of_a_pass_that_is_over_counts_for_the_trainer_that_says_it(mode: ModeSpec) -> None:
    talk = joined(2, spec=replace(update(mode=mode), schedule=BY_PASSES))
    for trainer in (0, 1):
        talk.push(trainer, ONE)
    talk.end_pass(0)
    talk.lose(0)
    talk.hello(0, "process 0", Mark(1), over=1, has_begun=True)  # another shard has said so
    talk.declare(0)
    assert talk.ask(1, EndPass(0, 1)) != []
    talk.push(1, ONE, pass_id=1)  # its answer is lost
    talk.lose(1)
    assert welcome(talk, 1, "process 1", Mark(1, 1)).settled == Mark(2, 1)


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: str(mode.name))
def test_a_trainer_whose_end_of_a_pass_other_shards_have_says_it_again_to_one_that_went_back(
    mode: ModeSpec,
) -> None:
    spec = replace(update(mode=mode), schedule=BY_PASSES)
    talk = joined(2, spec=spec, snapshots=EACH_STEP, serving="this job")
    for trainer in (0, 1):
        talk.push(trainer, ONE)
    for trainer in (0, 1):
        talk.end_pass(trainer)
    talk.push(1, ONE, pass_id=1)
    other = talk.restart()
    told = other.hello(1, "process 1", Mark(2, 1), next_pass=2, over=1, has_begun=True)
    assert isinstance(told[0], Welcome) and told[0].settled == Mark(2, 1)
    other.declare(1)
    assert other.ask(1, EndPass(1, 2)) == []
    welcome(other, 0, "process 0", Mark(1, 1))
    other.push(0, ONE, pass_id=1)
    assert isinstance(other.ask(0, EndPass(1, 2))[0], Answer)
    assert isinstance(other.told(1), Answer)
    assert other.shard.clocks.passes == [2, 2]
