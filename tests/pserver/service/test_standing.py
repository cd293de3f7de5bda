"""A state that cannot be copied is read where it lies, and what would change it waits for that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from paddle._engine.exchange import AverageSpec, Exchange
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import BadMessage
from paddle._pserver.options import ServerOptions, SnapshotOptions
from paddle._pserver.protocol.messages import Declare, Goodbye, Hello, PullRows, Push, Save
from paddle._pserver.service.orders import cut_memory_for, memory_for
from paddle._pserver.service.session import Session
from paddle._pserver.service.standing import Standing
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.inlet import Inbound
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.saving import WORD_S
from paddle._pserver.shard.state import State
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.streamed import Streamed, pieces
from paddle._pserver.trainer.local import LocalExchange
from tests.waiting import PATIENCE_S, until

from ..conftest import BIAS, TABLE, Start, update, values_of

MODEL = (BIAS, TABLE)
VALUES = values_of(MODEL, 3)
STEPS = 6


class Disk:
    """Snapshots that are made in memory. That of version 1 lasts until it is told to go on."""

    def __init__(self) -> None:
        self.states: dict[int, dict[str, bytes]] = {}
        self.streamed: set[bool] = set()
        self.is_at_it, self.may_go_on = threading.Event(), threading.Event()

    def save(self, state: State) -> None:
        arrays: dict[str, bytes] = {}
        for name, array in state.arrays.items():
            is_large = "rates" not in name
            self.streamed |= {isinstance(array, Streamed)} if is_large else set()
            if state.facts.version == 1:
                self.is_at_it.set()
                assert self.may_go_on.wait(PATIENCE_S)
            arrays[name] = b"".join(piece.tobytes() for piece in pieces(array))
        self.states.setdefault(state.facts.version, {}).update(arrays)  # of both shards

    def state_of(self, version: int) -> State:
        raise AssertionError("nobody goes back")


def gradients(step: int) -> dict[str, Any]:
    random = np.random.default_rng(step)
    ids = np.unique(random.integers(0, 50, 5))
    rows = SparseRows(ids, random.standard_normal((len(ids), 6), np.float32), 50)
    return {"b": random.standard_normal(60, np.float32), "emb": rows}


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
        until(lambda: all(hub._standing.is_so for hub in pservers.hubs), "both shards to stand")
        until(lambda: any(hub._standing._held for hub in pservers.hubs), "the next step to be asked for")
        seen.append((taken[0], [hub.shard.clocks.version for hub in pservers.hubs]))
        disk.may_go_on.set()

    seen: list[Any] = []
    watcher = threading.Thread(target=watch)
    watcher.start()
    pservers.train(run)
    watcher.join(PATIENCE_S)
    assert seen == [(1, [1, 1])]
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

    def __init__(self, *then: CutRoom) -> None:
        self.dealt: list[tuple[int, Any]] = []
        self._then = list(then)
        self.standing = Standing(self._deal)

    def _deal(self, session: Session, inbound: Inbound) -> None:
        self.dealt.append((cast(int, session), inbound.message))
        if self._then:
            self.standing.begin(self._then.pop(0))

    def ask(self, session: int, message: Any) -> bool:
        return self.standing.holds(cast(Session, session), Inbound(message))


NO_COPY = CutRoom(copies=False)


def push(step: int = 1) -> Push:
    return Push(step, 0, 1)


def test_what_changes_values_waits_in_the_order_in_which_it_came() -> None:
    asked = Asked()
    assert not asked.ask(1, push())
    asked.standing.begin(NO_COPY)
    waits: Sequence[Any] = (push(), PullRows(()), Goodbye())
    assert [asked.ask(number, message) for number, message in enumerate(waits)] == [True] * 3
    goes_on: Sequence[Any] = (Save(), Hello(0, "", "dense", 1), Declare((), update("sgd"), 0, 1))
    assert [asked.ask(9, message) for message in goes_on] == [False] * 3
    with pytest.raises(BadMessage, match="Push came before the last question was answered"):
        asked.ask(0, push(2))
    asked.standing.lost(cast(Session, 1))
    asked.standing.end()
    assert asked.dealt == [(0, waits[0]), (2, waits[2])]
    assert not asked.ask(1, push())


def test_the_next_state_may_be_read_with_what_waited_for_the_last() -> None:
    asked = Asked(NO_COPY)
    asked.standing.begin(NO_COPY)
    for number in (1, 2, 3):
        assert asked.ask(number, push())
    asked.standing.end()
    assert [number for number, _ in asked.dealt] == [1]
    assert asked.standing.is_so
    asked.standing.end()
    assert [number for number, _ in asked.dealt] == [1, 2, 3]


def test_a_copy_for_which_room_gets_short_is_waited_for_too() -> None:
    asked, room = Asked(), CutRoom(lambda: 100)
    asked.standing.begin(room)
    room.take(75)
    assert not asked.ask(1, push())
    room.take(1)
    assert asked.ask(1, push())


def test_who_waits_hears_so_every_few_seconds() -> None:
    asked, now = Asked(), 100.0
    asked.standing.begin(NO_COPY)
    assert asked.standing.waiting(now) == []
    asked.ask(1, push())
    asked.ask(2, push())
    assert asked.standing.waiting(now + WORD_S / 2) == []
    assert asked.standing.waiting(now + WORD_S) == [1, 2]
    assert asked.standing.waiting(now + 1.5 * WORD_S) == []
    assert asked.standing.waiting(now + 2 * WORD_S) == [1, 2]


def test_nobody_is_given_up_while_what_he_pushed_may_wait_itself() -> None:
    barrier, roster = Barrier(10), Roster(2)
    barrier.add(1, push(), 0)
    barrier.stands = True
    assert barrier.verdict(roster, 11) is None and barrier.notice(roster, 11, lambda _: "") is None
    barrier.stands = False
    assert "missing trainer 0" in str(barrier.verdict(roster, 11))


def test_parameters_have_what_snapshots_leave() -> None:
    def shares(limit: int, of_snapshots: int | None) -> tuple[int, int]:
        kept = SnapshotOptions(folder="kept", memory_bytes=of_snapshots)
        told = ServerOptions(addresses=("here",), memory_limit_bytes=limit, snapshots=kept)
        return memory_for(told, 2), cut_memory_for(told, 2)

    assert shares(1000, None) == (250, 250)
    assert shares(1000, 0) == (500, 0)
    assert shares(1000, 200) == (400, 100)
    with pytest.raises(ValueError, match="--snapshot_memory must be less than --memory_limit"):
        shares(1000, 1000)


def test_for_how_long_somebody_waited_is_that_of_the_last_one() -> None:
    asked = Asked()
    asked.standing.begin(NO_COPY)
    asked.ask(1, push())
    asked.standing.end()
    assert asked.standing.stood_s > 0
    asked.standing.begin(None)
    assert asked.standing.stood_s == 0 and not asked.ask(1, push())
