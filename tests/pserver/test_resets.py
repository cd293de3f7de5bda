"""Connections that break, or bring damaged bytes, at any moment: a synchronous job ends as if nothing had."""

from __future__ import annotations

import random
import socket
import struct
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._launch.authority import Authority
from paddle._pserver.errors import (
    NotAuthorized,
    NotTrusted,
    ProtocolMismatch,
    PserverError,
    ShardUnreachable,
    Stale,
    StateLost,
)
from paddle._pserver.protocol.messages import Request, Seed
from paddle._pserver.shard.roster import Standing
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trust import handshake
from tests.collecting import collecting_nothing
from tests.waiting import until

from .conftest import DENSE_ONLY, ONES, TIMEOUT_S, Pservers, Start, free_ports, start, update
from .papers import ADDRESSES, Files
from .test_equality import assert_same, locally, trainer


class Proxy:
    """Passes on what comes to its port; harms it after so many bytes, again and again."""

    def __init__(
        self, listener: socket.socket, to: tuple[str, int], chances: random.Random, harm: str
    ) -> None:
        self.listener, self.to, self.chances, self.harm = listener, to, chances, harm
        self.harmed = 0
        self.harms_left = 12
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.to)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        left = self.chances.randrange(200, 60_000)
        with suppress(OSError):
            while data := one.recv(1 << 14):
                left -= len(data)
                if left < 0 and self.harms_left and len(data) > 300:
                    self.harms_left -= 1
                    self.harmed += 1
                    left = self.chances.randrange(200, 60_000)
                    data = self._harmed(data, one, other)
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _harmed(self, data: bytes, one: socket.socket, other: socket.socket) -> bytes:
        at = self.chances.randrange(len(data))
        if self.harm == "damage":
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        other.sendall(data[:at])
        for end in (one, other):  # closing them is a reset then
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise OSError("reset")


@contextmanager
def between(pservers: Pservers, seed: int, harm: str) -> Iterator[list[Proxy]]:
    """Proxies before all pservers; ``pservers.port`` is theirs then."""
    count = pservers.ports_num + pservers.ports_num_for_sparse
    listeners = free_ports(pservers.hosts, count)
    port, pservers.port = pservers.port, listeners[0].getsockname()[1]
    places = [(host, port + i) for host in pservers.hosts for i in range(count)]
    with ExitStack() as stack:
        for listener in listeners:
            stack.enter_context(closing(listener))
        chances = random.Random(seed)
        yield [Proxy(one, to, chances, harm) for one, to in zip(listeners, places, strict=True)]


@pytest.mark.parametrize("harm", ["reset", "damage"])
@pytest.mark.parametrize("seed", range(4))
def test_a_bad_network_changes_no_bit(start_pservers: Start, seed: int, harm: str) -> None:
    spec = update("momentum")
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1, num_gradient_servers=2)
    with between(pservers, seed, harm) as proxies:
        work = [trainer(id, spec, steps=10) for id in range(2)]
        first, second = pservers.train(*work)
        assert sum(proxy.harmed for proxy in proxies) > 2
    assert_same(first, second)
    assert_same(first, locally(spec, trainers=2, steps=10))


def cut(exchange: RemoteExchange, shards: int | None = None) -> None:
    """Break all connections, or those of so many shards, as a network does."""
    for shard in exchange._shards[:shards]:
        sock = shard.line.client._socket
        assert sock is not None
        sock.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("mode", [ModeSpec(), ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)])
def test_a_reset_between_steps_is_not_noticed(start_pservers: Start, mode: ModeSpec) -> None:
    pservers = start_pservers(ports_num=2)
    notices: list[str] = []

    def run(exchange: RemoteExchange) -> list[int]:
        arrays = exchange.start(DENSE_ONLY, update(mode=mode), ONES)
        versions = []
        for _ in range(3):
            versions.append(exchange.step(ONES, 1).version)
            cut(exchange)
        exchange.end_pass(0)
        assert arrays["w"][0] < 1
        return versions

    assert pservers.train(run, notice=notices.append) == [[1, 2, 3]]
    assert any("Trying to come back." in notice for notice in notices)
    assert any("the connection is back" in notice for notice in notices)


def damage_handshakes(monkeypatch: pytest.MonkeyPatch, *errors: PserverError) -> list[PserverError]:
    """Have the next handshakes fail so, the last first; gives those that have not failed yet."""
    left, upgrade = list(errors), handshake.upgrade

    def upgrading(*given: Any) -> None:
        if left:
            raise left.pop()
        upgrade(*given)

    monkeypatch.setattr(handshake, "upgrade", upgrading)
    return left


def test_a_handshake_that_is_damaged_is_tried_again(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pservers = start_pservers()
    exchange = pservers.exchange(0)
    start(exchange)
    damaged = damage_handshakes(
        monkeypatch,
        ProtocolMismatch("it answered 'HTTP/1.0 400 Bad Request'"),
        NotAuthorized("another token"),
    )
    cut(exchange)
    assert exchange.step(ONES, 1).version == 1
    assert not damaged
    exchange.close()
    assert pservers.statuses() == [0]


def test_a_first_handshake_that_is_damaged_is_tried_again(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pservers = start_pservers()
    damaged = damage_handshakes(
        monkeypatch,
        ProtocolMismatch("it answered 'HTTP/1.1 10! Switching Protocols'"),
        NotTrusted("a bad signature"),
    )
    assert pservers.train(start)
    assert not damaged


def test_one_that_may_not_come_back_ends_at_once(start_pservers: Start) -> None:
    pservers = start_pservers()
    exchange = pservers.exchange(0, reconnect_timeout_s=0)
    start(exchange)
    cut(exchange)
    with pytest.raises(ShardUnreachable):
        exchange.step(ONES, 1)
    exchange.close("it broke")


def test_a_pserver_that_was_started_anew_is_not_taken_for_the_old(start_pservers: Start) -> None:
    old, new = start_pservers(), start_pservers()
    exchange = old.exchange(0)
    start(exchange)
    exchange.step(ONES, 1)
    (line,) = [shard.line for shard in exchange._shards]
    line._make = new.exchange(0)._shards[0].line._make
    cut(exchange)
    with pytest.raises(StateLost, match=r"was started anew.*step 1.*--snapshot_dir"):
        exchange.step(ONES, 1)
    exchange.close("it lost its state")


def test_a_reset_among_the_initial_values_begins_them_again(start_pservers: Start) -> None:
    spec = update("momentum")
    pservers = start_pservers(ports_num_for_sparse=1)

    def run(exchange: RemoteExchange) -> dict[str, np.ndarray]:
        line = exchange._sparse[0].line
        send = line.send

        def sending(message: Request, body: Sequence[memoryview] = (), *, asking: str) -> None:
            if message == Seed("emb2"):  # the second table
                cut(exchange)
            send(message, body, asking=asking)

        line.send = sending  # type: ignore[method-assign]
        return trainer(0, spec)(exchange)

    assert_same(pservers.train(run)[0], locally(spec, trainers=1))


def test_a_trainer_that_waits_at_one_shard_to_begin_comes_back_to_another(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)
    other, is_back = pservers.hubs[1].shard, threading.Event()

    def first(exchange: RemoteExchange) -> None:
        assert is_back.wait(TIMEOUT_S)
        start(exchange)

    def second(exchange: RemoteExchange) -> None:
        threading.Thread(target=break_once_declared, args=(exchange,), daemon=True).start()
        start(exchange)

    def session() -> int | None:
        place = other.roster.trainers[1]
        return place.session if place.declared else None

    def break_once_declared(exchange: RemoteExchange) -> None:
        before = until(session, "it to declare")
        sock = exchange._shards[1].line.client._socket
        assert sock is not None
        sock.shutdown(socket.SHUT_RDWR)
        until(lambda: session() not in (None, before), "it to come back", TIMEOUT_S)
        is_back.set()

    pservers.train(first, second)


def test_a_pass_is_over_for_a_trainer_once_one_shard_has_said_so(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []

    def run(exchange: RemoteExchange) -> None:
        start(exchange)
        second = exchange._dense[1]
        hear = second.hear_values

        def hearing() -> Any:
            told.append(exchange._place.over)  # which a shard that went back is told
            return hear()

        monkeypatch.setattr(second, "hear_values", hearing)
        exchange.end_pass(0)

    start_pservers(ports_num=2).train(run)
    assert told == [1]


def test_a_replaced_process_fails_no_job_at_a_shard_that_has_not_met_the_newer_one(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a shard was begun again from a snapshot of before, or is met last."""
    monkeypatch.setattr("paddle._pserver.trainer.client._PARTING_S", 0.1)
    pservers = start_pservers(ports_num=2)
    first, second = (hub.shard for hub in pservers.hubs)
    exchange = pservers.exchange(0)
    exchange.start(DENSE_ONLY, update("sgd", mode=ModeSpec(name="async")), ONES)
    trainer = first.roster.trainers[0]
    trainer.past, trainer.incarnation = (trainer.incarnation,), "the newer"
    cut(exchange, shards=1)
    with pytest.raises(Stale, match="a newer process has trainer_id=0"):
        exchange.step(ONES, 1)
    exchange.close("Stale: as its program says, too")
    until(lambda: second.roster.trainers[0].state is Standing.LOST, "the second shard to miss it")
    assert pservers.call(lambda: (first.broken, second.broken)) == (None, None)


def test_of_a_connection_that_broke_nothing_stays_though_nobody_collects(
    start_pservers: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its buffers are large, and steps make so little garbage that collections are seldom."""
    papers = Files(tmp_path / "job", Authority("job", datetime.now(UTC)).issue(ADDRESSES))
    pservers = start_pservers(certificate=papers.certificate)
    connect = socket.socket.connect
    refuses: list[bool] = []

    def often_refused(sock: socket.socket, place: tuple[str, int]) -> None:
        if refuses and refuses.pop():
            raise ConnectionResetError("it was cut")
        connect(sock, place)

    def cut() -> None:
        for session in pservers.hubs[0]._sessions.values():
            session.abort()

    def work(exchange: RemoteExchange) -> None:
        start(exchange)
        (shard,) = exchange._dense
        for _ in range(3):
            client = shard.line.client
            was = [weakref.ref(client), weakref.ref(client._socket)]
            del client
            refuses.append(True)
            pservers.call(cut)
            exchange.step(ONES, 1)
            assert [each() for each in was] == [None, None]
            assert not refuses

    monkeypatch.setattr(socket.socket, "connect", often_refused)
    with collecting_nothing():
        pservers.train(work, tls_ca=str(papers.ca))


@pytest.mark.parametrize("is_back", [False, True])
def test_a_shard_that_did_not_know_whose_place_a_trainer_took_is_told_before_it_trains(
    start_pservers: Start, is_back: bool
) -> None:
    """One shard was started again, from before the replaced process came; which may be back there already."""
    pservers = start_pservers(ports_num=2)
    spec = update("sgd", mode=ModeSpec(name="async"))
    older, newer = pservers.exchange(0), pservers.exchange(0)
    older.start(DENSE_ONLY, spec, ONES)
    knows, forgot = (hub.shard.roster.trainers[0] for hub in pservers.hubs)
    process = knows.incarnation
    _lose_at(pservers, 0)
    if not is_back:
        _lose_at(pservers, 1)
        forgot.incarnation = ""
    with closing(newer):
        newer.start(DENSE_ONLY, spec, ONES)
        assert process in knows.past and process in forgot.past
        assert newer.step(ONES, 1).version == 1
        with pytest.raises(Stale):
            older.step(ONES, 1)


def _lose_at(pservers: Pservers, number: int) -> None:
    """A shard loses its only trainer, which does not notice."""
    hub = pservers.hubs[number]
    pservers.call(lambda: [session.abort() for session in hub._sessions.values()])
    (trainer,) = hub.shard.roster.trainers
    until(lambda: trainer.state is not Standing.JOINED, "it to be lost")
