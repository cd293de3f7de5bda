"""Calls on a connection wait in the kernel: not for ever, and not longer than they must."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from paddle._pserver.protocol import link

_MUCH = bytes(1 << 16)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with closing(one), closing(other):
        for end in (one, other):
            link.tune(end)
            link.wait_at_most(end, 0.05)
        yield one, other


def fill(sock: socket.socket) -> int:
    """Send until nothing more is taken; how much was."""
    sent = 0
    with pytest.raises(BlockingIOError):
        while True:
            sent += sock.send(_MUCH)
    return sent


def test_nothing_is_waited_for_longer_than_told(ends: tuple[socket.socket, socket.socket]) -> None:
    one, _ = ends
    with pytest.raises(BlockingIOError):
        one.recv(1)
    assert fill(one) > 1 << 18


def test_no_time_at_all_is_not_for_ever(ends: tuple[socket.socket, socket.socket]) -> None:
    one, _ = ends
    link.wait_at_most(one, 0.0)
    with pytest.raises(BlockingIOError):
        one.recv(1)


def test_who_sends_goes_on_with_the_first_room_there_is(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    left = fill(one) // 4
    while left > 0:
        left -= len(other.recv(min(left, 1 << 16)))
    assert (
        one.send(_MUCH) > 0
    )  # a socket with a timeout of Python's would wait until it is three quarters empty
