"""An attempt to come to a shard that arrives when nobody wants it any more."""

from __future__ import annotations

import socket
import threading

import pytest

from paddle._pserver.errors import ShardUnreachable
from paddle._pserver.trainer import approach
from paddle._pserver.trainer.approach import Approach, Arrived
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from tests.waiting import PATIENCE_S


@pytest.fixture
def ends() -> tuple[socket.socket, socket.socket]:
    here, there = socket.socketpair()
    there.settimeout(PATIENCE_S)
    return here, there


def client() -> Client:
    return Client("127.0.0.1", 1, "dense shard", call_timeout_s=1.0, notice=lambda text: None)


def test_whoever_arrives_after_its_time_says_nothing(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    until = Deadline(60.0)

    def attempt(self: Approach, deadline: float) -> Arrived:
        until.end()  # another shard has refused this trainer
        return Arrived(ends[0], can_damage=False)

    monkeypatch.setattr(Approach, "attempt", attempt)
    with pytest.raises(ShardUnreachable):
        client().connect(until)
    assert ends[1].recv(1) == b"", "closed without a word"
    ends[1].close()


def test_a_connection_that_comes_after_all_was_closed_is_closed(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    comes = client()

    def attempt(self: Approach, deadline: float) -> Arrived:
        comes.close()
        return Arrived(ends[0], can_damage=False)

    monkeypatch.setattr(Approach, "attempt", attempt)
    comes.connect(Deadline(60.0))
    assert ends[1].recv(1) == b""
    assert comes.is_broken()
    ends[1].close()


class Clock:
    """Time passes where somebody sleeps. ``sleeps``: how long, each time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def test_who_starts_in_the_same_moment_is_tried_often_and_who_does_not_come_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def attempt(self: Approach, deadline: float) -> Arrived:
        raise ConnectionRefusedError

    clock = Clock()
    monkeypatch.setattr(Approach, "attempt", attempt)
    monkeypatch.setattr(approach, "time", clock)
    with pytest.raises(ShardUnreachable):
        client().connect(Deadline(10.0, clock.monotonic))
    assert len([each for each in clock.sleeps[:25] if each < 0.1]) >= 20
    assert {round(each, 3) for each in clock.sleeps[-20:-1]} == {0.2}


def test_all_addresses_of_a_host_have_one_time_together(monkeypatch: pytest.MonkeyPatch) -> None:
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    place = full.getsockname()
    waiting = [socket.socket() for _ in range(4)]  # so that the next connection is not taken
    for each in waiting:
        each.setblocking(False)
        each.connect_ex(place)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place)] * 50
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **named: found)
    tried: list[float] = []
    settimeout = socket.socket.settimeout

    def noting(sock: socket.socket, value: float | None) -> None:
        if threading.current_thread() is threading.main_thread():  # else of an earlier test
            tried.append(value or 0.0)
        settimeout(sock, value)

    monkeypatch.setattr(socket.socket, "settimeout", noting)
    with pytest.raises(TimeoutError):
        approach._connected(("a.host", 1), approach.time.monotonic() + 0.2)
    assert len(tried) <= 1, "no time was left for the others"
    for each in (full, *waiting):
        each.close()
