"""What a status says of trainers, whatever course a job has had (what else it says: shard/test_seeing.py)."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.service import metrics
from paddle._pserver.service.meter import Meter
from paddle._pserver.service.report import Door, report
from paddle._pserver.service.status import status
from paddle._pserver.trust.auth import REASONS

from ..talk import ONE, Talk, update

OPEN = Door()


def staleness(talk: Talk) -> list[int]:
    return [one.staleness for one in status(talk.shard, talk.now).trainers]


@pytest.mark.parametrize("mode", ["sync", "async", "ssp", "geo"])
def test_staleness_is_of_the_pass_though_passes_are_longer_for_one_trainer(mode: Any) -> None:
    talk = Talk(2, update(mode=ModeSpec(name=mode, staleness=9))).start()
    for pass_id in range(3):
        for trainer in (0, 1):
            talk.push(trainer, ONE, pass_id=pass_id)
        assert staleness(talk) == [0, 0]
        talk.push(0, ONE, pass_id=pass_id)
        assert staleness(talk) == [0, 1]
        talk.end_pass(1, pass_id)
        talk.push(0, ONE, pass_id=pass_id)
        assert staleness(talk) == [0, 0], "who has ended its pass is behind nobody"
        talk.end_pass(0, pass_id)
        assert staleness(talk) == [0, 0]


def test_nobody_is_behind_who_has_ended_the_pass() -> None:
    talk = Talk(3).start()
    for _ in range(2):
        for trainer in range(3):
            talk.push(trainer, ONE)
    talk.push(0, ONE)
    assert staleness(talk) == [0, 1, 1]
    talk = Talk(3, update(mode=ModeSpec(name="async"))).start()
    for trainer in (0, 0, 0, 1, 1, 2):
        talk.push(trainer, ONE)
    assert staleness(talk) == [0, 1, 2]
    talk.end_pass(0)
    assert staleness(talk) == [0, 0, 1], "the furthest that is in the pass"


def samples(talk: Talk, name: str, door: Door = OPEN) -> dict[str, float]:
    """Of a metric, by its labels."""
    now = talk.now
    told = report(
        talk.shard, Meter(), name="", damaged_frames=0, since=0.0, now=now, shard_now=now, door=door
    )
    text = metrics.text(told)
    lines = [line.removeprefix(f"paddle_pserver_{name}") for line in text.splitlines()]
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("{")}


def test_metrics_count_trainers_wherever_they_stand() -> None:
    talk = Talk(5, update(mode=ModeSpec(name="async")))
    for trainer in range(4):
        talk.hello(trainer)
        talk.declare(trainer)
    talk.seed()
    for trainer in range(4):
        talk.push(trainer, ONE)
    talk.goodbye(1)
    for trainer in (2, 3):
        talk.lose(trainer)
    states = {"expected": 1, "joined": 1, "gone": 1, "lost": 2}
    assert samples(talk, "trainers") == {f'{{state="{name}"}}': n for name, n in states.items()}


def test_metrics_say_the_state_of_a_shard_from_its_beginning_to_its_end() -> None:
    talk = Talk(1)

    def state() -> list[str]:
        told = samples(talk, "state")
        assert len(told) == 4
        return [labels for labels, is_it in told.items() if is_it]

    assert state() == ['{state="waiting"}']
    talk.start()
    assert state() == ['{state="ready"}']
    talk._take(talk.shard.stop("it is enough", now=talk.now))
    assert state() == ['{state="broken"}'], "the trainer is told, and still here"
    talk.goodbye(0)
    assert state() == ['{state="over"}']


def test_metrics_say_whose_gradients_were_discarded_and_why_somebody_was_denied() -> None:
    talk = Talk(2).start()
    talk.shard.clocks.pushes[:], talk.shard.clocks.dropped[:] = [7, 5], [0, 3]
    assert samples(talk, "trainer_drops_total") == {'{trainer="0"}': 0, '{trainer="1"}': 3}
    assert samples(talk, "trainer_pushes_total") == {'{trainer="0"}': 7, '{trainer="1"}': 5}
    door = Door(locked=True, denied={reason: place for place, reason in enumerate(REASONS, 1)})
    told = {f'{{reason="{reason}"}}': place for place, reason in enumerate(REASONS, 1)}
    assert samples(talk, "denied_total", door) == told


def test_of_a_trainer_that_has_not_come_nobody_knows_when_it_was_heard() -> None:
    talk = Talk(2)
    talk.hello(0)
    talk.now += 3
    assert [one.heard_s_ago for one in status(talk.shard, talk.now).trainers] == [3.0, None]


@pytest.mark.parametrize("mode", ["async", "ssp", "geo"])
def test_a_process_that_takes_a_place_is_as_far_as_the_slowest_of_the_others(mode: Any) -> None:
    talk = Talk(3, update(mode=ModeSpec(name=mode, staleness=9))).start()
    for trainer in (0, 1, 0, 1, 2, 0):
        talk.push(trainer, ONE)
    assert staleness(talk) == [0, 1, 2]
    talk.lose(2)
    talk.hello(2, "another process")
    assert staleness(talk) == [0, 1, 1]
