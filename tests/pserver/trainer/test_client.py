"""A trainer's end of a session, against servers that are silent, absent or something else."""

from __future__ import annotations

import contextlib
import io
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from paddle._pserver.errors import (
    ConnectionLost,
    NobodyListens,
    NotCounted,
    ProtocolMismatch,
    PserverError,
    ShardUnreachable,
    TrainerLost,
)
from paddle._pserver.protocol.framing import pieces
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    EndPass,
    Failure,
    Goodbye,
    Hello,
    Waiting,
    Welcome,
    encode,
    failure,
)
from paddle._pserver.protocol.paths import UPGRADE
from paddle._pserver.service.ports import listen
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import until

from ..conftest import TIMEOUT_S, start
from ..hurried import LONG_S, Hurried

TERMINAL = "\x1b]0;title\x07\x1b[2Jall\n\ris well\x9b1m"
LAST_WORDS = failure(TrainerLost("trainer 1 failed"))


@contextmanager
def silent(answer: bytes, *, ends: bool = False) -> Iterator[int]:
    """A server that answers every request with ``answer`` and then nothing, and keeps the connection open,
    or ends its side of it."""
    listener = listen("127.0.0.1", 0)
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            connection.recv(4096)
            connection.sendall(answer)
            if ends:
                connection.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in kept:
            connection.close()


def alone(port: int, **options: Any) -> RemoteExchange:
    return RemoteExchange(
        ["127.0.0.1"],
        port=port,
        ports_num=1,
        ports_num_for_sparse=0,
        num_gradient_servers=1,
        trainer_id=0,
        **options,
    )


def test_a_call_to_a_silent_server_ends_at_its_deadline() -> None:
    with silent(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()) as port:
        exchange = alone(port, call_timeout_s=0.2)
        began = time.monotonic()
        with pytest.raises(
            ShardUnreachable,
            match=rf"127.0.0.1:{port} was asked to let this trainer in, and no answer came within \d.*"
            r"paddle_pserver2\.INFO",
        ):
            start(exchange)
        exchange.close("gave up")
        assert time.monotonic() - began < TIMEOUT_S


def test_parting_from_a_server_that_reads_nothing_is_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.client._LAST_WORDS_S", 0.1)
    monkeypatch.setattr("paddle._pserver.trainer.client._PARTING_S", 0.1)
    with silent(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=600, notice=lambda text: None)
        client.connect(Deadline(TIMEOUT_S))
        assert client._socket is not None
        client._socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                client._socket.send(bytes(1 << 16))
        with pytest.raises(BlockingIOError):
            while True:
                client._socket.send(b"x")
        began = time.monotonic()
        client.say_goodbye(Goodbye())
        client.part()
        assert time.monotonic() - began < TIMEOUT_S


def test_a_server_that_was_given_up_is_not_heard_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.client._PARTING_S", 4 * TIMEOUT_S)
    with silent(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=0.1, notice=lambda text: None)
        client.connect(Deadline(TIMEOUT_S))
        client.send(Hello(PROTOCOL, 0, 1, "dense"), asking="to let this trainer in")
        with pytest.raises(ShardUnreachable, match="no answer came"):
            client.receive()
        began = time.monotonic()
        client.say_goodbye(Goodbye("gave up"))
        client.part()
        assert time.monotonic() - began < TIMEOUT_S


def test_replies_that_come_in_one_piece_are_all_heard() -> None:
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()
    frames = [pieces(*encode(message)) for message in (Waiting("waiting for others"), Welcome(600.0))]
    notices: list[str] = []
    with silent(head + b"".join(b"".join(group) for frame in frames for group in frame)) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=TIMEOUT_S, notice=notices.append)
        client.connect(Deadline(TIMEOUT_S))
        client.send(Hello(PROTOCOL, 0, 1, "dense"), asking="to let this trainer in")
        assert client.receive() == Welcome(600.0)
        client.close()
    assert notices == [
        f"shard at 127.0.0.1:{port} was asked to let this trainer in: it is waiting for others"
    ]


@pytest.mark.parametrize(
    ("last", "error", "says"),
    [
        (Waiting("waiting for others"), ConnectionLost, "closed"),
        (LAST_WORDS, TrainerLost, "trainer 1 failed"),
    ],
)
def test_the_end_of_a_connection_is_seen_behind_what_nobody_has_read(
    last: Any, error: type[PserverError], says: str
) -> None:
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()
    body = [memoryview(b"values that nobody needs")]
    frames = [*pieces(*encode(Answer(7)), body), *pieces(*encode(last))]
    with silent(head + b"".join(b"".join(group) for group in frames), ends=True) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=TIMEOUT_S, notice=lambda text: None)
        client.connect(Deadline(TIMEOUT_S))
        until(client.is_broken, "that it has ended is seen")
        with pytest.raises(error, match=says):
            client.hear_out()
        client.close()


def test_a_failure_is_heard_behind_an_answer_and_that_is_still_there_to_be_read() -> None:
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()
    body = b"values that somebody needs"
    frames = [*pieces(*encode(Answer(7)), [memoryview(body)]), *pieces(*encode(LAST_WORDS))]
    with silent(head + b"".join(b"".join(group) for group in frames)) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=TIMEOUT_S, notice=lambda text: None)
        client.connect(Deadline(TIMEOUT_S))

        def is_heard() -> bool:
            try:
                client.hear_ahead()
            except TrainerLost as error:
                return "trainer 1 failed" in str(error)
            return False

        until(is_heard, "the failure behind the answer to be heard")
        into = bytearray(len(body))
        assert client.answer([memoryview(into)]) == Answer(7)
        assert into == body
        client.close()


@pytest.mark.parametrize("said", [Waiting("waiting for others"), Failure("NotCounted", "ask anew")])
def test_what_is_for_whoever_asked_is_left_to_them(said: Any) -> None:
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()
    frames = [*pieces(*encode(said)), *pieces(*encode(Answer(7)))]
    with silent(head + b"".join(b"".join(group) for group in frames)) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=TIMEOUT_S, notice=lambda text: None)
        client.connect(Deadline(TIMEOUT_S))
        until(client._peek, "it to come")
        client.hear_ahead()
        with contextlib.suppress(NotCounted):
            client.answer()
        client.close()


@pytest.mark.parametrize("reply", [Failure("TrainerLost", TERMINAL), Failure(TERMINAL, TERMINAL)])
def test_what_a_pserver_tells_commands_no_terminal(reply: Failure) -> None:
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode()
    frames = [*pieces(*encode(Waiting(TERMINAL))), *pieces(*encode(reply))]
    notices: list[str] = []
    with silent(head + b"".join(b"".join(group) for group in frames)) as port:
        client = Client("127.0.0.1", port, "shard", call_timeout_s=TIMEOUT_S, notice=notices.append)
        client.connect(Deadline(TIMEOUT_S))
        client.send(Hello(PROTOCOL, 0, 1, "dense"), asking="to let this trainer in")
        with pytest.raises(PserverError) as told:
            client.receive()
        client.close()
    for text in (str(told.value), *notices):
        assert "all is well" in text and text.isprintable()


def test_a_shard_that_says_for_whom_it_waits_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times 300 s, with a deadline of 500 s."""
    passed_s = 0.0
    ours, theirs = socket.socketpair()
    moved = partial(Deadline, read=lambda: time.monotonic() + passed_s)
    monkeypatch.setattr("paddle._pserver.trainer.client.Deadline", moved)
    monkeypatch.setattr("paddle._pserver.trainer.deadline.MOST_S", 600)

    def say(message: Any) -> None:
        theirs.sendall(b"".join(b"".join(group) for group in pieces(*encode(message))))

    def notice(text: str) -> None:
        nonlocal passed_s
        passed_s += 300
        say(Waiting("waiting") if passed_s < 900 else Answer(1))

    client = Client("127.0.0.1", 1, "shard", call_timeout_s=500, notice=notice)
    client._socket = ours
    client.send(EndPass(0), asking="to end pass 0")
    say(Waiting("waiting"))
    assert client.answer() == Answer(1)
    client.close()
    theirs.close()


def test_another_service_on_the_port_is_told_apart_at_once() -> None:
    with (
        silent(b"HTTP/1.1 404 Not Found\r\n\r\n") as port,
        pytest.raises(ProtocolMismatch, match=r"is not a pserver of this release: it answered 'HTTP/1.1 404"),
    ):
        start(alone(port))


@pytest.fixture
def nobody() -> Iterator[int]:
    """The port of somebody that does not listen, and that nobody else has."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_connecting_waits_for_a_pserver_and_says_so_then_gives_up(nobody: int, hurried: Hurried) -> None:
    notices: list[str] = []
    with pytest.raises(ShardUnreachable, match=rf"no pserver answers at 127\.0\.0\.1:{nobody} after"):
        start(alone(nobody, connect_timeout_s=LONG_S, notice=notices.append))
    assert re.fullmatch(rf"waiting for pserver 127\.0\.0\.1:{nobody} for \d+ s", notices[0])


def test_one_that_listens_on_another_device_of_the_machine_is_told(
    nobody: int, hurried: Hurried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where ``paddle pserver --nics=eth0`` is started, and trainers look for it at 127.0.0.1."""
    monkeypatch.setattr("paddle._pserver.trust.nearby.elsewhere", lambda host, port: ["192.0.2.2"])
    notices: list[str] = []
    with pytest.raises(NobodyListens, match=r"One of this machine listens at 192\.0\.2\.2: its --nics"):
        start(alone(nobody, connect_timeout_s=LONG_S, notice=notices.append))
    elsewhere = r"\(one of this machine listens at 192\.0\.2\.2\)"
    assert re.fullmatch(rf"waiting for pserver 127\.0\.0\.1:{nobody} for \d+ s {elsewhere}", notices[0])


class Parts(io.StringIO):
    """Standard error that is not buffered: each of ``written`` is there at once."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def write(self, text: str) -> int:
        self.written.append(text)
        return len(text)


def test_each_notice_is_a_line_whichever_other_shard_has_one_too(
    nobody: int, hurried: Hurried, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts()
    monkeypatch.setattr(sys, "stderr", parts)
    with pytest.raises(ShardUnreachable):
        start(alone(nobody, connect_timeout_s=LONG_S))
    said = [part for part in parts.written if part]
    assert said
    assert all(part.startswith("waiting for pserver ") and part.endswith("\n") for part in said)


@pytest.mark.parametrize("insists", [False, True])
def test_who_gives_up_at_once_is_not_told_to_wait_longer(
    nobody: int, hurried: Hurried, insists: bool
) -> None:
    client = Client("127.0.0.1", nobody, "shard", call_timeout_s=1, notice=lambda text: None)
    with pytest.raises(NobodyListens) as raised:
        client.connect(hurried.deadline(), insists=insists)
    assert f"no pserver answers at 127.0.0.1:{nobody}" in str(raised.value)
    assert ("raise connect_timeout" in str(raised.value)) is insists
