"""A snapshot that somebody wants who is no trainer, as one shard sees it."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Held, Hold, Keep, Reply, Waiting
from paddle._pserver.shard.demand import EXPECT_S, HOLD_S

from ..talk import ONE, TWO, Fails, Talk, update

KEPT = SnapshotOptions(folder="a folder", period=1000)
WHO = 9
"""The place of somebody who never said Hello."""


def joined(trainers: int = 2, snapshots: SnapshotOptions | None = KEPT, **options: Any) -> Talk:
    talk = Talk(trainers, snapshots=snapshots, **options)
    for trainer in range(trainers):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    talk.cuts.clear()
    return talk


def step(talk: Talk, *given: Any) -> None:
    for trainer, gradient in enumerate(given or (ONE, TWO)):
        talk.push(trainer, gradient)


def seen(version: int, *, holds: bool = False, is_busy: bool = False, is_in_step: bool = True) -> Held:
    return Held(version, holds, is_in_step, is_busy, "a folder", 0, 1, has_sparse=True)


def test_who_looks_is_answered_at_once() -> None:
    talk = joined()
    step(talk)
    assert talk.ask(WHO, Hold()) == [seen(1)]
    assert talk.ask(WHO, Hold()) == [seen(1)]
    assert talk.cuts == []


def test_what_is_written_is_what_there_was_after_the_step_that_was_named() -> None:
    talk = joined()
    step(talk)
    assert talk.ask(WHO, Hold(2)) == []
    talk.push(0, ONE)
    assert WHO not in [to for to, _ in talk.replies]
    talk.push(1, TWO)
    assert talk.told(WHO) == seen(2, holds=True)
    then = talk.w
    step(talk)
    assert talk.cuts == []
    assert talk.ask(WHO, Keep()) == [Answer(2)]
    (state,) = talk.cuts
    assert (state.facts.version, talk.restart(state).w) == (2, then)
    assert state.is_regular
    assert talk.shard.saving.counts["demand"] == 1
    assert talk.w != then
    assert WHO in talk.closed


def test_a_step_that_all_have_is_held_at_once_and_one_that_is_past_is_not() -> None:
    talk = joined()
    step(talk)
    step(talk)
    assert talk.ask(WHO, Hold(1)) == [seen(2)]
    assert talk.ask(WHO, Hold(2)) == [seen(2, holds=True)]


def test_a_copy_whose_connection_ends_is_let_go_and_what_waited_for_it_goes_on() -> None:
    talk = joined(snapshots=SnapshotOptions(folder="a folder", period=2))
    step(talk)
    talk.ask(WHO, Hold(1))
    talk.goodbye(1)
    assert not isinstance(talk.told(1), Answer) or talk.cuts == []
    assert 1 not in talk.closed
    talk.lose(WHO)
    assert [state.facts.version for state in talk.cuts] == [1]
    assert talk.shard.saving.counts["goodbye"] == 1
    assert 1 in talk.closed


def test_a_copy_that_nobody_keeps_for_long_is_let_go() -> None:
    talk = joined()
    step(talk)
    talk.ask(WHO, Hold(1))
    talk.wait(HOLD_S / 2)
    assert WHO not in talk.closed
    talk.wait(HOLD_S / 2)
    assert talk.told(WHO) == Fails("NoSnapshot", "let go")
    assert WHO in talk.closed
    assert (talk.cuts, talk.shard.saving.is_busy) == ([], False)


def test_a_step_that_does_not_come_is_answered_so() -> None:
    talk = joined()
    assert talk.ask(WHO, Hold(7)) == []
    talk.wait(EXPECT_S)
    assert talk.told(WHO) == seen(0)
    assert talk.ask(WHO, Hold(0)) == [seen(0, holds=True)]


def test_while_another_is_written_none_is_held() -> None:
    talk = joined(snapshots=SnapshotOptions(folder="a folder", period=1))
    talk.disk_is_slow = True
    step(talk)
    assert talk.ask(WHO, Hold()) == [seen(1, is_busy=True)]
    assert talk.ask(WHO, Hold(1)) == [seen(1, is_busy=True)]
    talk.write()
    assert talk.ask(WHO, Hold(1)) == [seen(1, holds=True)]


def test_while_a_step_is_expected_none_is_begun_that_is_only_due_and_then_again() -> None:
    talk = joined(snapshots=SnapshotOptions(folder="a folder", period=2))
    step(talk)
    talk.ask(WHO, Hold(3))
    step(talk)
    assert talk.cuts == []
    step(talk)
    talk.lose(WHO)
    step(talk)
    assert [state.facts.version for state in talk.cuts] == [4]


def test_one_that_is_let_go_is_taken_for_none() -> None:
    talk = joined(snapshots=SnapshotOptions(folder="a folder", period=2))
    step(talk)
    step(talk)
    step(talk)
    talk.cuts.clear()
    talk.ask(WHO, Hold(4))
    step(talk)
    assert talk.told(WHO) == seen(4, holds=True)
    talk.lose(WHO)
    assert [state.facts.version for state in talk.cuts] == [4]  # which was due


def test_one_that_cannot_be_written_is_told_and_training_goes_on() -> None:
    talk = joined()
    talk.disk_is_slow = True
    step(talk)
    talk.ask(WHO, Hold(1))
    assert talk.ask(WHO, Keep()) == []
    talk.wait(6.0)
    assert isinstance(talk.told(WHO), Waiting)
    talk.write("the disk is full")
    assert talk.told(WHO) == Fails("NoSnapshot", "could not be written")
    talk.disk_is_slow = False
    step(talk)
    assert talk.told(0) == Answer(2, lacking=True)


def test_only_one_wants_a_copy_at_a_time_and_others_may_look() -> None:
    talk = joined()
    step(talk)
    talk.ask(WHO, Hold(9))
    assert talk.ask(WHO + 1, Hold()) == [seen(1)]
    assert talk.ask(WHO + 1, Hold(9)) == [Fails("NoSnapshot", "somebody else")]
    talk.lose(WHO)
    assert talk.ask(WHO + 2, Hold(1)) == [seen(1, holds=True)]


def test_where_trainers_are_not_in_step_what_there_is_is_held() -> None:
    talk = joined(spec=update(mode=ModeSpec(name="async", discard_ratio=9.0)))
    talk.push(0, ONE)
    assert talk.ask(WHO, Hold(0)) == [seen(1, holds=True, is_in_step=False)]
    talk.push(0, ONE)
    assert talk.ask(WHO, Keep()) == [Answer(1)]
    assert [state.facts.version for state in talk.cuts] == [1]


def test_a_broken_job_keeps_nothing_any_more() -> None:
    talk = joined()
    step(talk)
    talk.ask(WHO, Hold(5))
    talk.goodbye(1, "it could not go on")
    assert talk.told(WHO) == Fails("TrainerLost", "could not go on")
    assert talk.ask(WHO + 1, Hold()) == [Fails("TrainerLost", "could not go on")]


@pytest.mark.parametrize("message", [Hold(), Hold(0), Keep()])
def test_without_snapshots_or_before_the_job_it_is_refused_and_says_why(message: Hold | Keep) -> None:
    assert joined(snapshots=None).ask(WHO, message) == [Fails("NoSnapshot", "--snapshot_dir")]
    early = Talk(2, snapshots=KEPT)
    assert early.ask(WHO, message) == [Fails("NoSnapshot", "has not begun")]
    early.hello(0, "process 0")
    early.declare(0)
    assert early.ask(WHO, message) == [Fails("NoSnapshot", "has not begun")]


def test_a_job_that_goes_on_is_not_held_before_it_is_kept() -> None:
    """Else a shard that is killed then would take the steps of the job before for this one's."""
    talk = joined()
    step(talk)
    talk.ask(WHO, Hold(1))
    talk.ask(WHO, Keep())
    again = talk.restart()
    assert again.ask(WHO, Hold()) == [Fails("NoSnapshot", "has not begun")]
    for trainer in range(2):
        again.hello(trainer, f"another {trainer}")
        again.declare(trainer)
    assert again.ask(WHO + 1, Hold(1)) == [seen(1, holds=True)]


def test_there_is_nothing_to_keep_that_is_not_held() -> None:
    talk = joined()
    assert talk.ask(WHO, Keep()) == [Fails("BadMessage", "no copy")]
    talk.ask(WHO, Hold(3))
    replies: list[Reply] = talk.ask(WHO, Keep())
    assert replies == [Fails("BadMessage", "no copy")]


def test_a_trainer_does_not_ask_so() -> None:
    talk = joined()
    assert talk.ask(0, Hold()) == [Fails("BadMessage", "came from a trainer")]
