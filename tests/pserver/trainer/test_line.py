"""A line that comes back while somebody asks on it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from paddle._pserver.errors import ConnectionLost, StateLost
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    Declared,
    Goodbye,
    Hello,
    Mark,
    Push,
    Request,
    Save,
    Welcome,
)
from paddle._pserver.trainer.account import Account
from paddle._pserver.trainer.client import IDLE_S, Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.greeting import Greeting, Place
from paddle._pserver.trainer.journal import Entry, Journal
from paddle._pserver.trainer.line import Line
from paddle._pserver.trainer.question import Patience
from tests.waiting import until

from ..conftest import ONES, update

WAIT_S = 30.0
DECLARE = Declare(ONES, update(), 0, 1)


class Wire(Client):
    """A client whose other side answers at once: hello with ``welcome``, all else with Answer."""

    def __init__(self, welcome: Welcome) -> None:
        super().__init__("127.0.0.1", 1, "dense shard", call_timeout_s=WAIT_S, notice=print)
        self.welcome = welcome
        self.told: list[Request] = []
        self.is_cut = self.is_closed = False
        self.saved = Mark()  # what the other side has written once it is asked to
        self._replies: deque[Any] = deque()

    def connect(self, deadline: float, *, insists: bool = False) -> None:
        pass

    def send(self, message: Request, body: Sequence[memoryview] = (), **_: Any) -> None:
        if self.is_cut:
            raise ConnectionLost("it was cut")
        self.told.append(message)
        durable = self.saved if isinstance(message, Save) else Mark()
        replies = {Hello: self.welcome, Declare: Declared(seed=False)}
        self._replies.append(replies.get(type(message), Answer(1, durable=durable)))

    def receive(self, *_: Any) -> Any:
        if self.is_cut:
            raise ConnectionLost("it was cut")
        return self._replies.popleft()

    def answer(self, *_: Any) -> Any:
        return self.receive()

    def say_goodbye(self, message: Goodbye) -> None:
        assert not self.is_closed
        self.told.append(message)

    def part(self) -> None:
        self.close()

    def is_broken(self) -> bool:
        return self.is_cut

    def hear_unasked(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


class Silent(Wire):
    """One whose other side answers nothing to a message of ``kind``, for as long as a call may last."""

    def __init__(self, welcome: Welcome, kind: type) -> None:
        super().__init__(welcome)
        self._kind, self.waited_s = kind, 0.0

    def receive(self, *_: Any) -> Any:
        while isinstance(self.told[-1], self._kind):
            try:
                self.on_idle()
            except TimeoutError as error:
                raise ConnectionLost("nothing came") from error
            self.waited_s += IDLE_S
            assert self.waited_s < 20 * WAIT_S
        return super().receive()


def line_of(wires: Sequence[Wire], journal_bytes: int = 1 << 20) -> Line:
    """On the first of ``wires``, and on the others when it comes back; training has begun."""
    left = iter(wires)
    greeting = Greeting(Hello(PROTOCOL, 0, 1, "dense", "one process"), Place())
    line = Line(lambda: next(left), greeting, lambda text: None, Patience(WAIT_S, Account(journal_bytes)))
    line.connect(Deadline(WAIT_S))
    line.greet()
    line.begin(in_step=True)
    return line


def push(line: Line, step: int, size: int = 8) -> None:
    line.send(Push(step, 0, 1), [memoryview(bytearray(size))], asking="to push")


def steps_told(wire: Wire) -> list[int]:
    return [message.step for message in wire.told if isinstance(message, Push)]


def before(call: Callable[..., Any], meanwhile: Callable[[], None]) -> Callable[..., Any]:
    def calling(*args: Any, **named: Any) -> Any:
        meanwhile()
        return call(*args, **named)

    return calling


def test_what_is_asked_while_a_line_tells_again_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question is in the journal before it is open; a line that comes back must not see it between."""
    kept = Welcome(WAIT_S, ready=True, keeps=True)
    wires = [Wire(kept), Wire(kept)]
    line = line_of(wires)
    push(line, 1)
    line.answer()
    adds, listed = threading.Event(), threading.Event()
    add, lacking = Journal.add, Journal.lacking

    def adding(journal: Journal, message: Any, body: Sequence[memoryview] = ()) -> Entry:
        entry = add(journal, message, body)
        adds.set()
        listed.wait(0.2)  # as long as it takes the other thread, were it let in
        return entry

    def listing(journal: Journal, mark: Mark) -> list[Entry]:
        try:
            return lacking(journal, mark)
        finally:
            listed.set()

    monkeypatch.setattr(Journal, "add", adding)
    monkeypatch.setattr(Journal, "lacking", listing)
    wires[1].connect = before(wires[1].connect, lambda: adds.wait(WAIT_S) or None)  # type: ignore[method-assign]
    wires[0].is_cut = True
    line.look()
    push(line, 2)
    line.answer()
    assert steps_told(wires[1]) == [1, 2]


def test_a_push_that_is_larger_than_the_journal_is_told_again() -> None:
    """A snapshot is asked for only where there is another push that it makes needless."""
    kept = Welcome(WAIT_S, ready=True, keeps=True)
    wires = [Wire(kept), Wire(msgspec.structs.replace(kept, settled=Mark(1)))]
    line = line_of(wires, journal_bytes=4)
    push(line, 1)
    line.answer()
    assert Save() not in wires[0].told
    wires[0].saved = Mark(1)
    push(line, 2)
    line.answer()
    assert wires[0].told.count(Save()) == 1
    wires[0].is_cut = True
    line.look()
    push(line, 3)
    line.answer()
    assert steps_told(wires[1]) == [2, 3]


def test_a_line_that_gives_up_while_it_comes_back_says_so() -> None:
    wires = [Wire(Welcome(WAIT_S, ready=True)), Wire(Welcome(WAIT_S, ready=False))]
    line = line_of(wires)
    wires[0].is_cut = True
    line.look()
    with pytest.raises(StateLost):
        push(line, 1)
        line.answer()
    (goodbye,) = [message for message in wires[1].told if isinstance(message, Goodbye)]
    assert goodbye.failure is not None and goodbye.failure.startswith("StateLost: ")
    assert wires[1].is_closed


@pytest.mark.parametrize("keeps", [True, False])
def test_a_trainer_that_fails_while_a_line_is_broken_comes_back_to_say_so(keeps: bool) -> None:
    """The shard may have been started again: it is told that this trainer was in the job."""
    ready = Welcome(WAIT_S, ready=True, keeps=keeps)
    wires = [Wire(ready), Wire(ready)]
    line = line_of(wires)
    line.declare(DECLARE)
    line.hear_declared()
    push(line, 1)
    line.answer()
    wires[0].is_cut = True
    line.say_goodbye(Goodbye("KeyError: 'a word'"))
    line.part()
    hello, *told = wires[1].told
    assert isinstance(hello, Hello) and hello.answered == Mark(1)
    assert told == [DECLARE, Goodbye("KeyError: 'a word'")]
    assert wires[1].is_closed


def test_a_trainer_that_has_failed_leaves_a_line_that_is_coming_back_to_its_goodbye() -> None:
    ready = Welcome(WAIT_S, ready=True, keeps=True)
    wires = [Wire(ready), Wire(ready), Wire(ready)]
    line = line_of(wires)
    line.declare(DECLARE)
    line.hear_declared()
    push(line, 1)
    line.answer()
    coming, failed = threading.Event(), threading.Event()

    def connecting() -> None:
        coming.set()
        failed.wait(WAIT_S)

    wires[1].connect = before(wires[1].connect, connecting)  # type: ignore[method-assign]
    wires[0].is_cut = True
    line.look()
    assert coming.wait(WAIT_S)
    assert line.failure is None, "it has not given up"
    line.say_goodbye(Goodbye("KeyError: 'a word'"))
    failed.set()
    line.part()
    until(lambda: wires[1].is_closed, "it is left")
    assert wires[1].told == []
    assert Goodbye("KeyError: 'a word'") in wires[2].told


def test_a_line_that_is_back_asks_at_once_though_nobody_waits_for_it_yet() -> None:
    """Others may wait for what is asked, and whoever asked for one of them: at another shard."""
    wires = [Wire(Welcome(WAIT_S, ready=True)), Wire(Welcome(WAIT_S, ready=True))]
    line = line_of(wires)
    push(line, 1)
    wires[0].is_cut = True
    asked = threading.Event()
    send = wires[1].send

    def sending(message: Request, *args: Any, **named: Any) -> None:
        send(message, *args, **named)
        if isinstance(message, Push):
            asked.set()

    wires[1].send = sending  # type: ignore[method-assign]
    line.look()
    assert asked.wait(WAIT_S), "it is back, and does not ask"
    line.answer()
    assert steps_told(wires[1]) == [1]


@pytest.mark.parametrize("kind", [Hello, Push])
def test_a_shard_that_is_there_and_silent_has_no_more_time_than_one_that_is_not_there(kind: type) -> None:
    """Be it silent when it is greeted, or when it hears again what it lacks."""
    kept = Welcome(WAIT_S, ready=True, keeps=True)
    wires = [Wire(kept), Silent(kept, kind), Wire(kept)]
    line = line_of(wires)
    push(line, 1)
    line.answer()
    wires[0].is_cut = True
    with pytest.raises(ConnectionLost, match="nothing came"):
        push(line, 2)
        line.answer()
    assert wires[1].waited_s == pytest.approx(WAIT_S, abs=2 * IDLE_S)  # type: ignore[attr-defined]
    assert wires[2].told == []


def test_a_place_that_is_ahead_of_the_others_says_of_no_pass_that_all_have_ended_it() -> None:
    place = Place(over=1)  # as shards have told
    place.begin(2)  # the process before it had ended two, and waited for the others
    assert (place.next_pass, place.over) == (2, 1)
