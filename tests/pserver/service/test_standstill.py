"""A state that cannot be copied is read where it lies, and what would change it waits for that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, cast
from unittest.mock import Mock

import pytest

from paddle._engine.exchange import AverageSpec, Exchange
from paddle._pserver.errors import BadMessage
from paddle._pserver.options import ServerOptions, ShardOptions, SnapshotOptions, snapshot_bytes
from paddle._pserver.protocol.messages import (
    Declare,
    EndPass,
    Goodbye,
    Hello,
    Part,
    PullRows,
    Push,
    Save,
    encode,
)
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.orders import cut_memory_for, memory_for
from paddle._pserver.service.session import Session
from paddle._pserver.service.standstill import Standstill
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.effects import Close
from paddle._pserver.shard.inlet import Inbound, Inlet
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.saving import WORD_S
from paddle._pserver.shard.shard import Shard
from paddle._pserver.shard.state import State
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.streamed import Streamed, pieces
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import PATIENCE_S, until

from ..conftest import DENSE_ONLY, ONES, Start, update
from .test_relay import MODEL, VALUES, gradients

STEPS = 6


class Disk:
    """Snapshots that are made in memory. That of ``version`` is read when it is told to go on."""

    def __init__(self, version: int = 1) -> None:
        self._version = version
        self.states: dict[int, dict[str, bytes]] = {}
        self.streamed: set[bool] = set()
        self.is_at_it, self.may_go_on = threading.Event(), threading.Event()

    def save(self, state: State) -> None:
        arrays: dict[str, bytes] = {}
        for name, array in state.arrays.items():
            is_large = "rates" not in name
            self.streamed |= {isinstance(array, Streamed)} if is_large else set()
            if state.facts.version == self._version:
                self.is_at_it.set()
                assert self.may_go_on.wait(PATIENCE_S)
            arrays[name] = b"".join(piece.tobytes() for piece in pieces(array))
        self.states.setdefault(state.facts.version, {}).update(arrays)  # of both shards

    def state_of(self, version: int) -> State:
        raise AssertionError("nobody goes back")


@pytest.mark.parametrize(
    "average", [None, AverageSpec(window=0.5, min_window=1, max_window=3)], ids=["plain", "averaged"]
)
def test_no_step_is_taken_until_it_was_read_and_all_of_it_is_of_one_version(
    start_pservers: Start, average: AverageSpec | None
) -> None:
    spec, disk, taken = update("adam", average=average), Disk(), [0]
    pservers = start_pservers(ports_num_for_sparse=1, kept=disk, cut_limit_bytes=0)

    def run(exchange: Exchange) -> None:
        exchange.start(MODEL, spec, VALUES)
        exchange.begin_pass(0)
        for step in range(1, STEPS + 1):
            taken[0] = exchange.step(gradients(step), 1).version
        exchange.end_pass(0)

    def watch() -> None:
        assert disk.is_at_it.wait(PATIENCE_S)
        until(lambda: all(hub._standstill.is_needed for hub in pservers.hubs), "both shards to stand")
        until(lambda: any(hub._standstill._held for hub in pservers.hubs), "the next step to be asked for")
        seen.append((taken[0], [hub.shard.clocks.version for hub in pservers.hubs]))
        closed.extend(
            hub._inlets[session.id].is_closed for hub in pservers.hubs for session in hub._standstill._held
        )
        disk.may_go_on.set()

    seen: list[Any] = []
    closed: list[bool] = []
    watcher = threading.Thread(target=watch)
    watcher.start()
    pservers.train(run)
    watcher.join(PATIENCE_S)
    assert seen == [(1, [1, 1])]
    assert closed and all(closed)
    assert disk.streamed == {True}
    local = LocalExchange()
    local.start(MODEL, spec, VALUES)
    local.begin_pass(0)
    for step in range(1, STEPS + 1):
        local.step(gradients(step), 1)
        was = local._tables.state()
        for name, read in disk.states.get(step, {}).items():
            assert read == was[name].tobytes(), f"{name} at version {step}"
    assert {1, STEPS} <= disk.states.keys()


class Asked:
    """Sessions are numbers; what is dealt with is noted."""

    def __init__(self) -> None:
        self.dealt: list[tuple[int, Any]] = []
        self.standstill = Standstill(
            lambda session, inbound: self.dealt.append((cast(int, session), inbound.message))
        )

    def ask(self, session: int, message: Any) -> bool:
        return self.standstill.holds(cast(Session, session), Inbound(message))


NO_COPY = CutRoom(copies=False)


def push(step: int = 1) -> Push:
    return Push(step, 0, 1)


def test_what_changes_values_waits_in_the_order_in_which_it_came() -> None:
    asked = Asked()
    assert not asked.ask(1, push())
    asked.standstill.begin(NO_COPY)
    waits: Sequence[Any] = (push(), PullRows(()), EndPass(1, 0))
    assert [asked.ask(number, message) for number, message in enumerate(waits)] == [True] * 3
    goes_on: Sequence[Any] = (Goodbye(), Save(), Hello(0, "", "dense", 1), Declare((), update("sgd"), 0, 1))
    assert [asked.ask(9, message) for message in goes_on] == [False] * 4
    with pytest.raises(BadMessage, match="Push came before the last question was answered"):
        asked.ask(0, push(2))
    asked.standstill.lost(cast(Session, 1))
    asked.standstill.end()
    assert asked.dealt == [(0, waits[0]), (2, waits[2])]
    assert not asked.ask(1, push())


def test_a_copy_for_which_room_gets_short_is_waited_for_too() -> None:
    asked, room = Asked(), CutRoom(lambda: 100)
    asked.standstill.begin(room)
    room.take(75)
    assert not asked.ask(1, push())
    room.take(1)
    assert asked.ask(1, push())


def test_who_waits_hears_so_every_few_seconds() -> None:
    asked, now, other = Asked(), 100.0, [cast(Session, 7)]
    assert asked.standstill.waiting(other, now) == []
    asked.standstill.begin(NO_COPY)
    asked.ask(1, push())
    asked.ask(2, push())
    assert asked.standstill.waiting(other, now + WORD_S / 2) == []
    assert asked.standstill.waiting(other, now + WORD_S) == [1, 2, 7]
    assert asked.standstill.waiting(other, now + 1.5 * WORD_S) == []
    assert asked.standstill.waiting(other, now + 2 * WORD_S) == [1, 2, 7]
    asked.standstill.end()
    assert asked.standstill.waiting(other, now + 3 * WORD_S) == []


def test_nobody_is_given_up_while_what_he_pushed_may_wait_itself() -> None:
    """Nor for that time after it: others could not do meanwhile what is waited for."""
    barrier, roster = Barrier(10), Roster(2)
    barrier.add(1, push(), 0)
    barrier.stand(True, 4)
    barrier.stand(True, 11)
    assert barrier.verdict(roster, 11) is None and barrier.notice(roster, 11, lambda _: "") is None
    barrier.stand(False, 12)
    barrier.stand(False, 13)
    assert barrier.verdict(roster, 17.5) is None
    assert "missing trainer 0" in str(barrier.verdict(roster, 18.5))


def test_parameters_have_what_snapshots_leave() -> None:
    def shares(limit: int, of_snapshots: int | None) -> tuple[int, int]:
        kept = SnapshotOptions(folder="kept", memory_bytes=of_snapshots)
        told = ServerOptions(addresses=("here",), memory_limit_bytes=limit, snapshots=kept)
        return memory_for(told, 2), cut_memory_for(told, 2)

    assert shares(1000, None) == (250, 250)
    assert shares(1000, 0) == (500, 0)
    assert shares(1000, 200) == (400, 100)


def test_what_snapshots_may_take_leaves_memory_for_parameters() -> None:
    assert [snapshot_bytes(mib, 100 << 20) for mib in (-1, 0, 99)] == [None, 0, 99 << 20]
    for mib in (100, 101):
        with pytest.raises(ValueError, match=rf"^FLAG={mib} leaves nothing for parameters.*100 MiB for both"):
            snapshot_bytes(mib, 100 << 20, "FLAG")


class Stand:
    """Pservers of two trainers that stand, since their disk reads nothing of version 1."""

    def __init__(self, start_pservers: Start, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("paddle._pserver.service.standstill.WORD_S", 0.0)
        self.disk, self.heard = Disk(version), [list[str](), list[str]()]
        self.pservers = start_pservers(num_gradient_servers=2, kept=self.disk, cut_limit_bytes=0)
        self.ends: list[Any] = [None, None]
        self._threads = [threading.Thread(target=self._run, args=(id,)) for id in (0, 1)]

    def begin(self, *trainers: Callable[[RemoteExchange], Any]) -> None:
        self._trainers = trainers
        for thread in self._threads:
            thread.start()
        assert self.disk.is_at_it.wait(PATIENCE_S)

    def _run(self, id: int) -> None:
        exchange = self.pservers.exchange(id, notice=self.heard[id].append)
        try:
            exchange.start(DENSE_ONLY, update(), ONES)
            self.ends[id] = self._trainers[id](exchange)
        except BaseException as error:
            self.ends[id] = error
            exchange.close(f"{type(error).__name__}: {error}")
        else:
            exchange.close()

    def end(self) -> None:
        self.disk.may_go_on.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)


def step(exchange: RemoteExchange) -> int:
    exchange.begin_pass(0)
    return exchange.step(ONES, 1).version


def test_who_waits_for_the_first_values_hears_what_for(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand(start_pservers, 0, monkeypatch)
    stand.begin(step, step)
    until(lambda: any("writing its state" in text for text in stand.heard[1]), "trainer 1 to hear of it")
    stand.end()
    assert stand.ends == [1, 1]


def test_one_that_fails_meanwhile_ends_the_job_at_once(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand = Stand(start_pservers, 1, monkeypatch)

    def fail(exchange: RemoteExchange) -> None:
        step(exchange)
        assert stand.disk.is_at_it.wait(PATIENCE_S)
        raise ValueError("its data are gone")

    def go_on(exchange: RemoteExchange) -> int:
        return step(exchange) and exchange.step(ONES, 1).version

    stand.begin(go_on, fail)
    until(lambda: stand.ends[0] is not None, "trainer 0 to hear of it, though nothing was read")
    stand.end()
    assert "its data are gone" in str(stand.ends[0])


def test_what_waits_is_not_written_over() -> None:
    inlet = Inlet(cast(Shard, None), 1)
    inlet.is_closed = True
    for kind, meta in (encode(push()), encode(Part(1, (0,)))):
        with pytest.raises(BadMessage, match="before the last question was answered"):
            inlet.place(kind, memoryview(meta), 1200)


def test_what_came_on_a_connection_that_another_one_replaces_is_not_dealt_with() -> None:
    """Its trainer brings it again meanwhile, to the same place: a gradient that is added would be spoilt."""
    dealt: list[str] = []
    session = cast(Session, Mock(id=1))
    hub = Hub(Shard(ShardOptions(num_gradient_servers=1)), "a shard")
    hub._sessions[1], hub._inlets[1] = session, Inlet(hub.shard, 1)
    hub._standstill.begin(NO_COPY)
    hub.received(session, Inbound(push(), decode=lambda: dealt.append("it")))
    hub._do([Close(1)])
    hub._standstill.end()
    assert not dealt


def test_what_was_read_is_kept_aside_no_more_though_it_is_not_on_the_disk(start_pservers: Start) -> None:
    """A table goes on while the file is flushed, in no memory for copies."""
    flushing, may_end = threading.Event(), threading.Event()

    class Flushing(Disk):
        def save(self, state: State) -> None:
            super().save(state)
            if state.facts.version == 1:
                flushing.set()
                assert may_end.wait(PATIENCE_S)

    disk = Flushing(-1)
    pservers = start_pservers(ports_num_for_sparse=1, kept=disk, cut_limit_bytes=0)

    def run(exchange: Exchange) -> None:
        exchange.start(MODEL, update("adam"), VALUES)
        for number in range(1, STEPS + 1):
            exchange.step(gradients(number), 1)
            if number == 1:
                assert flushing.wait(PATIENCE_S)
            table = pservers.hubs[1].shard.tables
            assert table is not None
            kept.append(len(table.table("emb")._frozen.now()))
        may_end.set()

    kept: list[int] = []
    pservers.train(run)
    assert kept[1:] == [0] * (STEPS - 1)


def test_for_how_long_somebody_waited_is_that_of_the_last_one() -> None:
    asked = Asked()
    asked.standstill.begin(NO_COPY)
    asked.ask(1, push())
    asked.standstill.end()
    assert asked.standstill.stood_s > 0
    asked.standstill.begin(None)
    assert asked.standstill.stood_s == 0 and not asked.ask(1, push())
