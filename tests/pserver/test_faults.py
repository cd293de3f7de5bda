"""What goes wrong between trainers and pservers, on real loopback sockets: it is told, and nothing hangs."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, ScheduleSpec
from paddle._pserver.errors import (
    ChecksumMismatch,
    DuplicateTrainer,
    ShardUnreachable,
    SparsePortsMissing,
    TrainerCountMismatch,
    TrainerIdOutOfRange,
    TrainerLost,
    WrongPort,
)
from paddle._pserver.protocol.framing import pieces
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    Hello,
    Push,
    Seed,
    encode,
)
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import PATIENCE_S, until

from .conftest import DENSE_ONLY, MODEL, ONES, TIMEOUT_S, Pservers, Start, start, update, values_of
from .hurried import LONG_S, Hurried


@pytest.mark.parametrize(
    ("change", "error", "saying"),
    [
        ({"num_gradient_servers": 3}, TrainerCountMismatch, "num_gradient_servers=1"),
        ({"trainer_id": 1}, TrainerIdOutOfRange, "trainer_id=1 is not in 0..0"),
        ({"ports_num": 2, "ports_num_for_sparse": 0}, WrongPort, "ports_num_for_sparse"),
    ],
)
def test_a_trainer_started_wrongly_is_told_why(
    start_pservers: Start, change: dict[str, Any], error: type[Exception], saying: str
) -> None:
    pservers = start_pservers(ports_num=1, ports_num_for_sparse=1)
    exchange = pservers.exchange(**({"trainer_id": 0} | change))
    with pytest.raises(error, match=saying):
        start(exchange)
    exchange.close("refused")
    assert pservers.train(start)  # and the pservers serve the right one


def test_the_same_id_twice_is_told_to_the_second(start_pservers: Start) -> None:
    pservers = start_pservers()
    first, second = pservers.exchange(0), pservers.exchange(0)
    start(first)
    with pytest.raises(DuplicateTrainer, match=r"dense shard at .* trainer_id=0 is taken"):
        start(second)
    second.close("refused")
    assert first.step(ONES, 1).version == 1
    first.close()
    assert pservers.statuses() == [0]


def test_a_sparse_parameter_without_sparse_ports_names_parameter_and_flag_on_both_sides(
    start_pservers: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.remote._WORD_S", PATIENCE_S)
    pservers = start_pservers()

    def run(exchange: Exchange) -> None:
        exchange.start(MODEL, update(), values_of(MODEL, 0))

    with pytest.raises(SparsePortsMissing, match=r"'emb'.*--ports_num_for_sparse=1"):
        pservers.train(run)
    told = "trainer 0 at 127.0.0.1:[0-9]+ could not start: SparsePortsMissing: .*--ports_num_for_sparse=1"
    until(lambda: re.search(told, caplog.text) is not None, "the pserver to say who could not start, and why")
    (said,) = [record for record in caplog.records if "could not start" in record.getMessage()]
    assert said.levelname == "WARNING", "it is seen without a log file, too"
    pservers.train(start)


def test_a_trainer_whose_connection_breaks_ends_the_others_after_the_timeout(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("paddle._pserver.shard.barrier.FIRST_NOTICE_S", 0.0)
    monkeypatch.setattr("paddle._pserver.service.hub.TICK_S", 0.1)
    notices: list[str] = []
    pservers = start_pservers(num_gradient_servers=2)
    broken = threading.Event()
    waited = "was asked to take the gradient of step 2: it is waiting "

    def good(exchange: Exchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        broken.wait()
        with pytest.raises(TrainerLost, match=r"missing trainer 1 \(its connection from .* broke"):
            exchange.step(ONES, 1)

    def bad(exchange: RemoteExchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        for shard in exchange._shards:
            shard.line.close()
        broken.set()
        until(
            lambda: any(waited in notice and "for trainer 1 (" in notice for notice in notices),
            "trainer 0 to be told for whom it waits",
        )
        pservers.lose_patience(pservers.hubs[0])

    pservers.train(good, bad, notice=notices.append)
    assert pservers.statuses() == [1]
    assert "1 trainers waiting " in caplog.text


def test_a_pserver_that_stops_says_so_to_waiting_trainers(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    exchange = pservers.exchange(0)
    start(exchange)
    pservers.call(lambda: pservers.hubs[0].stop("the pserver was told to stop"))
    with pytest.raises(TrainerLost, match="the pserver was told to stop"):
        exchange.step(ONES, 1)
    exchange.close("it stopped")


def test_an_error_inside_a_shard_ends_the_job_for_all_at_once_and_blames_no_trainer(
    start_pservers: Start, caplog: pytest.LogCaptureFixture
) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    growing = ScheduleSpec(name="discexp", learning_rate=0.1, decay_a=1.5, decay_b=1)

    def run(exchange: Exchange) -> None:
        exchange.start(DENSE_ONLY, replace(update(), schedule=growing), ONES)
        with pytest.raises(TrainerLost, match=r"internal error: OverflowError.*paddle_pserver2\.INFO"):
            exchange.step(ONES, 100_000)  # 1.5 ** 200_000

    pservers.train(run, run)
    assert pservers.statuses() == [1]
    assert "Traceback" in caplog.text
    assert "lost trainer" not in caplog.text.split("internal error", 1)[0]


def test_shards_that_have_not_applied_the_same_steps_are_named(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2)

    def run(exchange: Exchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        pservers.call(lambda: setattr(pservers.hubs[1].shard.clocks, "version", 7))
        with pytest.raises(
            ExchangeError, match=rf"127.0.0.1:{pservers.port}: 2, .*:{pservers.port + 1}: 8\)"
        ):
            exchange.step(ONES, 1)

    pservers.train(run)


# Damage.


@pytest.fixture
def damaged(start_pservers: Start) -> Iterator[tuple[Pservers, Client]]:
    """A pserver that is ready, and the client of its only trainer."""
    pservers = start_pservers()
    client = Client("127.0.0.1", pservers.port, "shard", call_timeout_s=TIMEOUT_S, notice=lambda text: None)
    client.connect(Deadline(TIMEOUT_S))
    client.send(Hello(PROTOCOL, 0, 1, "dense"), asking="hello")
    client.receive()
    client.send(Declare(DENSE_ONLY, update(), 0, 1), asking="declare")
    client.receive()
    client.send(Seed(), [ONES["w"].view(np.uint8).data], asking="seed")
    client.answer()
    yield pservers, client
    client.close()


def test_a_damaged_push_closes_the_session_and_leaves_the_parameters(
    damaged: tuple[Pservers, Client], caplog: pytest.LogCaptureFixture
) -> None:
    pservers, client = damaged
    kind, meta = encode(Push(1, 0, 1))
    frame = bytearray(b"".join(b"".join(g) for g in pieces(kind, meta, [ONES["w"].view(np.uint8).data])))
    frame[600] ^= 4
    assert client._socket is not None
    with caplog.at_level(logging.ERROR, "paddle.pserver"):
        client._socket.sendall(frame)
        with pytest.raises(ChecksumMismatch, match="damaged on the way"):
            client.receive()
        with pytest.raises(ShardUnreachable, match="closed the connection"):
            client.receive()
    assert "ChecksumMismatch" in caplog.text
    shard = pservers.hubs[0].shard
    assert shard.tables is not None
    assert shard.tables.values.tolist() == [1.0] * 300
    assert shard.clocks.version == 0
    assert pservers.hubs[0].damaged_frames == 1


@pytest.mark.parametrize("data", [b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n" * 4, b"PDPS" + b"\xff" * 60])
def test_bytes_that_are_no_frame_close_one_session_only(start_pservers: Start, data: bytes) -> None:
    pservers = start_pservers()
    client = Client("127.0.0.1", pservers.port, "shard", call_timeout_s=TIMEOUT_S, notice=lambda text: None)
    client.connect(Deadline(TIMEOUT_S))
    assert client._socket is not None
    client._socket.sendall(data)
    with pytest.raises(Exception, match=r"protocol|damaged"):
        client.receive()
    client.close()
    assert pservers.train(start)


def test_a_trainer_that_reads_slowly_gets_everything(start_pservers: Start) -> None:
    """Answers that exceed all socket buffers are sent as the reader takes them."""
    model = (ParameterSpec(name="w", shape=(4 << 20,)),)
    values = values_of(model, 0)
    pservers = start_pservers(num_gradient_servers=2)
    read = threading.Event()

    def slow(exchange: RemoteExchange) -> np.ndarray:
        arrays = exchange.start(model, update("sgd"), values)
        exchange._dense[0].ask_values()
        read.wait()
        assert isinstance(exchange._dense[0].hear_values(), Answer)
        return arrays["w"]

    def fast(exchange: RemoteExchange) -> np.ndarray:
        arrays = exchange.start(model, update("sgd"), values)
        exchange.fetch()
        read.set()
        return arrays["w"]

    for result in pservers.train(slow, fast):
        assert result.tobytes() == values["w"].tobytes()


def test_a_crowd_that_never_says_hello_is_bounded_and_a_trainer_comes_in_after_it(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, hurried: Hurried
) -> None:
    monkeypatch.setattr("paddle._pserver.service.hub.MAX_STRANGERS", 1)
    pservers = start_pservers()
    crowd = [Client("127.0.0.1", pservers.port, "s", call_timeout_s=9, notice=lambda _: None) for _ in "abc"]
    for stranger in crowd[:2]:
        stranger.connect(Deadline(TIMEOUT_S))
    with pytest.raises(ShardUnreachable, match="crowded"):
        crowd[2].connect(hurried.deadline())
    for stranger in crowd:
        stranger.close()
    assert pservers.train(start)


def test_a_shard_that_is_up_hears_hello_while_the_trainer_waits_for_another(
    start_pservers: Start, hurried: Hurried
) -> None:
    pservers = start_pservers()
    joined = threading.Event()
    trainers = pservers.hubs[0].shard.roster.trainers

    def waiting(text: str) -> None:
        until(lambda: pservers.call(lambda: trainers[0].session) is not None, "the other shard to hear it")
        joined.set()

    exchange = pservers.exchange(0, ports_num=2, connect_timeout_s=LONG_S, notice=waiting)
    with pytest.raises(ShardUnreachable, match=f":{pservers.port + 1} after"):
        start(exchange)
    exchange.close("it could not start")
    assert joined.is_set()
    assert pservers.train(start)


def test_one_that_comes_while_another_begins_to_train_alone_is_no_sign_of_old_snapshots(
    start_pservers: Start,
) -> None:
    """Its first shard was not ready when it said hello there, its second one has steps of the other."""
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)
    spec = update("sgd", mode=ModeSpec(name="async"))
    model, ones = (ParameterSpec(name="w", shape=(5000,)),), {"w": np.ones(5000, np.float32)}
    is_in, has_pushed = threading.Event(), threading.Event()

    def first(exchange: RemoteExchange) -> None:
        assert is_in.wait(TIMEOUT_S)
        exchange.start(model, spec, ones)
        exchange.step(ones, 1)
        has_pushed.set()

    def second(exchange: RemoteExchange) -> None:
        line, trainers = exchange._dense[1].line, pservers.hubs[0].shard.roster.trainers
        connect = line.connect

        def late(deadline: Deadline) -> None:
            while pservers.call(lambda: trainers[1].session) is None:
                assert deadline.left_s()
            is_in.set()
            assert has_pushed.wait(TIMEOUT_S)
            connect(deadline)

        line.connect = late  # type: ignore[method-assign]
        exchange.start(model, spec, ones)
        assert exchange.step(ones, 1).version == 2

    pservers.train(first, second)
