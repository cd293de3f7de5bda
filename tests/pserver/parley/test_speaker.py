"""Processes of a job meet with their token, wait for those that live, or hear who is missing, and where."""

from __future__ import annotations

import itertools
import math
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from paddle._pserver.parley.errors import HostUnreachable, NotOfThisJob, OtherWorld, RankMissing
from paddle._pserver.parley.host import Host
from paddle._pserver.parley.line import Line
from paddle._pserver.parley.messages import Here, Seat
from paddle._pserver.parley.presence import Presence
from paddle._pserver.parley.speaker import Speaker
from paddle._pserver.tasks.handshake import Proof
from paddle._pserver.trust.auth import Token
from tests.together import together
from tests.waiting import PATIENCE_S, until

Place = tuple[str, int]


@contextmanager
def hosting(**options: Any) -> Iterator[Place]:
    host = Host(**options)
    yield host.open("127.0.0.1", 0)
    host.close(linger_s=0)


def line(place: Place, rank: int = 0, token: Token | None = None) -> Line:
    proof = None if token is None else Proof(token, insists=True)
    return Line(lambda: place, f"worker {rank}", proof)


def speaker(place: Place, rank: int, size: int = 2, token: Token | None = None, **options: Any) -> Speaker:
    return Speaker(line(place, rank, token), Seat("worker", size, rank), **options)


def test_who_never_came_is_named() -> None:
    with hosting() as place:
        both = [speaker(place, rank, 3, patience_s=0.2) for rank in range(2)]
        for error in together(*(lambda each=each: each.exchange([b""]) for each in both)):
            assert isinstance(error, RankMissing)
            assert "worker 2 has not come" in str(error)


def test_who_lives_is_waited_for_beyond_all_patience_and_is_told_of() -> None:
    said: list[str] = []
    with hosting() as place:
        presence = Presence(line(place, 1), [Seat("worker", 2, 1)], beat_s=0.01)
        until(lambda: presence.was_met, "the other to be heard of")
        clock = itertools.count(0.0, 10.0)  # each look is ten seconds later
        first = speaker(place, 0, patience_s=1.0, notice=said.append, clock=lambda: next(clock))
        first._poll_s = 0.05
        found: list[Any] = []
        waiting = threading.Thread(target=lambda: found.extend(first.exchange([b"a"])), daemon=True)
        waiting.start()
        until(lambda: said, "a word of whom it waits for")
        assert said[0].startswith("worker 0 waits for worker 1, for ")
        assert speaker(place, 1).exchange([b"b"]) == [b"a", b"b"]
        waiting.join(PATIENCE_S)
        assert found == [b"a", b"b"]
        assert len(said) == 1
        presence.leave()


def test_who_was_there_and_is_silent_is_gone() -> None:
    with hosting(lease_s=0.0) as place:
        Presence(line(place, 1), [Seat("worker", 2, 1)], beat_s=600)
        first = speaker(place, 0, patience_s=60)
        first._poll_s = 0.05
        with pytest.raises(RankMissing, match="worker 1 was there, and is not heard of"):
            first.exchange([b""])


def test_who_leaves_without_a_word_in_this_world_is_not_waited_for() -> None:
    with hosting() as place:
        presence = Presence(line(place, 1), [Seat("worker", 2, 1)])
        until(lambda: presence._line.is_open, "the other to be heard of")
        presence.leave()
        with pytest.raises(RankMissing, match="worker 1 has left"):
            speaker(place, 0, patience_s=60).exchange([b""])


def test_without_whom_the_job_goes_on_it_is_waited_for_no_more_as_soon_as_that_is_said() -> None:
    ear, mouth = os.pipe()
    os.set_blocking(ear, False)
    words = [  # of these only the last says so
        b'{"text": "trainer-0 was killed", "trainer": 0}',
        b'{"text": "pserver-1 ended", "other": "pserver-1", "goes_on": true}',
        b'{"text": "trainer-2 was killed", "trainer": 2, "goes_on": true}',
    ]
    said: list[str] = []
    with hosting(news=ear, seats_of=lambda trainer: [Seat("worker", 3, trainer)]) as place:
        clock = itertools.count(0.0, 10.0)
        how: dict[str, Any] = {"patience_s": math.inf, "clock": lambda: next(clock), "notice": said.append}
        both = [speaker(place, rank, 3, **how) for rank in range(2)]
        both[0]._poll_s = both[1]._poll_s = 0.05
        found: list[Any] = []
        turns = [lambda each=each: each.exchange([b"x"]) for each in both]
        waiting = threading.Thread(target=lambda: found.extend(together(*turns)), daemon=True)
        waiting.start()
        until(lambda: said, "a word of whom it waits for")
        os.write(mouth, b"\n".join(words) + b"\n")
        waiting.join(PATIENCE_S)
        os.close(mouth)
    os.close(ear)
    assert found == [[b"x", b"x", None]] * 2


def test_one_that_is_started_again_and_comes_too_late_is_told_so() -> None:
    with hosting() as place:
        both = [speaker(place, rank) for rank in range(2)]
        for _ in range(2):
            together(*(lambda each=each: each.exchange([b""]) for each in both))
        first = threading.Thread(target=lambda: together(lambda: both[0].exchange([b""])), daemon=True)
        first.start()
        with pytest.raises(RankMissing, match="worker 0 has met the others more often"):
            until(lambda: speaker(place, 1).exchange([b""]) and None, "it to be told")
        both[1].exchange([b""])
        first.join(PATIENCE_S)


def test_a_place_that_is_closed_before_its_thread_has_begun_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It waited for ever: nobody heard that it was to end."""
    host, is_told, serve = Host(), threading.Event(), Host._serve
    ask = host._loop.call_soon_threadsafe

    def asking(call: Any) -> None:
        ask(call)
        if call == host._stopped.set:
            is_told.set()

    def late(self: Host, listener: socket.socket) -> None:
        assert is_told.wait(PATIENCE_S)
        serve(self, listener)

    monkeypatch.setattr(Host, "_serve", late)
    monkeypatch.setattr(host._loop, "call_soon_threadsafe", asking)
    host.open("127.0.0.1", 0)
    closing = threading.Thread(target=host.close, args=(0.0,), daemon=True)
    closing.start()
    closing.join(PATIENCE_S)
    assert not closing.is_alive()


def test_nobody_at_the_place_is_an_error_that_names_it() -> None:
    with hosting() as place:
        pass
    with pytest.raises(HostUnreachable, match=r"found nobody for .* at 127.0.0.1:\d+"):
        speaker(place, 0, patience_s=0.1).exchange([b""])


def test_a_place_that_has_gone_is_not_waited_for_as_one_that_may_come() -> None:
    with hosting() as place:
        presence = Presence(line(place, 1), [Seat("worker", 2, 1)], beat_s=600)
        until(lambda: presence.was_met, "the place to answer")
    waits: list[float] = []
    late = speaker(
        place, 1, was_met=lambda: presence.was_met, clock=lambda: 10.0 * len(waits), sleep=waits.append
    )
    with pytest.raises(HostUnreachable, match="found nobody for 60 s"):
        late.exchange([b""])


@pytest.mark.parametrize(
    ("holds", "deaf", "heard"),
    [(True, 0, [1, 1, 1]), (False, 0, [0, 1, 1]), (True, 2, [1, 3, 3]), (False, 1, [0, 1, 2, 2])],
)
def test_who_runs_the_job_hears_once_when_nobody_can_take_its_place(
    holds: bool, deaf: int, heard: list[int]
) -> None:
    said: list[bool] = []

    def meets(finds_nobody: bool) -> bool:
        said.append(finds_nobody)
        return len(said) > deaf

    with hosting() as place:
        alone = speaker(place, 0, 1, meets=meets, holds=holds)
        for count in heard:
            alone.exchange([b""])
            assert said == [False] * count


def test_a_process_that_begins_again_is_told_what_the_first_meeting_came_to() -> None:
    with hosting() as place:
        first, lost, again = (speaker(place, rank) for rank in (0, 1, 1))
        together(lambda: first.exchange([b"a"]), lambda: lost.exchange([b"b"]))
        lost.close()
        assert again.exchange([b"b"]) == [b"a", b"b"]
        told = together(lambda: first.exchange([b"c"]), lambda: again.exchange([b"d"]))
        assert told == [[b"c", b"d"]] * 2


def test_who_runs_the_job_hears_ever_again_that_nobody_is_found() -> None:
    heard: list[bool] = []
    waits: list[float] = []

    def meets(finds_nobody: bool) -> bool:
        heard.append(finds_nobody)
        return True

    with hosting() as place:
        alone = speaker(
            place, 0, 1, meets=meets, clock=lambda: 0.4 * len(waits), sleep=waits.append, patience_s=3
        )
        alone.exchange([b""])
    alone.close()
    with pytest.raises(HostUnreachable):
        alone.exchange([b""])
    assert heard == [False, True, True]


def test_without_the_jobs_token_it_ends_at_once() -> None:
    right, wrong = Token(b"a" * 32), Token(b"b" * 32)
    with hosting(token=right) as place:
        known = [speaker(place, rank, token=right) for rank in range(2)]
        assert together(*(lambda each=each: each.exchange([b"x"]) for each in known)) == [[b"x", b"x"]] * 2
        with pytest.raises(NotOfThisJob, match="does not have the token of this job"):
            speaker(place, 0, token=wrong).exchange([b"x"])
        with pytest.raises(NotOfThisJob, match=r"process has none\. Give PADDLE_TOKEN_FILE to all"):
            speaker(place, 0).exchange([b"x"])


def test_other_numbers_of_processes_end_at_once() -> None:
    with hosting() as place:
        line(place, 1).ask("here", Here([Seat("worker", 3, 1)]), 5)
        with pytest.raises(OtherWorld, match="told one number"):
            speaker(place, 0, 2).exchange([b""])


@pytest.mark.parametrize("answer", [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"220 mail\r\n"])
def test_somebody_else_at_the_place_ends_it_at_once(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        place = other.getsockname()

        def serve() -> None:
            taken, _ = other.accept()
            taken.recv(1 << 16)
            taken.sendall(answer)
            taken.close()

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(NotOfThisJob, match="what listens there belongs to no job"):
            speaker(place, 0).exchange([b""])
