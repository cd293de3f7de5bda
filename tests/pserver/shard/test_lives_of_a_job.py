"""A job that begins again as a whole: its shards go on from its own snapshots, its trainers from their
places in their data."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import PROTOCOL, Answer, Declared, GoBack, Hello, Mark, Save, Welcome
from paddle._pserver.shard.resuming import is_of_earlier_life

from ..talk import ONE, TWO, Talk, update
from .test_arrival import KEPT, joined
from .test_resuming import cut_of, load

TRAINERS = 2


def life(before: Talk | None = None, version: int = 0, *older: int, **options: Any) -> Talk:
    """A shard of a job; of a later life of it from what the one ``before`` has cut."""
    number = 1 if before is None else int(before.shard.options.serving.partition("/")[2] or 1) + 1
    serving = f"JOB1-abcd/{number}" if number > 1 else "JOB1-abcd"
    told = {"snapshots": KEPT, "serving": serving, **options}
    if before is None:
        return joined(TRAINERS, "of the first life", **told)
    talk = Talk(TRAINERS, **told)
    talk._take(talk.shard.restore(cut_of(before, version), "a folder", older, now=0.0))
    return talk


def step(talk: Talk, pass_id: int = 0) -> None:
    talk.push(0, ONE, pass_id=pass_id)
    talk.push(1, TWO, pass_id=pass_id)


def end_pass(talk: Talk, pass_id: int) -> None:
    for trainer in range(TRAINERS):
        talk.end_pass(trainer, pass_id)


def places(talk: Talk, name: str) -> list[tuple[int, int]]:
    """What new processes of all trainers are told."""
    found = []
    for trainer in range(TRAINERS):
        talk.hello(trainer, f"{name}, {trainer}")
        (declared,) = talk.declare(trainer)
        assert isinstance(declared, Declared) and not declared.seed
        found.append(declared.place)
    return found


def trained(steps: int) -> Talk:
    """A pass of three steps, and the beginning of the next one. It is cut at every second step."""
    talk = life()
    for number in range(steps):
        if number == 3:
            end_pass(talk, 0)
        step(talk, number // 3)
    return talk


def test_each_trainer_is_told_how_many_batches_of_its_pass_are_in_the_values_in_every_life() -> None:
    first = trained(5)
    second = life(first, 4)
    assert places(second, "second") == [(1, 1), (1, 1)]
    step(second, 1)
    step(second, 1)
    third = life(second, 6)
    assert places(third, "third") == [(1, 3), (1, 3)], "those of all lives together"
    end_pass(third, 1)
    step(third, 2)
    step(third, 2)
    assert places(life(third, 8), "fourth") == [(2, 2), (2, 2)]


def test_a_life_in_which_nothing_was_trained_loses_no_place() -> None:
    second = life(trained(5), 4)
    places(second, "second")
    (cut,) = [cut for cut in second.cuts if cut.facts.version == 4]
    assert cut.facts.serving == "JOB1-abcd/2"
    assert places(life(second, 4), "third") == [(1, 1), (1, 1)]


def test_it_ends_with_the_bits_of_a_job_that_has_had_one_life() -> None:
    first, whole = trained(5), trained(6)
    second = life(first, 4)
    assert places(second, "second") == [(1, 1), (1, 1)]
    for _ in range(2):
        step(second, 1)
    assert second.w == whole.w != first.w
    assert (second.shard.clocks.version, second.shard.clocks.samples) == (6, whole.shard.clocks.samples)


def test_where_shards_go_back_places_go_back_too() -> None:
    first = trained(6)
    second = life(first, 6, 4, 2)
    for trainer in range(TRAINERS):
        (reply,) = second.hello(trainer, f"second, {trainer}")
        assert isinstance(reply, Welcome) and reply.older == (4, 2)
    assert second.ask(0, GoBack(2)) == []
    load(second, first, 0, 2)
    assert second.ask(1, GoBack(2)) == [Answer(2)]
    assert [second.declare(trainer) for trainer in range(TRAINERS)] == [[Declared(False, (0, 2))]] * TRAINERS


def test_one_that_had_ended_its_pass_before_the_others_ends_it_again() -> None:
    first = life()
    step(first)
    first.end_pass(0, 0)
    first.push(1, TWO)
    second = life(first, 2)
    assert places(second, "second") == [(0, 1), (0, 2)]
    assert second.shard.roster.present == {0, 1}
    end_pass(second, 0)
    assert second.shard.clocks.passes_over == 1


def test_processes_of_the_life_before_are_stale() -> None:
    second = life(trained(5), 4)
    places(second, "second")
    second.lose(1)
    (refused,) = second.hello(1, "of the first life 1", Mark(5, 1))
    assert "trainer_id=1" in refused.text


def test_a_shard_that_goes_on_from_an_earlier_pass_than_others_lets_all_in_and_may_go_back_with_them() -> (
    None
):
    second = life(trained(5), 2, 0)
    for trainer in range(TRAINERS):
        second.shard.connected(trainer + 1, f"host{trainer}")
        told = Hello(PROTOCOL, trainer, TRAINERS, "dense", f"second, {trainer}", next_pass=1)
        (reply,) = second.ask(trainer, told)
        assert isinstance(reply, Welcome), reply
        assert (reply.version, reply.older) == (2, (0,))


def test_out_of_step_a_pass_is_begun_with_its_first_batch() -> None:
    spec = update(mode=ModeSpec(name="async"))
    first = life(spec=spec)
    step(first)
    end_pass(first, 0)
    step(first, 1)
    first.ask(0, Save())
    assert places(life(first, first.cuts[-1].facts.version, spec=spec), "second") == [(1, 0), (1, 0)]


@pytest.mark.parametrize(
    ("before", "now", "is_so"),
    [
        ("JOB1-abcd", "JOB1-abcd", False),
        ("JOB1-abcd", "JOB1-abcd/2", True),
        ("JOB1-abcd/2", "JOB1-abcd/3", True),
        ("JOB1-abcd", "JOB1-abc/2", False),
        ("", "", False),
        ("JOB1-abcd", "", False),
    ],
)
def test_whose_snapshot_it_is_stands_in_its_name(before: str, now: str, is_so: bool) -> None:
    assert is_of_earlier_life(before, now) is is_so
