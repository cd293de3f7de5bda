"""Who waits, for whom, and when patience ends; time is what the tests say."""

from __future__ import annotations

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import Waiting
from paddle._pserver.service.report import named
from paddle._pserver.service.status import status
from paddle._pserver.shard.barrier import Barrier, Question

from ..talk import ONE, Fails, Talk, update


def test_who_has_ended_its_pass_waits_for_those_that_go_on_as_long_as_they_are_heard() -> None:
    talk = Talk(3, barrier_timeout_s=100).start()
    talk.end_pass(0)
    for _ in range(5):
        talk.push(1, ONE)
        talk.push(2, ONE)
        talk.wait(90)
    assert talk.shard.broken is None
    talk.push(1, ONE)
    talk.wait(20)
    assert talk.shard.broken is not None  # 110 s after trainer 2 was last heard, and 20 s after trainer 1


def test_one_that_is_silent_is_given_up_though_others_are_heard() -> None:
    talk = Talk(3, barrier_timeout_s=100).start()
    talk.end_pass(0)
    talk.end_pass(1)
    talk.wait(50)
    talk.push(2, ONE)
    talk.wait(99)
    assert talk.shard.broken is None
    talk.wait(2)
    assert talk.told(0) == Fails("TrainerLost", "gave up after 101 s")
    assert talk.shard.broken is not None
    assert talk.shard.broken.culprits == (2,)


def test_one_that_goes_on_is_not_given_up_with_one_that_is_lost() -> None:
    talk = Talk(3, update(mode=ModeSpec(name="async")), barrier_timeout_s=100, min_trainers=1).start()
    talk.end_pass(0)
    talk.lose(1)
    for _ in range(2):
        talk.wait(60)
        talk.push(2, ONE)
    assert talk.shard.broken is None
    assert [trainer.is_left_out for trainer in talk.shard.roster.trainers] == [False, True, False]


def test_of_very_many_that_are_missing_the_first_are_named_and_each_look_goes_through_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = Talk(100, barrier_timeout_s=100).start()
    for trainer in range(50):
        talk.push(trainer, ONE)
    looks: list[int] = []
    waiting_for = Barrier.waiting_for

    def counted(barrier: Barrier, question: type[Question]) -> list[int]:
        looks.append(1)
        return waiting_for(barrier, question)

    monkeypatch.setattr(Barrier, "waiting_for", counted)
    talk.wait(10)
    assert len(looks) <= 4
    (notice,) = [reply for reply in talk.replies if isinstance(reply[1], Waiting) and reply[0] == 0]
    assert "trainer 50 (at " in notice[1].text and notice[1].text.endswith("and 34 more, gives up in 90 s")
    assert "trainer 66" not in notice[1].text
    assert named(status(talk.shard, talk.now).waiting_for).endswith("trainer 65 and 34 more")


def advised(mode: str, *, ends_pass: bool = False) -> str:
    """What trainer 0 is told, which waits for one whose connection broke without a goodbye."""
    spec = update(mode=ModeSpec(name=mode))
    talk = Talk(2, spec, barrier_timeout_s=100).start()
    talk.push(1, ONE)
    talk.lose(1)
    if ends_pass:
        talk.end_pass(0)
    else:
        talk.push(0, ONE)
        talk.push(0, ONE)
    talk.wait(5)
    (notice,) = [message for to, message in talk.replies if to == 0 and isinstance(message, Waiting)]
    return notice.text


def test_who_waits_for_one_whose_process_may_have_ended_is_told_what_to_do_about_it() -> None:
    of_loss = "trainer 1 (its connection from host1 broke 5 s ago), gives up in 95 s"
    assert f"{of_loss}. trainer 1 has said no goodbye." in advised("sync")
    assert advised("sync").endswith("do so and begin again, from its snapshots if it keeps any")
    again = "If its process has ended, and no launcher starts another, start it again with trainer_id=1: "
    assert advised("async", ends_pass=True).endswith(f"no goodbye. {again}the others go on")
