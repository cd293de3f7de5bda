"""A process that is new to a shard which was started again is told with which pass it begins."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import Answer, Declared, EndPass, Mark, Save, Waiting, Welcome
from paddle._pserver.shard.reunion import LONGEST_S

from ..talk import ONE, Talk, update
from .test_arrival import KEPT, joined

ASYNC = update(mode=ModeSpec(name="async"))


def begun(over: int) -> dict[str, Any]:
    """So many passes are over, as a process that is in has heard."""
    return {"has_begun": True, "next_pass": over, "over": over}


def restored(passes: int, trainers: int = 2, **options: Any) -> Talk:
    """A shard as it was in the first pass of a job that has gone on for some ``passes`` more."""
    talk = joined(trainers, spec=ASYNC, snapshots=KEPT, serving="this job", **options)
    talk.ask(0, Save())
    for pass_id in range(passes):
        for trainer in range(trainers):
            talk.push(trainer, ONE, pass_id=pass_id)
        for trainer in range(trainers):
            talk.end_pass(trainer, pass_id)
    return talk.restart(talk.cuts[-1])


class Told:
    """Equal to a Welcome that says so."""

    def __init__(self, **told: int) -> None:
        self.told = told

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Welcome) and all(getattr(other, k) == v for k, v in self.told.items())


def comes(talk: Talk, trainer: int, name: str, **told: Any) -> Declared | None:
    """What it is told about its place, if that is told at once."""
    talk.hello(trainer, name, **told)
    found = talk.declare(trainer)
    assert len(found) <= 1
    return found[0] if found else None  # type: ignore[return-value]


def test_it_waits_for_those_who_know_which_passes_have_ended() -> None:
    talk = restored(2)
    assert comes(talk, 1, "another") is None
    assert comes(talk, 0, "process 0", answered=Mark(2, 2), **begun(2)) is not None
    assert talk.told(1) == Declared(False, (2, 0))
    talk.push(0, ONE, pass_id=2)
    assert talk.ask(0, EndPass(2, 3)) == [], "it waits for the other, which is in that pass, too"
    assert isinstance(talk.ask(1, EndPass(2, 1))[-1], Answer)
    assert isinstance(talk.told(0), Answer)


def test_who_comes_after_them_waits_for_nobody_and_is_told_the_same() -> None:
    talk = restored(2)
    comes(talk, 0, "process 0", answered=Mark(2, 2), **begun(2))
    assert comes(talk, 1, "another") == Declared(False, (2, 0))


def test_those_that_were_all_replaced_wait_for_each_other_only() -> None:
    talk = restored(1, 3)
    assert comes(talk, 0, "new 0") is None
    assert comes(talk, 1, "new 1") is None
    assert comes(talk, 2, "new 2") == Declared(False, (0, 0))
    assert talk.told(0) == talk.told(1) == Declared(False, (0, 0))


def test_one_that_took_a_place_and_began_knows_that_the_passes_before_are_over() -> None:
    talk = restored(2, 3)
    comes(talk, 1, "another", **begun(2))
    assert talk.ask(1, EndPass(2, 1)) == [], "and not that one, in which the others may be"
    comes(talk, 0, "process 0", answered=Mark(2, 2), **begun(2))
    assert comes(talk, 2, "new 2") == Declared(False, (2, 0))
    assert talk.shard.clocks.passes_over == 2


def test_one_that_was_told_how_many_passes_are_over_says_so_before_it_has_begun() -> None:
    talk = restored(1)
    assert comes(talk, 1, "another", next_pass=1, over=1) is None
    assert comes(talk, 0, "new 0") == Declared(False, (1, 0))
    assert talk.told(1) == Declared(False, (1, 0))
    assert talk.ask(0, EndPass(1, 1)) == [], "it waits for the other, which is in that pass, too"
    assert isinstance(talk.ask(1, EndPass(1, 1))[-1], Answer)


def test_a_pass_is_not_over_where_one_that_ended_it_was_still_waiting() -> None:
    talk = joined(2, spec=ASYNC)
    talk.end_pass(0)
    talk.lose(0)
    assert talk.hello(0, "another")[-1] == Told(next_pass=1, over=0)
    talk.end_pass(1)
    talk.lose(1)
    assert talk.hello(1, "another one")[-1] == Told(next_pass=1, over=1)


@pytest.mark.parametrize("patience_s", [20.0, 600.0])
def test_nobody_is_waited_for_for_ever_and_meanwhile_it_is_said_for_whom(patience_s: float) -> None:
    talk = restored(1, barrier_timeout_s=patience_s)
    longest_s = min(patience_s, LONGEST_S)
    comes(talk, 1, "another")
    for _ in range(int(longest_s) - 1):
        talk.wait(1)
    words = [message for to, message in talk.replies if to == 1 and isinstance(message, Waiting)]
    assert len(words) == (longest_s - 1) // 5
    assert "to hear from trainer 0 (has not come back) which passes have ended" in words[0].text
    talk.wait(1)
    assert talk.told(1) == Declared(False, (0, 0))


def test_one_whose_connection_ends_while_it_waits_comes_again() -> None:
    talk = restored(1)
    comes(talk, 1, "another")
    talk.lose(1)
    talk.connect(1)
    assert comes(talk, 1, "another") is None
    comes(talk, 0, "process 0", answered=Mark(1, 1), **begun(1))
    assert [message for to, message in talk.replies if isinstance(message, Declared) and to == 1] == [
        Declared(False, (1, 0))
    ]


def test_one_that_has_said_goodbye_is_not_waited_for() -> None:
    talk = joined(2, spec=ASYNC, snapshots=KEPT, serving="this job")
    talk.goodbye(0)
    talk.lose(1)
    assert comes(talk.restart(), 1, "another") == Declared(False, (0, 0))
