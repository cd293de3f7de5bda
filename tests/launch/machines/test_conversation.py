"""One way to speak with a program on a node: what it answers is what was asked, in time and in few words."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.agent.answers import BEAT, SIGN, line_of
from paddle._launch.errors import NodeLost, NodeSilent, NodeUnfit
from paddle._launch.machines import reader
from paddle._launch.machines.conversation import Conversation, begin, converse, first_fit
from paddle._launch.machines.here import Here
from paddle._launch.machines.reader import Reader
from paddle._launch.machines.refusals import Door
from paddle._launch.machines.said import Count
from paddle._launch.machines.spool import Spool
from paddle._launch.machines.transport import Line, Stream

PROBE = {"workspace": "/x", "program": "x", "runtime": "/no", "names": [], "packages": []}


class Seen(msgspec.Struct):
    """A kind of answer."""

    number: Count


class Told:
    """A program that says what it was told to say, and then ends."""

    def __init__(self, *said: bytes, status: int = 0, complaint: str = "") -> None:
        self.said: Iterable[bytes] = iter(said)
        self.heard = b""
        self.is_closed = False
        self._status = status
        self._complaint = complaint

    def send(self, data: bytes | memoryview) -> None:
        self.heard += data

    offer = send

    def receive(self, most: int) -> bytes:
        return next(iter(self.said), b"")

    def status(self) -> int:
        return self._status

    def complaint(self) -> str:
        return self._complaint

    def close(self) -> None:
        self.is_closed = True


def talk(*said: bytes, most: int = 1000, **how: Any) -> Conversation:
    return Conversation(Told(*said, **how), ["python3"], most=most)


@given(st.lists(st.integers(0, 200), max_size=8))
def test_wherever_it_is_cut_an_answer_is_told_from_a_greeting_and_a_beat(cuts: list[int]) -> None:
    said = b'Welcome!\n{"number": 1}\n' + BEAT + b"\n" + line_of({"number": 7, "more": "words"}) + b"Goodbye!"
    edges = [0, *sorted(cuts), len(said)]
    parts = [said[one:other] for one, other in itertools.pairwise(edges) if one != other]
    assert talk(*parts).ask({"do": "count"}, Seen) == Seen(7)


def test_a_greeting_may_end_without_a_new_line() -> None:
    for first in (line_of({"number": 7}), BEAT + b"\n" + line_of({"number": 7})):
        assert talk(b"Welcome! \x1b[0m" + first).ask({}, Seen) == Seen(7)


def test_an_order_is_a_line_of_json() -> None:
    asked = talk(line_of({"number": 7}))
    asked.ask({"do": "count"}, Seen)
    assert asked.wire.heard == b'{"do": "count"}\n'  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "said",
    [
        SIGN + b"no json\n",
        SIGN + b"[" * 900 + b"\n",
        line_of([]),
        line_of({}),
        line_of({"number": "7"}),
        line_of({"number": 7.5}),
        SIGN + b'{"number": ' + b"9" * 500 + b"}\n",
        SIGN + b'{"number": NaN}\n',
        line_of({"number": "\x1b]0;yours\x07"}),
    ],
)
def test_what_is_no_such_answer_makes_a_node_unfit_in_words_that_command_no_terminal(said: bytes) -> None:
    with pytest.raises(NodeUnfit, match="not understood") as caught:
        talk(said).ask({}, Seen)
    assert not set("\x1b\x07") & set(str(caught.value))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "piece", [b"x" * 100, b"x\n", line_of({"number": 1})], ids=["line", "lines", "answers"]
)
def test_what_has_no_end_is_given_up(piece: bytes) -> None:
    endless = talk()
    endless.wire.said = itertools.repeat(piece)  # type: ignore[attr-defined]
    with pytest.raises(NodeUnfit, match="says more of itself than any node has to say"):
        for _ in endless.answers(Seen):
            pass


def test_beats_cost_nothing_and_are_no_answer_that_comes_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    beats = [BEAT + b"\n"] * 1000
    assert talk(*beats, line_of({"number": 7})).ask({}, Seen) == Seen(7)
    seconds = itertools.count()
    monkeypatch.setattr(reader.time, "monotonic", lambda: float(next(seconds)))
    with pytest.raises(NodeSilent, match="did not answer within 60 s"):
        talk(*beats, line_of({"number": 7})).ask({}, Seen)


@pytest.mark.parametrize(
    ("status", "complaint", "error", "words"),
    [
        (127, "", NodeUnfit, "it has no Python: there is no python3 for this user"),
        (1, "its Python /usr/bin/python3 is 3.7", NodeUnfit, "the oldest that will do is 3.11"),
        (3, "no", NodeUnfit, "ended with status 3: no"),
        (0, "", NodeUnfit, "ended with status 0"),
        (-1, "", NodeLost, "was killed, or its connection broke"),
    ],
)
def test_what_ends_without_an_answer_is_told_by_how_it_ended(
    status: int, complaint: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        talk(b"Welcome!\n", status=status, complaint=complaint).ask({}, Seen)


def test_it_is_let_go_of_however_it_ends() -> None:
    class Node:
        wire = Told()

        def begin(self, command: str, *, errors_too: bool = False) -> Told:
            return self.wire

        def close(self) -> None:
            """There is nothing to let go of."""

    with pytest.raises(ZeroDivisionError), converse(Node(), ["python3"], "agent.probe"):
        raise ZeroDivisionError
    assert Node.wire.is_closed


def test_where_a_python_is_not_there_the_next_one_is_asked() -> None:
    """It ends before it has heard all: what it was told is more than a pipe holds."""
    here, asked = Here(), []

    def look(python: str) -> dict[str, Any]:
        asked.append(python)
        with converse(here, (python,), "agent.survey") as survey:
            return survey.ask({"do": "clock", "more": "x" * (1 << 20)}, dict[str, Any])

    assert first_fit(["/no/python", "/bin/false", sys.executable], look)["now"] > 1e9
    assert asked == ["/no/python", "/bin/false", sys.executable]
    with pytest.raises(NodeUnfit, match="there is no /no/python for this user"):
        first_fit(["/no/python", "/no/other"], look)
    here.close()


class Deaf:
    """A channel to a program that has ended before it had heard all."""

    exit_status = 127
    transport = None

    def __init__(self) -> None:
        self.status_event = threading.Event()
        self.status_event.set()

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None

    def sendall(self, data: bytes) -> None:
        raise OSError("Socket is closed")

    def recv(self, most: int) -> bytes:
        return b""


class Connection:
    """One that has nothing but such channels."""

    @property
    def transport(self) -> Any:
        return self

    def open_session(self, **_: object) -> Deaf:
        return Deaf()


def test_over_ssh_too_what_ended_before_it_had_heard_all_is_unfit_and_not_lost() -> None:
    line = Line(Connection(), Door(user="root", host="n1", port=22))
    stream: Stream = begin(line, ["python3.13"], "agent.premises")
    with pytest.raises(NodeUnfit, match=r"there is no python3\.13 for this user"):
        Conversation(stream, ["python3.13"]).ask({}, Seen)


def test_of_this_machine_programs_are_asked_in_the_same_way(tmp_path: Path) -> None:
    with converse(Here(), (sys.executable,), "agent.probe") as probe:
        assert probe.ask(PROBE, dict[str, Any])["python"] == sys.executable
    with (
        converse(Here(), ("/bin/false",), "agent.probe") as probe,
        pytest.raises(NodeUnfit, match="status 1"),
    ):
        probe.do(PROBE)


def test_a_program_of_this_machine_that_is_let_go_of_is_gone() -> None:
    here = Here()
    wire = begin(here, (sys.executable,), "agent.survey")
    survey = Conversation(wire, (sys.executable,))
    assert survey.ask({"do": "clock"}, dict[str, Any])
    here.close()
    assert wire.status() < 0


@given(st.lists(st.one_of(st.binary(max_size=9), st.just(b"\n"), st.integers(0, 5)), max_size=30))
def test_a_spool_gives_what_was_fed_in_order(steps: list[bytes | int]) -> None:
    spool, fed, given_back = Spool(), b"", b""
    for step in steps:
        if isinstance(step, int):
            given_back += spool.take(step)
        else:
            spool.feed(step)
            fed += step
            while (line := spool.line()) is not None:
                assert b"\n" not in line
                given_back += line + b"\n"
        assert given_back + bytes(spool._rest) == fed
        assert len(spool) == len(fed) - len(given_back)


def test_a_line_that_comes_byte_by_byte_is_not_looked_at_again_and_again() -> None:
    """Else this takes minutes, and a launcher's only thread that hears a node with it."""
    said = json.dumps({"words": "x" * (1 << 20)}).encode()
    bytes_of_it = iter([said[at : at + 1] for at in range(len(said))])
    reading = Reader(lambda most: next(bytes_of_it, b"\n"), most=1 << 21)
    bytes_of_it = itertools.chain([SIGN], bytes_of_it)
    assert len(reading.answer(3600.0)["words"]) == 1 << 20
