"""What a launcher says to a server, line by line as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from paddle._pserver.protocol.messages import Goodbye
from paddle._pserver.service.ear import Ear, Word
from paddle._pserver.service.endpoint import EndpointOptions, _Served
from paddle._pserver.service.foundation import Foundation
from paddle._pserver.service.hub import Hub
from paddle._pserver.service.process import _heed, _serve
from paddle._pserver.shard.ending import Outcome
from paddle._pserver.shard.inlet import Inbound
from paddle._pserver.watcher import Unwatched
from tests.waiting import PATIENCE_S

from ..shard.test_arrival import joined
from ..talk import update


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ear, mouth = os.pipe()
    os.set_blocking(ear, False)
    yield ear, mouth
    os.close(ear)


def heard(ear: int, mouth: int, *pieces: bytes) -> list[Word]:
    """What is heard until nobody speaks any more."""
    words: list[Word] = []

    async def listen() -> None:
        listener = Ear(ear, words.append)
        listener.listen()
        for piece in pieces:
            os.write(mouth, piece)
            await asyncio.sleep(0)
            listener.read()
        os.close(mouth)
        listener.read()

    asyncio.run(listen())
    return words


def test_words_come_in_pieces_and_several_at_once(pipe: tuple[int, int]) -> None:
    pieces = (
        b'{"text": "it was killed", "trai',
        b'ner": 1, "goes_on": true}\n{"text": "b", "other": "c"}\n{"te',
    )
    killed = Word("it was killed", 1, goes_on=True)
    assert heard(*pipe, *pieces) == [killed, Word("b", other="c")]


def test_what_is_no_word_is_told_of_and_passed_over(
    pipe: tuple[int, int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "paddle.pserver"):
        assert heard(*pipe, b'nonsense\n{"trainer": 1}\n{"text": "b"}\n') == [Word("b")]
    assert caplog.text.count("cannot understand what the launcher says") == 2


def test_where_nobody_speaks_nothing_is_heard() -> None:
    asyncio.run(_nothing())


async def _nothing() -> None:
    ear = Ear(None, lambda word: pytest.fail("there is nobody"))
    ear.listen()
    ear.read()


def test_who_is_told_to_stop_hears_first_what_was_said_of_why_and_came_later(pipe: tuple[int, int]) -> None:
    ear, mouth = pipe
    said: list[str] = []
    hub: Any = SimpleNamespace(stop=said.append)

    async def stop() -> None:
        listener = Ear(ear, lambda word: said.append(word.text))
        _heed(listener, hub, os.getppid())
        os.write(mouth, b'{"text": "trainer-1 was killed"}\n')
        while len(said) < 2:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(stop(), PATIENCE_S))
    os.close(mouth)
    assert said == ["trainer-1 was killed", "the pserver was told to stop"]


def told_to_stop(hub: Hub, mouth: int) -> None:
    """The launcher says why, and who is told to stop because of that says goodbye, before either is read."""
    os.write(mouth, b'{"text": "pserver-1 was killed by SIGKILL", "other": "pserver-1"}\n')
    session: Any = SimpleNamespace(id=1, known=True)
    hub.received(session, Inbound(Goodbye("ToldToStop: by SIGTERM")))


def test_who_was_told_to_stop_is_not_blamed_where_the_launcher_has_said_of_why(pipe: tuple[int, int]) -> None:
    ear, mouth = pipe
    hub = Hub(joined(1, spec=update(), snapshots=None).shard, "dense shard 0")
    ground: Any = SimpleNamespace(
        hub=lambda options, name: (hub, None), open=lambda *of: contextlib.nullcontext(), gate=None
    )
    ends = _serve(
        hub.shard.options, [], hub.name, lambda: told_to_stop(hub, mouth), Unwatched(), [], ground, ear
    )
    assert asyncio.run(ends) == 1
    os.close(mouth)
    assert hub.shard.broken is not None
    assert hub.shard.broken.reason == "pserver-1 was killed by SIGKILL"
    assert hub.shard.broken.culprits == ()


def test_nor_is_it_by_any_shard_of_an_endpoint(pipe: tuple[int, int]) -> None:
    ear, mouth = pipe
    with contextlib.ExitStack() as endings:
        options = EndpointOptions(address="127.0.0.1", port=7164, trainers=2)
        served = _Served(options, Foundation(Unwatched(), None, None), endings, ear)
        told_to_stop([*served._hubs.values()][-1], mouth)
        assert served._fallen == Outcome(1, "the job is broken: pserver-1 was killed by SIGKILL")
    os.close(mouth)


def test_who_is_told_to_stop_by_the_end_of_its_parent_stops_at_once(pipe: tuple[int, int]) -> None:
    ear, mouth = pipe
    said: list[str] = []
    hub: Any = SimpleNamespace(stop=said.append)

    async def stop() -> None:
        _heed(Ear(ear, lambda word: said.append(word.text)), hub, os.getpid())
        assert said == ["the pserver was told to stop"]

    asyncio.run(stop())
    os.close(mouth)
