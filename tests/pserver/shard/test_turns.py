"""Gradients of trainers in step come one after another where the memory for them is bounded, and nothing else
is different."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import ServerOptions, ShardOptions, SnapshotOptions
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.messages import Answer, Declared, EndPass, Mark, Push, Reply
from paddle._pserver.shard.modes import Sync
from paddle._pserver.tables.gradient import Gradient
from paddle._pserver.tables.tables import Tables

from ..talk import ONE, Fails, Talk, gradient, update

EACH = 16  # bytes of a gradient of talk.MODEL


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paddle._pserver.options.WORTH_BYTES", 1)
    yield


def job(trainers: int = 3, early: int = 0, spec: Any = None, **options: Any) -> Talk:
    return Talk(trainers, spec or update(), gradient_bytes=early * EACH, **options).start()


def announce(talk: Talk, trainer: int, step: int = 1) -> list[Reply]:
    return talk.ask(trainer, Announce(step))


def offers(talk: Talk) -> dict[int, Gradient]:
    """What has come for the next step."""
    training = talk.shard._beginning.training
    assert training is not None and isinstance(training._mode, Sync)
    return {id: offer.gradient for id, offer in training._mode.offers.items()}


def test_each_is_told_to_bring_its_gradient_when_those_before_it_have() -> None:
    talk = job()
    assert announce(talk, 2) == announce(talk, 1) == []
    assert announce(talk, 0) == [Bring()]
    assert talk.told(1) == talk.told(2) == Declared(seed=False, announces=True)
    assert talk.push(0, ONE) == []
    assert talk.told(1) == Bring() and talk.told(2) != Bring()
    assert talk.push(1, ONE) == []
    assert talk.told(2) == Bring()
    assert talk.push(2, ONE) == [Answer(1)]
    assert talk.told(0) == talk.told(1) == Answer(1)
    assert talk.w[0] == -1.5
    assert announce(talk, 1, 2) == []  # and so with each step
    assert announce(talk, 0, 2) == [Bring()]


def test_as_many_come_before_their_turn_as_there_is_room_for() -> None:
    talk = job(5, early=2)
    assert announce(talk, 4) == announce(talk, 3) == [Bring()]
    assert announce(talk, 1) == announce(talk, 2) == []
    talk.push(4, ONE)
    assert talk.told(1) != Bring()  # it is here, and has room until those before it are
    assert announce(talk, 0) == [Bring()]
    talk.push(0, ONE)
    assert talk.told(1) == Bring() and talk.told(2) != Bring()
    talk.push(1, ONE)
    assert talk.told(2) == Bring()
    talk.push(2, ONE)
    assert talk.push(3, ONE) == [Answer(1)]


def test_one_whose_turn_comes_while_it_is_on_its_way_still_has_its_room() -> None:
    talk = job(4, early=1)
    assert announce(talk, 1) == announce(talk, 0) == [Bring()]
    assert announce(talk, 2) == announce(talk, 3) == []
    talk.push(0, ONE)
    assert talk.told(2) == talk.told(3) != Bring()  # what trainer 1 sends lies in memory of its own
    talk.push(1, ONE)
    assert talk.told(2) == talk.told(3) == Bring()


def test_the_room_of_one_that_is_lost_on_its_way_is_another_ones() -> None:
    talk = job(4, early=1)
    assert announce(talk, 2) == [Bring()]
    assert announce(talk, 3) == []
    talk.lose(2)
    assert talk.told(3) == Bring()


def test_the_one_whose_turn_it_is_comes_back_and_brings_it() -> None:
    talk = Talk(3, gradient_bytes=0)
    for trainer in range(3):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    announce(talk, 1)
    announce(talk, 0)
    talk.push(0, ONE)
    assert talk.told(1) == Bring()
    talk.lose(1)
    talk.connect(1)
    talk.hello(1, "process 1")
    assert Declared(False, announces=True) in talk.declare(1)
    assert announce(talk, 1) == [Bring()]
    talk.push(1, ONE)
    announce(talk, 2)
    assert talk.push(2, ONE) == [Answer(1)]


@pytest.mark.parametrize("is_decided", [False, True])
def test_what_came_before_a_connection_broke_is_not_brought_again(is_decided: bool) -> None:
    talk = Talk(3, gradient_bytes=0)
    for trainer in range(3):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.lose(1)
    if is_decided:
        talk.push(2, ONE)
    talk.connect(1)
    talk.hello(1, "process 1")
    talk.declare(1)
    assert announce(talk, 1) == ([Answer(1)] if is_decided else [])
    if not is_decided:
        talk.push(2, ONE)
    assert talk.told(1) == Answer(1)
    assert talk.w[0] == -1.5


def test_who_ends_its_pass_has_no_turn() -> None:
    talk = job()
    assert announce(talk, 1) == []
    talk.ask(0, EndPass(0))
    assert talk.told(1) == Bring()


def test_who_says_goodbye_has_none_either() -> None:
    talk = job()
    assert announce(talk, 0) == [Bring()]
    talk.push(0, ONE)
    assert announce(talk, 2) == announce(talk, 1)[1:] == []
    talk.goodbye(1)
    assert talk.told(2) == Bring()


def test_patience_ends_for_one_that_does_not_come_while_others_wait_for_their_turn() -> None:
    talk = job(barrier_timeout_s=10)
    announce(talk, 1)
    announce(talk, 2)
    talk.wait(6)
    assert "waiting 6 s for trainer 0 (at" in talk.told(2).text  # type: ignore[union-attr]
    talk.wait(5)
    assert talk.told(1) == talk.told(2) == Fails("TrainerLost", "missing trainer 0")


def test_each_has_all_the_patience_there_is_from_when_it_was_told_to_come() -> None:
    talk = job(barrier_timeout_s=10)
    for each in range(3):
        announce(talk, each)
    for each in range(3):
        assert talk.told(each) == Bring()
        talk.wait(8)  # the gradient is long in coming
        talk.push(each, ONE)
    assert talk.told(0) == talk.told(1) == talk.told(2) == Answer(1)
    announce(talk, 1, 2)
    announce(talk, 0, 2)
    talk.push(0, ONE)
    talk.wait(9)
    assert talk.told(1) == Bring()
    talk.wait(2)
    assert talk.told(0) == Fails("TrainerLost", "gave up after 11 s")


def test_who_waits_for_its_turn_is_not_missing() -> None:
    talk = job(barrier_timeout_s=10, min_trainers=1)
    announce(talk, 0)
    announce(talk, 2)
    talk.push(0, ONE)
    talk.wait(11)  # trainer 1 never came
    assert talk.dropped == [1]
    assert talk.told(2) == Bring()
    assert talk.push(2, ONE) == [Answer(1)]
    assert talk.told(0) == Answer(1)
    assert talk.w[0] == -1.0


def test_one_that_was_told_to_bring_its_gradient_and_does_not_is_left_out() -> None:
    talk = job(barrier_timeout_s=10, min_trainers=1)
    assert announce(talk, 0) == [Bring()]
    announce(talk, 1)
    announce(talk, 2)
    talk.wait(11)
    assert talk.dropped == [0]
    assert talk.told(1) == Bring()


@pytest.mark.parametrize("who", [0, 1])
def test_whoever_is_told_to_come_after_one_that_was_left_out_has_all_the_patience_there_is(who: int) -> None:
    """``who``: was told to bring its gradient, and does not, while others wait."""
    talk = job(barrier_timeout_s=10, min_trainers=1)
    for each in range(3):
        announce(talk, each)
        if each < who:
            talk.push(each, ONE)
    assert talk.told(who) == Bring() != talk.told(who + 1)
    talk.wait(11)
    assert talk.dropped == [who]
    assert talk.told(who + 1) == Bring()
    talk.wait(9)
    assert talk.dropped == [who]
    talk.wait(2)
    assert talk.shard.broken is not None or talk.dropped == [who, who + 1]


def test_one_that_was_told_to_come_early_only_now_is_not_left_out_with_the_one_that_is_waited_for() -> None:
    talk = job(4, early=1, barrier_timeout_s=10, min_trainers=1)
    for each in (3, 1, 2):
        announce(talk, each)
    assert talk.told(3) == Bring() != talk.told(1)
    talk.wait(9)
    talk.lose(3)
    assert talk.told(1) == Bring() != talk.told(2)
    talk.wait(2)  # trainer 0 never came, and trainer 3 has not come back
    assert [trainer.is_left_out for trainer in talk.shard.roster.trainers] == [True, False, False, True]


def test_who_waits_hears_that_the_job_is_broken() -> None:
    talk = job()
    announce(talk, 1)
    talk.goodbye(2, "ValueError: no such file")
    assert talk.told(1) == Fails("TrainerLost", "trainer 2 at host2 failed")


def test_one_that_waits_may_leave() -> None:
    talk = job(min_trainers=1)
    announce(talk, 1)
    assert talk.goodbye(1, "KeyboardInterrupt") == [Answer(0)]
    announce(talk, 0)
    talk.push(0, ONE)
    announce(talk, 2)
    assert talk.push(2, ONE) == [Answer(1)]


def test_a_shard_that_was_killed_hears_again_in_turn() -> None:
    talk = Talk(3, gradient_bytes=0, snapshots=SnapshotOptions(folder="a folder", period=1000))
    for trainer in range(3):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    for trainer in range(3):
        talk.push(trainer, ONE)
    talk = talk.restart()
    for trainer in (2, 1, 0):
        talk.hello(trainer, f"process {trainer}", Mark(1, 0))
        talk.declare(trainer)
    assert announce(talk, 2) == announce(talk, 1) == []
    assert announce(talk, 0) == [Bring()]
    for trainer in range(3):
        assert talk.told(trainer) == Bring()
        talk.ask(trainer, Push(1, 0, 1), ONE)
    assert talk.told(0) == talk.told(2) == Answer(1)
    assert talk.w[0] == -1.5


def test_one_that_does_not_announce_is_not_refused() -> None:
    talk = job()
    assert talk.push(2, ONE) == talk.push(1, ONE) == []
    assert talk.push(0, ONE) == [Answer(1)]


def test_a_shard_whose_memory_is_not_bounded_wants_it_at_once() -> None:
    talk = Talk(3).start()
    assert announce(talk, 2) == [Bring()]


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_no_bit_depends_on_turns_or_on_the_order_in_which_gradients_come(reduce: Any) -> None:
    chances = np.random.default_rng(4)
    given = [gradient(chances.standard_normal(4).astype("f4").tolist(), [id]) for id in range(4)]
    plain = Talk(4, update(reduce=reduce)).start()
    for id in range(4):
        plain.push(id, given[id])
    for order in permutations(range(4)):
        talk = job(4, early=1, spec=update(reduce=reduce))
        for id in order:
            talk.push(id, given[id])
        assert talk.w == plain.w
        assert [table.values.tolist() for table in _tables(talk).packed.values()] == [
            table.values.tolist() for table in _tables(plain).packed.values()
        ]


def _tables(talk: Talk) -> Tables:
    assert talk.shard.tables is not None
    return talk.shard.tables


def test_what_nobody_comes_before_is_one_gradient_at_once() -> None:
    talk = job(4)
    talk.push(2, ONE)
    talk.push(0, gradient([1, 2, 3, 4]))
    assert [len(each.dense) for each in offers(talk).values()] == [1, 1]
    talk.push(1, gradient([1, 1, 1, 1]))
    assert {id: len(each.dense) for id, each in offers(talk).items()} == {0: 1, 1: 0, 2: 0}
    assert offers(talk)[0].dense[0].tolist() == [3, 3, 4, 5]


@pytest.mark.parametrize("own", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_a_trainers_own_memory_is_added_and_not_written_to(own: tuple[int, ...]) -> None:
    chances = np.random.default_rng(5)
    size = (1 << 16) + 7  # more than are added at once
    given = [chances.standard_normal(size).astype("f4") for _ in range(3)]
    expected = given[0] + given[1] + given[2]
    for id in own:
        given[id].setflags(write=False)
    gradients = [Gradient([array]) for array in given]
    assert [each.is_ours for each in gradients] == [id not in own for id in range(3)]
    folded = Tables.fold(gradients)
    there = [each.dense[0] for each in folded if each.dense]
    if len(own) == 3:
        assert folded == gradients
    else:
        assert len(there) == 1 and there[0].tobytes() == expected.tobytes()


def test_turns_are_taken_where_they_spare_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.options.WORTH_BYTES", EACH)
    options = ShardOptions(num_gradient_servers=4, gradient_bytes=EACH + 1)
    assert options.most_early(EACH) == 1
    assert options.most_early(EACH - 1) is None  # it is a small one
    assert options.most_early(2 * EACH) == 0
    assert ShardOptions(num_gradient_servers=2, gradient_bytes=EACH).most_early(EACH) is None  # all have room
    assert ShardOptions(num_gradient_servers=9).most_early(EACH) is None


def test_out_of_step_nobody_waits_for_a_turn() -> None:
    talk = Talk(3, update(mode=ModeSpec(name="async")), gradient_bytes=0).start()
    assert talk.told(1) == Declared(seed=False)


def test_a_model_whose_gradients_take_turns_needs_less_of_the_limit() -> None:
    of_sessions = 6 << 20
    need = EACH * (1 + 2) + 5 * 2 * 4 + 5 * 8  # values and two gradients; the table
    with pytest.raises(AssertionError):  # it refuses the model
        job(6, memory_limit_bytes=of_sessions + need - 1)
    job(6, memory_limit_bytes=of_sessions + need)
    with pytest.raises(AssertionError):
        Talk(6, memory_limit_bytes=of_sessions + need).start()


def test_a_model_that_is_too_large_is_told_how_many_gradients_it_needs_room_for_and_what_would_do() -> None:
    def told(trainers: int, room: int, **options: Any) -> str:
        talk = Talk(trainers, memory_limit_bytes=(trainers << 20) + room, **options)
        talk.hello(0)
        talk.declare(0)
        (note,) = [note for note in talk.notes if note.startswith("refuses trainer 0 at ")]
        return note

    fits = EACH * (1 + 2) + 5 * 2 * 4 + 5 * 8  # values and two gradients; the table
    advice = "or bound what gradients take (--gradient_memory=0)"
    assert "optimizer state and the gradients of 6 trainers" in told(6, fits)
    assert told(6, fits).endswith(f"(--memory_limit), {advice}")
    assert told(6, fits - 1).endswith("give this one more (--memory_limit)")  # that would not do
    assert "optimizer state and 2 of the gradients of 6 trainers" in told(6, fits - 1, gradient_bytes=0)
    assert "state and 4 of the gradients of 6 trainers" in told(6, fits, gradient_bytes=2 * EACH)
    assert advice not in told(2, fits - 1)


def test_what_a_server_is_told_is_of_all_its_dense_shards() -> None:
    def of_each(**told: Any) -> int | None:
        return ServerOptions(addresses=("127.0.0.1",), **told).gradient_bytes_of_each

    assert of_each() is None
    assert of_each(gradient_bytes=9, ports_num=2, ports_num_for_sparse=2) == 4
    assert of_each(gradient_bytes=9, ports_num=0, ports_num_for_sparse=2) == 9
    with pytest.raises(ValueError, match="--gradient_memory"):
        of_each(gradient_bytes=-1)
