"""Who waits, for whom, and when patience ends; time is what the tests say."""

from __future__ import annotations

from ..talk import ONE, Fails, Talk


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
