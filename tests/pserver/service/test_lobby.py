"""Connections that are nobody's yet: how long, how many, and whose oldest has to go."""

from __future__ import annotations

import asyncio
import errno
import http.client
import logging
import socket
import struct
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.service import lobby
from paddle._pserver.service.refusals import Refusals
from paddle._pserver.trust.auth import Token
from tests.collecting import collecting_nothing
from tests.waiting import PATIENCE_S, until

from ..conftest import ONES, Pservers, Start, free_ports, start


@pytest.fixture
def opened() -> Iterator[Callable[..., socket.socket]]:
    """``opened(pservers, source)``: a connection from an address of this machine."""
    with ExitStack() as stack:

        def open(pservers: Pservers, source: str = "127.0.0.1") -> socket.socket:
            place = ("127.0.0.1", pservers.port)
            return stack.enter_context(socket.create_connection(place, PATIENCE_S, (source, 0)))

        yield open


def is_closed(connection: socket.socket) -> bool:
    """Wait for its end."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        return True
    return True


def is_served(connection: socket.socket) -> bool:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    return connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def all_of(connection: socket.socket) -> bytes:
    """What comes, to its end."""
    heard = b""
    try:
        while data := connection.recv(4096):
            heard += data
    except ConnectionResetError:  # what was sent is not all read on the other side
        pass
    return heard


def reset(connection: socket.socket) -> None:
    """Close it so that the other side is told at once."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("2i", 1, 0))
    connection.close()


def callers(pservers: Pservers) -> int:
    return len(pservers.lobbies[0]._callers)


def test_who_says_nothing_is_closed(
    start_pservers: Start, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "FIRST_S", 0.05)
    pservers = start_pservers()
    assert is_closed(opened(pservers))
    until(lambda: callers(pservers) == 0, "the lobby to have 0")


def test_who_does_not_end_what_it_says_is_closed_and_a_session_is_not(
    start_pservers: Start, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "PATIENCE_S", 0.2)
    pservers = start_pservers()
    trainer = pservers.exchange(0)
    start(trainer)
    slow = opened(pservers)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
    assert is_closed(slow)
    until(lambda: callers(pservers) == 0, "the lobby to have 0")
    assert trainer.step(ONES, 1).version == 1, "its time in the lobby is long over"
    trainer.close()


def test_who_fills_the_lobby_fills_it_for_itself(
    start_pservers: Start, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "MAX_CALLERS", 6)  # and two for the trainer
    pservers = start_pservers()
    other = opened(pservers, "127.0.0.9")
    until(lambda: callers(pservers) == 1, "the lobby to have 1")
    crowd = [opened(pservers) for _ in range(20)]
    for connection in crowd[:13]:
        assert is_closed(connection)
    assert callers(pservers) == 8
    assert all(is_served(connection) for connection in crowd[13:])
    assert is_served(other), "it is the oldest of all, and of another host"
    trainer = pservers.exchange(0)
    start(trainer)
    trainer.close()


def test_a_session_takes_no_place(
    start_pservers: Start, opened: Callable[..., socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "MAX_CALLERS", 2)
    pservers = start_pservers(num_gradient_servers=8)
    trainers = [opened(pservers) for _ in range(18)]
    for trainer in trainers:
        upgrade = f"Connection: Upgrade\r\nUpgrade: {UPGRADE}\r\n"
        trainer.sendall(f"GET {SESSION_PATH} HTTP/1.1\r\nHost: x\r\n{upgrade}\r\n".encode())
        assert trainer.recv(4096).startswith(b"HTTP/1.1 101 ")
    waiting = [opened(pservers) for _ in range(18)]
    assert all(is_served(connection) for connection in waiting)
    trainers[0].settimeout(0.05)
    with pytest.raises(TimeoutError):
        trainers[0].recv(1)


def test_of_those_who_have_left_no_more_is_kept_than_of_those_who_are_there(
    start_pservers: Start, opened: Callable[..., socket.socket]
) -> None:
    """However many come within the time that each of them is given."""
    pservers = start_pservers()
    for _ in range(3 * lobby.MAX_CALLERS):
        with opened(pservers) as connection:
            assert is_served(connection)
    few = lobby.MAX_CALLERS + 20
    until(
        lambda: pservers.call(lambda: len(asyncio.all_tasks())) < few, "those who have left to be forgotten"
    )


def test_of_one_that_is_forgotten_nothing_stays_though_nobody_collects(
    start_pservers: Start, opened: Callable[..., socket.socket]
) -> None:
    """Connections may break all the time, and a server that trains makes little garbage."""
    pservers = start_pservers()
    with opened(pservers) as connection:
        assert is_served(connection)

        def forgotten() -> weakref.ref[asyncio.Task[None]]:
            (caller,) = pservers.lobbies[0]._callers.values()
            caller.forget()
            assert caller.task is not None
            return weakref.ref(caller.task)

        with collecting_nothing():
            task = pservers.call(forgotten)
            until(lambda: task() is None, "its task to be gone")


def test_nothing_of_it_is_left_when_it_closes_not_even_of_one_that_has_just_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lobby, "MAX_CALLERS", 4)

    async def run() -> None:
        opened = lobby.Lobby(asyncio.Protocol, Refusals(logging.getLogger("paddle.pserver"), "shard"))
        (listener,) = free_ports(("127.0.0.1",), 1, is_given=True)
        place = listener.getsockname()
        opened.open(listener)
        with ExitStack() as stack:
            come = [stack.enter_context(socket.create_connection(place, PATIENCE_S)) for _ in range(9)]
            while opened._callers.keys() != {3, 4, 5, 6, 7, 8}:
                await asyncio.sleep(0)
            await opened.close()
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert not opened._callers
            assert all(is_closed(connection) for connection in come)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place, PATIENCE_S)

    asyncio.run(run())


def test_one_that_is_gone_when_it_is_answered_is_one_line_of_the_log(
    start_pservers: Start,
    opened: Callable[..., socket.socket],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    came, gone, look = threading.Event(), threading.Event(), lobby._first_byte

    async def late(sock: socket.socket) -> bytes:
        first = await look(sock)
        came.set()
        await asyncio.to_thread(gone.wait, PATIENCE_S)
        return first

    monkeypatch.setattr(lobby, "_first_byte", late)
    pservers = start_pservers()
    connection = opened(pservers)
    connection.sendall(lobby.FIRST_BYTE)
    assert came.wait(PATIENCE_S)
    reset(connection)
    gone.set()
    until(lambda: callers(pservers) == 0, "the lobby to have 0")
    told = [line for line in caplog.messages if "turned away" in line]
    assert [line.partition("127.0.0.1: ")[2] for line in told] == ["it speaks TLS, and this pserver does not"]


def test_one_that_breaks_off_is_told_by_what_it_did(
    start_pservers: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(sock: socket.socket) -> bytes:
        raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    monkeypatch.setattr(lobby, "_first_byte", broken)
    pservers = start_pservers()
    with socket.create_connection(("127.0.0.1", pservers.port)) as connection:
        assert is_closed(connection)
    assert "turned away a connection from 127.0.0.1: it broke off (Connection reset by peer)" in caplog.text


def test_who_comes_and_goes_is_no_news(
    start_pservers: Start, opened: Callable[..., socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    pservers = start_pservers()
    opened(pservers).close()
    until(lambda: callers(pservers) == 0, "the lobby to have 0")
    assert "turned away" not in caplog.text


def test_of_one_host_the_log_hears_only_so_often(
    start_pservers: Start, opened: Callable[..., socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    pservers = start_pservers()
    for _ in range(100):
        connection = opened(pservers)
        connection.sendall(lobby.FIRST_BYTE)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert 64 <= caplog.text.count("turned away a connection") < 100


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n", id="a header too long"),
        pytest.param(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", id="a path too long"),
        pytest.param(b"aaaa" * 4000 + b"\r\n\r\n", id="no method"),
        pytest.param(b"GET / HTTP/1.1\r\nX\x00: \xff\r\n\r\n", id="no header"),
    ],
)
def test_what_is_no_http_is_answered_in_few_words_and_the_log_hears_only_so_often(
    start_pservers: Start,
    opened: Callable[..., socket.socket],
    caplog: pytest.LogCaptureFixture,
    garbage: bytes,
) -> None:
    pservers = start_pservers(token=Token(b"t" * 40))
    for _ in range(100):
        connection = opened(pservers)
        connection.sendall(garbage)
        answer = all_of(connection)
        assert b" 400 " in answer[:16] and len(answer) < 300
    told = [record for record in caplog.records if record.name.startswith(("paddle", "aiohttp"))]
    assert 64 <= len(told) < 100
    assert all(len(record.getMessage()) < 200 and not record.exc_info for record in told)


def test_a_page_is_shown_over_a_connection_that_stays(start_pservers: Start) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", start_pservers().port, timeout=PATIENCE_S)
    for _ in range(3):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
    connection.close()
