"""Line: one trainer's line to one shard, whatever becomes of the connection. Blocking, and never for ever.

1.  One question is open at a time. When the connection breaks, or brings damaged bytes, the line comes back:
    it connects anew, says who it is, declares again, tells again what the shard lacks (journal.py), and asks
    the open question again. What a shard has counted it does not count again.
2.  Coming back is done in a thread: what is told again may have to wait for other trainers, who wait for this
    one on another line. So whoever waits for an answer looks after all lines meanwhile (``on_idle``).
3.  It gives up ``reconnect_timeout_s`` after the first break that nothing was answered since; at once where
    nothing listens any more and the shard keeps no snapshots: then what it had is lost.

It must never know what a question means for training, other than which ones are told again.

Guarantee: a question is answered as if the connection had never broken, or with an error that says why not.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from paddle._pserver.client import Client, Notice
from paddle._pserver.errors import (
    BadMessage,
    ChecksumMismatch,
    ConnectionLost,
    NotAFrame,
    PserverError,
    Refused,
    ShardUnreachable,
    StateLost,
)
from paddle._pserver.gradient_room import GradientRoom
from paddle._pserver.journal import Entry, Journal
from paddle._pserver.messages import (
    Answer,
    Declare,
    Declared,
    EndPass,
    Goodbye,
    Hello,
    Mark,
    Pull,
    PullRows,
    Push,
    Reply,
    Request,
    Save,
    Seed,
    Share,
    Welcome,
)

BROKEN = (ConnectionLost, ChecksumMismatch, NotAFrame)
_LOOK_S = 0.5
_RETRY_S = 0.2


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a line tries to come back, and how many bytes it keeps to tell again."""

    reconnect_timeout_s: float = 60.0
    journal_bytes: int = 256 << 20


@dataclass(slots=True)
class _Question:
    message: Request
    body: Sequence[memoryview]
    asking: str
    entry: Entry | None = None  # in the journal
    is_in_room: bool = False  # the body


@dataclass(slots=True)
class _Return:
    """A line coming back, in its thread."""

    thread: threading.Thread
    error: BaseException | None = None


@dataclass(slots=True)
class _Start:
    """What is told before training, and told again on every new connection."""

    declare: Declare | None = None
    seeds: list[_Question] = field(default_factory=list)
    share: Share | None = None
    is_over: bool = False


class Line:
    """See the module's text. ``connect`` makes a client that is not connected yet."""

    def __init__(self, make: Callable[[], Client], hello: Hello, notice: Notice, patience: Patience) -> None:
        self.client = make()
        self.client.on_idle = lambda: self.on_idle()
        self.welcome = Welcome(0.0)
        self.on_idle: Callable[[], None] = lambda: None
        self.reply_bytes = 0  # of the body of an answer to the end of a pass
        self.push_reply_bytes = 0  # and to a push
        self.journals = False  # whether the shard can be told again what it has forgotten
        self._make, self._hello, self._notice, self._patience = make, hello, notice, patience
        self._journal = Journal()
        self._answered = Mark()
        self._start = _Start()
        self._open: _Question | None = None
        self._asked: Client | None = None  # on which it was asked
        self._is_busy = False  # with sending or receiving
        self._broken: PserverError | None = None
        self._give_up_at: float | None = None
        self._return: _Return | None = None
        self._is_leaving = self._is_in_step = False

    @property
    def what(self) -> str:
        """The shard, for people."""
        return self.client.what

    # Beginning.

    def connect(self, deadline: float) -> None:
        """Try until ``time.monotonic()`` passes ``deadline``, and say Hello."""
        self.client.connect(deadline)
        # At once: the next one may take long to connect, and a pserver waits for Hello only seconds.
        self._try(lambda: self._say_hello(self.client))

    def greet(self) -> None:
        """Hear whether this trainer is let in."""
        if self._broken is None:
            self._try(lambda: self._hear_welcome(self.client))
        self._be_back()

    def declare(self, declare: Declare) -> None:
        """Declare the model; :meth:`hear_declared` next."""
        self.send(declare, asking="to start training")

    def hear_declared(self) -> Declared:
        """The answer."""
        question = self._open
        declared = self._hear(())
        if not isinstance(declared, Declared):
            raise BadMessage(f"{self.what} answered a declaration with {type(declared).__name__}")
        assert question is not None and isinstance(question.message, Declare)
        self._start.declare = question.message
        return declared

    def begin(self, *, in_step: bool) -> None:
        """The shard has its initial values; from now on it must not lose what it is told."""
        self._start.is_over = True
        self._start.seeds.clear()
        self._is_in_step = in_step
        self.journals = in_step and self.welcome.keeps

    def share(self, room: GradientRoom | None) -> None:
        """Where both are on one machine, have the shard read the gradients that lie in ``room``, and read its
        values; on every connection to come."""
        self._start.share = Share(room.lies, room.starts, True) if room else Share(reads=True)
        if self._broken is None:
            self._try(lambda: self._share_again(self.client))

    def _share_again(self, client: Client) -> None:
        if self._start.share is not None:
            client.share(self._start.share, is_in_step=self._is_in_step)

    # Asking.

    def send(
        self, message: Request, body: Sequence[memoryview] = (), *, asking: str, is_in_room: bool = False
    ) -> None:
        """Ask; :meth:`answer` next, until when ``body`` must not change. ``is_in_room``: it lies where a
        shard that shares memory reads it."""
        self._open = _Question(message, body, asking, self._remember(message, body), is_in_room)
        self._asked = None
        if self._broken is None:
            self._try(self._ask)

    def answer(self, into: Sequence[memoryview] = ()) -> Answer:
        """Its answer; the body is written into ``into``, byte views that it must fill exactly."""
        reply = self._hear(into)
        if not isinstance(reply, Answer):
            raise BadMessage(f"{self.what} answered with {type(reply).__name__}, and not with Answer")
        self._journal.prune(reply.durable)
        return reply

    @property
    def forsaken(self) -> bool:
        """Whether the shard said that the job is broken, or is out of reach."""
        return self.client.forsaken or self._broken is not None

    def say_goodbye(self, goodbye: Goodbye) -> None:
        """Say it, as far as the other side can still understand it; raises nothing. Idempotent."""
        waits = goodbye.failure is None and self.welcome.keeps and self._start.is_over
        if not waits or self._is_leaving:
            self._is_leaving = True
            return self.client.say_goodbye(goodbye)
        self._is_leaving = True
        with contextlib.suppress(PserverError):
            self.send(goodbye, asking="to say goodbye")
        return None

    def part(self) -> None:
        """After the goodbye: where snapshots are kept hear that all lasts; then hear the other side out, and
        close. Raises nothing. Idempotent."""
        with contextlib.suppress(PserverError):
            if self._open is not None and isinstance(self._open.message, Goodbye):
                self._hear(())
        self.client.part()

    def close(self) -> None:
        """Close without a word. Idempotent."""
        self._is_leaving = True
        self.client.close()

    def look(self) -> None:
        """Nobody waits for this line now: come back if it broke; raise what the shard says unasked."""
        if self._return is not None and not self._return.thread.is_alive() and self._return.error is None:
            self._return = None
        if self._is_busy or self._return is not None or self._is_leaving or not self._start.is_over:
            return
        if self._broken is None and self._patience.reconnect_timeout_s > 0 and self.client.is_broken():
            self._break(ConnectionLost(f"{self.what} closed the connection."))
        if self._broken is not None:
            self._come_back()
        elif self._open is None:
            self._try(self.client.hear_unasked)

    def _hear(self, into: Sequence[memoryview]) -> Reply:
        reply: Reply | None = None

        def hear() -> None:
            nonlocal reply
            if self._asked is not self.client:
                self._ask()
            reply = self.client.receive(into)

        while reply is None:
            self._be_back()
            self._try(hear)
        self._open, self._answered, self._give_up_at = None, self._journal.told, None
        return reply

    def _ask(self) -> None:
        assert self._open is not None
        self._asked, message = self.client, self._open.message
        body = () if self._open.is_in_room and self.client.takes_gradients else self._open.body
        when = "" if isinstance(message, Push) else f" after step {self._journal.told.pushes}"
        self.client.send(message, body, asking=self._open.asking + when)

    def _remember(self, message: Request, body: Sequence[memoryview]) -> Entry | None:
        if isinstance(message, Seed):
            self._start.seeds.append(_Question(message, body, "to take initial values again"))
        is_table = isinstance(message, Pull) and message.table is not None
        if isinstance(message, Push | EndPass | PullRows) or (isinstance(message, Pull) and is_table):
            if self.journals and self._has_room(body):
                return self._journal.add(message, body)
            self._journal.pass_by(message)
        return None

    def _has_room(self, body: Sequence[memoryview]) -> bool:
        """Whether the journal may grow by ``body``; if not, a snapshot is asked for, and waited for. A broken
        line needs what it has."""
        size = sum(part.nbytes for part in body)
        if self._journal.size_bytes + size > self._patience.journal_bytes and self._broken is None:
            self._try(self._save)
        return self._broken is not None or self._journal.size_bytes + size <= self._patience.journal_bytes

    def _save(self) -> None:
        self.client.send(Save(), asking="to write a snapshot")
        self._journal.prune(self.client.answer().durable)

    # Breaking and coming back.

    def _try(self, work: Callable[[], None]) -> None:
        self._is_busy = True
        try:
            work()
        except BROKEN as error:
            self._break(error)
        finally:
            self._is_busy = False

    def _break(self, error: PserverError) -> None:
        """The connection is no good any more. Raises where nothing is to be done about it."""
        now = time.monotonic()
        if self._give_up_at is None:
            self._give_up_at = now + self._patience.reconnect_timeout_s
        if now >= self._give_up_at:
            raise error
        self._broken = error
        self.client.close()

    def _be_back(self) -> None:
        """Wait until the line is good, looking after the others."""
        while self._broken is not None:
            if self._return is None:
                self._come_back()
            assert self._return is not None
            self._return.thread.join(_LOOK_S)
            if self._return.thread.is_alive():
                self.on_idle()
                continue
            error, self._return = self._return.error, None
            if error is not None:
                raise error

    def _come_back(self) -> None:
        self._notice(f"{self._broken} Trying to come back.")
        self._return = _Return(threading.Thread(target=self._run, name=f"back to {self.what}", daemon=True))
        self._return.thread.start()

    def _run(self) -> None:
        coming = self._return
        assert coming is not None
        try:
            while self._broken is not None:
                try:
                    self._meet_again()
                except BROKEN as error:
                    self._break(error)
                    time.sleep(_RETRY_S)
        except BaseException as error:
            coming.error = error

    def _meet_again(self) -> None:
        """A new connection, on which the shard knows all that was told on the ones before."""
        client = self._make()
        try:
            self._connect_again(client)
            self._say_hello(client)
            self._hear_welcome(client)
            self._declare_again(client)
            self._share_again(client)
            self._tell_again(client)
        except BaseException:
            client.close()
            raise
        client.on_idle = lambda: self.on_idle()
        self.client, self._broken = client, None
        self._notice(f"{self.what}: the connection is back")

    def _connect_again(self, client: Client) -> None:
        assert self._give_up_at is not None
        try:
            client.connect(self._give_up_at, insists=self.welcome.keeps and not self._is_leaving)
        except ShardUnreachable as error:
            raise ShardUnreachable(f"{self._broken} It did not come back: {error}") from error
        except Refused as error:  # damaged on the way: it was right before
            raise ConnectionLost(str(error)) from error

    def _say_hello(self, client: Client) -> None:
        hello = msgspec.structs.replace(self._hello, answered=self._answered)
        client.send(hello, asking="to let this trainer in")

    def _hear_welcome(self, client: Client) -> None:
        welcome = client.receive()
        if not isinstance(welcome, Welcome):
            raise BadMessage(f"{self.what} answered hello with {type(welcome).__name__}")
        lacks = not self._journal.reaches(welcome.settled, self._answered)
        if self._start.is_over and (not welcome.ready or lacks):
            raise StateLost(
                f"{self.what} was started anew and has lost what it had learned by step "
                f"{self._answered.pushes}. Pservers with a --snapshot_dir go on from there; start this job "
                "again."
            )
        self.welcome = welcome

    def _declare_again(self, client: Client) -> None:
        if self._start.declare is None:
            return
        client.send(self._start.declare, asking="to go on training")
        declared = client.receive()
        if isinstance(declared, Declared) and declared.seed:
            for seed in self._start.seeds:
                if self._open is None or seed.message is not self._open.message:
                    client.send(seed.message, seed.body, asking=seed.asking)
                    client.answer()

    def _tell_again(self, client: Client) -> None:
        entries = self._journal.lacking(self.welcome.settled)
        most = max(self.reply_bytes, self.push_reply_bytes)
        values = memoryview(bytearray(most if entries else 0))  # not where somebody may be computing
        for entry in entries:
            if self._open is not None and entry is self._open.entry:
                return  # asked again by whoever waits for its answer
            client.send(entry.message, entry.body, asking="to hear again what it lacks")
            size = self._reply_bytes_to(entry.message)
            client.answer([values[:size]] if size else [])
            self._give_up_at = time.monotonic() + self._patience.reconnect_timeout_s

    def _reply_bytes_to(self, message: Request) -> int:
        if isinstance(message, Push):
            return self.push_reply_bytes
        return self.reply_bytes if isinstance(message, EndPass) else 0
