"""A loop with a selector that stays awake does what any loop does, and its shard finds what comes at once."""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from paddle._pserver.protocol import vigil
from paddle._pserver.service.wakeful_selector import WakefulSelector


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield mine, theirs


def test_what_is_there_is_found_and_what_is_not_ends_with_its_time(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    mine, theirs = pair
    with (
        WakefulSelector() as selector,
        patch.object(vigil, "ROUND_S", 60.0),
        patch.object(vigil, "MANY", 1),
    ):  # every wait but the first is awake
        key = selector.register(mine, selectors.EVENT_READ, "a")
        assert selector.select(0) == []
        theirs.send(b"x")
        for timeout in (None, 5.0, 0, -1.0):
            assert selector.select(timeout) == [(key, selectors.EVENT_READ)]
    with WakefulSelector() as selector:
        selector.register(theirs, selectors.EVENT_READ)
        assert [selector.select(0.001) for _ in range(3)] == [[], [], []]


def test_a_loop_has_its_timers_and_its_threads_heard_while_it_is_awake() -> None:
    async def run() -> list[str]:
        loop, heard = asyncio.get_running_loop(), []
        for turn in range(50):
            await asyncio.sleep(0)
            loop.call_later(1e-5, heard.append, f"timer {turn}")
            await asyncio.to_thread(heard.append, f"thread {turn}")
            await asyncio.sleep(2e-5)
        return sorted(heard)

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(WakefulSelector())) as runner:
        assert runner.run(run()) == sorted(
            f"{who} {turn}" for turn in range(50) for who in ("timer", "thread")
        )
