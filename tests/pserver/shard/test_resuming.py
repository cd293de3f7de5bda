"""New jobs that go on from snapshots, also where the shards have different ones."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ModeName, ModeSpec
from paddle._pserver.protocol.messages import Answer, Declare, Declared, GoBack, Mark, Push, Save, Welcome
from paddle._pserver.service.status import status
from paddle._pserver.shard.effects import Load
from paddle._pserver.shard.state import State
from paddle._pserver.snapshots.snapshot import Snapshots

from .. import conftest
from ..conftest import DENSE_ONLY, ONES, Start
from ..disk import Disk, Killed
from ..snapshots.test_snapshot import is_same, saved, state
from ..talk import MODEL, ONE, TWO, Fails, Talk, update
from .test_arrival import KEPT, joined, trained, welcome


def restored(before: Talk, version: int, *older: int) -> Talk:
    """A shard of the next job: it begins with this version, and has the older ones."""
    talk = Talk(2, before.spec, snapshots=KEPT)
    talk._take(talk.shard.restore(cut_of(before, version), "a folder", older, now=0.0))
    return talk


def cut_of(talk: Talk, version: int) -> State:
    cuts: list[State] = talk.cuts
    return next(cut for cut in cuts if cut.facts.version == version)


def load(talk: Talk, before: Talk, trainer: int, version: int) -> None:
    """The disk gives what was asked for."""
    talk._take(talk.shard.loaded(trainer + 1, cut_of(before, version), now=0.0))


@pytest.mark.parametrize("trainers", [1, 2, 3])
def test_whoever_looks_before_a_new_job_has_come_sees_its_own_number_of_trainers(trainers: int) -> None:
    talk = Talk(trainers, snapshots=KEPT)
    talk._take(talk.shard.restore(cut_of(trained(6), 6), "a folder", now=0.0))
    assert [(one.state, one.in_pass) for one in status(talk.shard, 0.0).trainers] == [
        ("expected", True)
    ] * trainers
    assert talk.shard.clocks.durable[2:] == [Mark()] * (trainers - 2)


# Going back.


def test_a_new_job_goes_back_and_trains_on_from_there_to_the_bits_of_one_that_began_there() -> None:
    before = trained(6)
    talk, other = restored(before, 6, 4, 2, 0), restored(before, 2)
    for trainer in range(2):
        reply = talk.hello(trainer, f"new {trainer}")[0]
        assert isinstance(reply, Welcome) and (reply.version, reply.older) == (6, (4, 2, 0))
    assert talk.ask(0, GoBack(2)) == []
    load(talk, before, 0, 2)
    assert talk.told(0) == Answer(2)
    assert [cut.facts.version for cut in talk.cuts] == [2]
    assert talk.ask(1, GoBack(2)) == [Answer(2)]
    for trainer in range(2):
        assert talk.declare(trainer) == [Declared(seed=False)]
        welcome(other, trainer, f"new {trainer}")
    for each in (talk, other):
        for _ in range(3):
            each.push(0, ONE)
            each.push(1, TWO)
    assert talk.told(1) == Answer(5, False, Mark(2))
    assert talk.w == other.w != before.w
    for one, two in zip(talk.cuts[1:], other.cuts[1:], strict=True):
        assert one.facts.version == two.facts.version and one.facts.samples == two.facts.samples


def test_two_trainers_ask_at_once_and_the_second_undoes_nothing() -> None:
    before = trained(6)
    talk = restored(before, 6, 4, 2)
    for trainer in range(2):
        talk.hello(trainer, f"new {trainer}")
        assert talk.ask(trainer, GoBack(4)) == []
    load(talk, before, 0, 4)
    talk.declare(0)
    assert talk.push(0, ONE) == []
    load(talk, before, 1, 4)
    assert talk.told(1) == Answer(4)
    talk.declare(1)
    assert talk.push(1, ONE) == [Answer(5, False, Mark())]
    assert talk.told(0) == Answer(5, False, Mark())


def test_the_shard_asks_its_disk() -> None:
    talk = restored(trained(6), 6, 4)
    talk.hello(0, "new 0")
    assert talk.shard.handle(1, GoBack(4), now=0.0) == [Load(1, 4)]


def test_nobody_goes_back_to_what_is_not_kept_or_once_one_is_in() -> None:
    before = trained(6)
    talk = restored(before, 6, 4)
    talk.hello(0, "new 0")
    assert talk.ask(0, GoBack(2)) == [Fails("BadMessage", "from version 6 to 2")]
    talk = restored(before, 6, 4)
    welcome(talk, 0, "new 0")
    assert talk.hello(1, "new 1")[0].older == ()
    assert talk.ask(1, GoBack(4)) == [Fails("BadMessage", "may only before a new job trains")]
    assert talk.shard.clocks.version == 6


def test_trainers_that_come_back_are_not_offered_what_their_journals_do_not_reach() -> None:
    talk = restored(trained(6), 6, 4)
    assert welcome(talk, 0, "process 0", Mark(6)).older == ()
    talk.lose(0)
    talk.hello(0, "process 0", Mark(6))
    assert talk.ask(0, GoBack(4)) == [Fails("BadMessage")]


def test_where_trainers_are_not_in_step_versions_differ_and_nobody_goes_back() -> None:
    before = trained(0, spec=update(mode=ModeSpec(name="async")))
    for _ in range(4):
        before.push(0, ONE)
    assert welcome(restored(before, 4, 2), 0, "new 0").older == ()


# Other numbers of shards.


def test_a_shard_of_another_number_of_shards_names_the_command() -> None:
    talk = restored(trained(6), 6)
    talk.hello(0, "new 0")
    words = "this is shard 1 of 2, and the snapshot in a folder is of shard 0 of 1: to go on with another"
    assert talk.ask(0, Declare(MODEL, talk.spec, 1, 2)) == [Fails("DeclarationMismatch", words)]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_job_of_which_only_some_pservers_have_snapshots_is_refused_in_every_mode(
    start_pservers: Start, mode: ModeName
) -> None:
    pservers = start_pservers(ports_num=2)
    before = trained(4, spec=update(mode=ModeSpec(name=mode)))
    shard = pservers.hubs[1].shard
    assert before.cuts[-1].facts.version
    pservers.call(lambda: shard.restore(before.cuts[-1], "a folder", now=0.0))
    with pytest.raises(ExchangeError, match=r"shard at .* go on .*snapshots .*paddle reshard"):
        pservers.train(lambda exchange: exchange.start(DENSE_ONLY, conftest.update(), ONES))


# A new job lasts before it trains.


def test_a_shard_killed_before_a_new_jobs_first_step_lasts_counts_no_steps_of_the_one_before() -> None:
    first = trained(2).restart()
    for trainer in range(2):
        welcome(first, trainer, f"new {trainer}")
        first._steps[trainer] = 0
    for trainer in range(2):
        first.push(trainer, ONE)
    again = first.restart()
    for trainer in range(2):
        assert welcome(again, trainer, f"new {trainer}", Mark(1)).settled == Mark()
        again.ask(trainer, Push(1, 0, 1), ONE)
    assert again.w == first.w


def test_no_trainer_of_a_new_job_is_in_before_it_lasts() -> None:
    talk = trained(2).restart()
    talk.disk_is_slow = True
    for trainer in range(2):
        talk.hello(trainer, f"new {trainer}")
        assert talk.ask(trainer, Declare(MODEL, talk.spec, 0, 1)) == []
    talk.write()
    talk.write()
    assert [talk.told(trainer) for trainer in range(2)] == [Declared(seed=False)] * 2


def test_a_new_job_that_cannot_be_written_ends() -> None:
    talk = trained(2).restart()
    talk.disk_is_slow = True
    talk.hello(0, "new 0")
    talk.declare(0)
    talk.write("no space left on device")
    assert talk.told(0) == Fails("TrainerLost", "the first snapshot could not be written: no space left")


def test_trainers_that_come_back_wait_for_no_snapshot() -> None:
    talk = joined(snapshots=KEPT).restart()
    talk.disk_is_slow = True
    welcome(talk, 0, "process 0")
    assert talk.told(0) == Declared(seed=False)


# Disks.


def disk_killed_at(operation: int, versions: list[int], keep: int) -> tuple[Disk, int]:
    """What one shard was writing when the machine stopped, and the newest version it had written."""
    disk, written = saved(state(0), keep=keep), 0
    snapshots = Snapshots(disk, keep)
    snapshots.load()
    disk.stop_at, disk.stop = disk.operations + operation, Killed
    with suppress(Killed):
        for version in versions:
            snapshots.save(state(version))
            written = version
    disk.stop_at = -1
    return disk, written


@settings(max_examples=300, deadline=None)
@given(
    rounds=st.integers(0, 3),
    stops=st.lists(st.integers(1, 120), min_size=2, max_size=3),
    lost=st.tuples(st.booleans(), st.booleans()),
)
def test_wherever_all_stop_in_a_round_there_is_a_version_that_all_have(
    rounds: int, stops: list[int], lost: tuple[bool, bool]
) -> None:
    done = [5 * n for n in range(1, rounds + 1)]
    found, newest = [], []
    for stop in stops:
        disk, _ = disk_killed_at(10**6, done, 2)
        snapshots = Snapshots(disk, 2)
        snapshots.load()
        disk.stop_at, disk.stop = disk.operations + stop, Killed
        with suppress(Killed):
            snapshots.save(state(5 * rounds + 5))
        disk.stop_at = -1
        disk = disk.after_power_cut(names_lost=lost[0], data_lost=lost[1])
        found.append(Snapshots(disk, 2))
        loaded = found[-1].load()
        assert loaded.state is not None
        newest.append({loaded.state.facts.version, *loaded.older})
    common = max(set.intersection(*newest))
    assert common >= 5 * rounds
    for snapshots in found:
        assert is_same(snapshots.state_of(common), state(common))


def test_what_a_job_went_back_behind_is_given_up_wherever_it_is_killed() -> None:
    operation, finished = 0, False
    while not finished:
        operation += 1
        disk = saved(state(0), state(5), state(10), keep=3)
        snapshots = Snapshots(disk, 3)
        snapshots.load()
        disk.stop_at = disk.operations + operation
        try:
            snapshots.save(state(5, is_regular=False))
            finished = True
        except Killed:
            pass
        disk.stop_at = -1
        after = Snapshots(disk.after_kill(), 3)
        loaded = after.load()
        assert loaded.state is not None
        if loaded.state.facts.version == 5:
            assert loaded.older == (0,)
            after.save(state(15))
            assert Snapshots(after._storage, 3).load().older == (5, 0)  # and not 10, of the past given up
        else:
            assert loaded.older == (5, 0)
    assert operation > 10


def test_a_snapshot_of_before_a_place_was_taken_does_not_know_who_took_it() -> None:
    talk = Talk(1, snapshots=KEPT, serving="this job")
    talk.hello(0, "first")
    talk.declare(0)
    talk.seed()
    talk.disk_is_slow = True
    talk.ask(0, Save())
    assert talk.cuts[-1].facts.version == 0
    talk.push(0, ONE)
    talk.end_pass(0)
    talk.lose(0)
    talk.hello(0, "second")
    assert talk.declare(0) == []
    talk.write()  # what was cut before the first step
    talk.lose(0)
    talk.hello(0, "second")
    assert talk.declare(0) == [], "a shard that starts anew would not know it"
    talk.write()
    talk.write()
    assert talk.told(0) == Declared(False, (1, 0))
