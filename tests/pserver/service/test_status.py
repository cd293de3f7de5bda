"""What a status says of trainers, whatever course a job has had (what else it says: shard/test_seeing.py)."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.service import metrics
from paddle._pserver.service.meter import Meter
from paddle._pserver.service.report import report
from paddle._pserver.service.status import status

from ..talk import ONE, Talk, update


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


def samples(talk: Talk, name: str) -> dict[str, float]:
    """Of a metric, by its labels."""
    now = talk.now
    told = report(talk.shard, Meter(), name="", damaged_frames=0, since=0.0, now=now, shard_now=now)
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


@pytest.mark.parametrize("mode", ["async", "ssp", "geo"])
def test_a_process_that_takes_a_place_is_as_far_as_the_slowest_of_the_others(mode: Any) -> None:
    talk = Talk(3, update(mode=ModeSpec(name=mode, staleness=9))).start()
    for trainer in (0, 1, 0, 1, 2, 0):
        talk.push(trainer, ONE)
    assert staleness(talk) == [0, 1, 2]
    talk.lose(2)
    talk.hello(2, "another process")
    assert staleness(talk) == [0, 1, 1]
