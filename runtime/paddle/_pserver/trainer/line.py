"""Line: one trainer's line to one shard, whatever becomes of the connection. Blocking, and never for ever.

1.  One question is open at a time. When the connection breaks, or brings damaged bytes, the line comes back:
    it connects anew, says who it is, declares again, tells again what the shard lacks (journal.py), and asks
    the open question again. What a shard has counted it does not count again.
2.  Coming back is done in a thread: what is told again may have to wait for other trainers, who wait for this
    one on another line. So whoever waits for an answer looks after all lines meanwhile (``on_idle``), also
    after those that other threads ask on: :meth:`look` leaves alone what is in use.
3.  It gives up when its respite is over (respite.py); at once where nothing listens any more and the shard
    keeps no snapshots: then what it had is lost.
4.  What is told ahead counts on its connection. A question that is asked on another one brings everything.
5.  The open question, what was answered and the journal change together, under one lock with what is sent.

It must never know what a question means for training, other than which ones are told again.

Guarantee: a question is answered as if the connection had never broken, or with an error that says why not.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from paddle._pserver.errors import (
    BROKEN,
    BadMessage,
    ConnectionLost,
    PserverError,
    Refused,
    ShardUnreachable,
    state_lost,
    told,
)
from paddle._pserver.memory.gradient_room import GradientRoom
from paddle._pserver.protocol.announcing import Bring
from paddle._pserver.protocol.landing import Landing
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    Declared,
    Goodbye,
    Mark,
    Push,
    Reply,
    Request,
    Save,
    Share,
    Welcome,
)
from paddle._pserver.trainer.bringing import announced, brought, tell_again
from paddle._pserver.trainer.client import Client, Notice
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.farewell import Farewell
from paddle._pserver.trainer.greeting import Greeting, declare_again
from paddle._pserver.trainer.journal import Entry, is_seed, is_told_again, kept_bytes
from paddle._pserver.trainer.question import Patience, Question, Recalled, ReplyBytes, Return, Short, Start
from paddle._pserver.trainer.respite import Respite

_LOOK_S, _RETRY_S = 0.5, 0.2


class Line:
    """See the module's text. ``make`` gives a client that is not connected yet."""

    def __init__(
        self, make: Callable[[], Client], greeting: Greeting, notice: Notice, patience: Patience
    ) -> None:
        self.client = make()
        self.what = self.client.what  # the shard, for people
        self._respite = Respite(patience.reconnect_timeout_s)
        self._respite.release(self.client, self._idle)
        self.welcome = Welcome(0.0)
        self.on_idle: Callable[[], None] = lambda: None
        self.reply_bytes = ReplyBytes()
        self.journals = False  # whether the shard can be told again what it has forgotten
        self._make, self._greeting, self._notice, self._patience = make, greeting, notice, patience
        self._journal = patience.account.open()
        self._answered, self._start = Mark(), Start()
        self._open: Question | None = None
        self._asked: Client | None = None  # on which it was asked
        self._busy = threading.Lock()  # held while something is sent or received
        self.is_recalled = False  # whoever waits on it, in another thread, is to get ``Recalled`` soon
        self._broken: PserverError | None = None
        self._return: Return | None = None
        self._is_leaving = self._is_in_step = False
        self._farewell: Farewell | None = None

    # Beginning.

    def connect(self, deadline: Deadline) -> None:
        """Try until the deadline is over, and say Hello at once: a pserver waits for that only seconds."""
        self.client.connect(deadline)
        self._try(lambda: self._greeting.say(self.client, self._answered))

    def greet(self) -> None:
        """Hear whether this trainer is let in."""
        if self._broken is None:
            self._try(lambda: self._hear_welcome(self.client))
        self._be_back()

    def greet_again(self) -> bool:
        """Tell the shard on another connection what it lacks; gives whether it does, and can be told."""
        if can := self._greeting.lacks and self._patience.reconnect_timeout_s > 0:
            self._try(self._greeting.give_up)
            self._be_back()
        return can

    def declare(self, declare: Declare) -> None:
        """Declare the model; :meth:`hear_declared` next."""
        self.send(declare, asking="to start training")

    def hear_declared(self) -> Declared:
        """The answer."""
        question = self._open
        declared = self._hear(Landing())
        if not isinstance(declared, Declared):
            raise BadMessage(f"{self.what} answered a declaration with {type(declared).__name__}")
        assert question is not None and isinstance(question.message, Declare)
        self._start.declare = question.message
        return declared

    def begin(self, *, in_step: bool) -> None:
        """The shard has its initial values; from now on it must not lose what it is told."""
        self._start.is_over = True
        self._start.seeds.clear()
        self._is_in_step, self.journals = in_step, in_step and self.welcome.keeps

    def share(self, room: GradientRoom | None) -> None:
        """Have the shard, of this machine, read gradients in ``room``, and read its values; from now on."""
        self._start.share = Share(room.lies, room.starts, True) if room else Share(reads=True)
        if self._broken is None:
            self._try(lambda: self._share_again(self.client))

    def _share_again(self, client: Client) -> None:
        if self._start.share is not None:
            client.share(self._start.share, is_in_step=self._is_in_step)

    # Asking.

    @property
    def way(self) -> object | None:
        """The connection, to tell on; None while there is none."""
        return self.client if self._broken is None else None

    def tell(self, way: object, message: Request, body: Sequence[memoryview], *, asking: str) -> None:
        """Say what has no answer on the connection ``way``; it is lost where that is not there any more."""
        with self._busy:
            if self.way is way:
                self._attempt(partial(self.client.send, message, body, asking=asking))

    def send(
        self,
        message: Request,
        body: Sequence[memoryview] = (),
        *,
        asking: str,
        short: Short | None = None,
        is_in_room: bool = False,
    ) -> None:
        """Ask; :meth:`answer` next, until when ``body`` must not change. See Question for the others."""
        is_kept = self.journals and is_told_again(message) and self._has_room(body)
        with self._busy:
            entry = self._remember(message, body, is_kept=is_kept)
            self._open, self._asked = Question(message, body, asking, entry, short, is_in_room), None
            if self._broken is None:
                self._attempt(self._ask)

    def answer(self, into: Sequence[memoryview] = (), landing: Landing | None = None) -> Answer:
        """Its answer; the body fills ``into``, byte views, exactly, or lands on ``landing``."""
        reply = self._hear(landing or Landing(into))
        if not isinstance(reply, Answer):
            raise BadMessage(f"{self.what} answered with {type(reply).__name__}, and not with Answer")
        return reply

    @property
    def failure(self) -> BaseException | None:
        """Why nothing can be asked any more; None while something can, or may be able to again."""
        return self.client.failure if self._broken is None else getattr(self._return, "error", None)

    def say_goodbye(self, goodbye: Goodbye) -> None:
        """Say it, as far as the other side can still understand it; raises nothing. Idempotent."""
        keeps, has_left, self._is_leaving = self.welcome.keeps, self._is_leaving, True
        if goodbye.failure is not None or not keeps or not self._start.is_over or has_left:
            return None if has_left else self._leave(goodbye)
        with contextlib.suppress(PserverError):
            self.send(goodbye, asking="to say goodbye")
        return None

    def part(self) -> None:
        """After the goodbye: where snapshots are kept hear that all lasts; then hear the other side out, and
        close. Raises nothing. Idempotent."""
        with contextlib.suppress(PserverError):
            if self._open is not None and isinstance(self._open.message, Goodbye):
                self._hear(Landing())
        if self._farewell is not None:
            self._farewell.wait()
        self.client.part()

    def _leave(self, goodbye: Goodbye) -> None:
        declare, can = self._start.declare, self._start.is_over and self._patience.reconnect_timeout_s > 0
        if self._broken is None and not (self.client.is_broken() or (can and self.client.is_sent_away)):
            self.client.say_goodbye(goodbye)
        elif declare is not None and can:
            self._farewell = Farewell(self._make, self._greeting, self._answered, declare, goodbye)

    def close(self) -> None:
        """Close without a word. Idempotent."""
        self._is_leaving = True
        self.client.close()

    def look(self) -> None:
        """Come back if it broke, raise what the shard says unasked; but not while somebody uses it."""
        if self._busy.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._busy.release()

    def _look(self) -> None:
        if self._return is not None and not self._return.thread.is_alive() and self._return.error is None:
            self._return = None
        has_declared = self._open is not None or self._start.declare is not None  # else a welcome may come
        if self._return is not None or self._is_leaving or not has_declared:
            return
        if self._broken is None and self._patience.reconnect_timeout_s > 0 and self.client.is_broken():
            self._attempt(self.client.hear_out)
        if self._broken is not None:
            self._come_back()
        else:
            self._attempt(self.client.hear_unasked if self._open is None else self.client.hear_ahead)

    def _hear(self, landing: Landing) -> Reply:
        while True:
            self._be_back()
            with self._busy:
                try:
                    return self._heard(landing)
                except BROKEN as error:
                    self._break(error)

    def _heard(self, landing: Landing) -> Reply:
        if self._asked is not self.client:
            self._ask()
        reply = self.client.receive(landing.views(), landing.told)
        if isinstance(reply, Bring):
            reply = brought(self.client, self._open, landing)
        self._open, self._answered = None, self._journal.told
        self._respite.end()
        if self.journals and isinstance(reply, Answer):
            self._journal.prune(reply.durable)
        return reply

    def _ask(self) -> None:
        assert self._open is not None
        self._asked, asked = self.client, self._open
        message, body = asked.on(self.client, has_room=self.client.takes_gradients)
        message, body = announced(message, body) if self.client.announces else (message, body)
        when = "" if isinstance(asked.message, Push) else f" after step {self._journal.told.pushes}"
        self.client.send(message, body, asking=asked.asking + when)

    def _remember(self, message: Request, body: Sequence[memoryview], *, is_kept: bool) -> Entry | None:
        if is_told_again(message):
            if is_kept:
                return self._journal.add(message, body)
            self._journal.pass_by(message)
        elif is_seed(message):
            self._start.seeds.append(Question(message, body, "to take initial values again"))
        return None

    def _has_room(self, body: Sequence[memoryview]) -> bool:
        """Whether the journal takes ``body``, if need be after a snapshot. A broken line needs it all."""
        account, size = self._patience.account, kept_bytes(body)
        if not account.has_room(self._journal, size) and self._broken is None:
            self._try(self._save)
        return self._broken is not None or account.has_room(self._journal, size)

    def _save(self) -> None:
        self.client.send(Save(), asking="to write a snapshot")
        self._journal.prune(self.client.answer().durable)

    def _idle(self) -> None:
        if self.is_recalled:
            raise Recalled
        self.on_idle()

    # Breaking and coming back.

    def _try(self, work: Callable[[], None]) -> None:
        with self._busy:
            self._attempt(work)

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BROKEN as error:
            self._break(error)

    def _break(self, error: PserverError) -> None:
        """The connection is no good any more. Raises where nothing is to be done about it."""
        if not self._respite.begin().left_s():
            raise error
        self._broken = error
        self.client.close()

    def _be_back(self) -> None:
        """Wait until the line is good, looking after the others."""
        while self._broken is not None:
            if self.is_recalled:
                raise Recalled
            with self._busy:
                if self._return is None and self._broken is not None:
                    self._come_back()
                coming = self._return
            if coming is not None:
                self._await(coming)

    def _await(self, coming: Return) -> None:
        coming.thread.join(_LOOK_S)
        if coming.thread.is_alive():
            self._idle()
        elif coming.error is not None:
            raise coming.error
        else:
            with self._busy:
                self._return = None if self._return is coming else self._return

    def _come_back(self) -> None:
        self._notice(f"{self._broken} Trying to come back.")
        back = threading.Thread(target=lambda: self._run(coming), name=f"back to {self.what}", daemon=True)
        self._return = coming = Return(back)
        back.start()

    def _run(self, coming: Return) -> None:
        try:
            while self._broken is not None and self._farewell is None:
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
        self._respite.bind(client)
        try:
            self._connect_again(client)
            self._greeting.say(client, self._answered)
            self._hear_welcome(client)
            self._respite.go_on()
            declare_again(client, self._start, self._open)
            self._share_again(client)
            self._tell_again(client)
        except BROKEN:
            client.close()
            raise
        except BaseException as error:  # it is given up: other trainers must not wait for this one
            client.say_goodbye(Goodbye(told(error)))
            client.part()
            raise
        with self._busy:
            self.client, self._broken = client, None
            self._respite.release(client, self._idle)
            if self._open is not None:  # now: others may wait for it while this trainer waits elsewhere
                self._ask()
        self._notice(f"{self.what}: the connection is back")

    def _connect_again(self, client: Client) -> None:
        try:
            client.connect(self._respite.begin(), insists=self.welcome.keeps and not self._is_leaving)
        except ShardUnreachable as error:
            raise ShardUnreachable(f"{self._broken} It did not come back: {error}") from error
        except Refused as error:  # damaged on the way: it was right before
            raise ConnectionLost(str(error)) from error
        if self._farewell is not None:
            raise ConnectionLost("it is left")

    def _hear_welcome(self, client: Client) -> None:
        welcome = self._greeting.hear(client)
        lacks = not self._journal.reaches(welcome.settled, self._answered)
        if self._start.is_over and (not welcome.ready or lacks):
            raise state_lost(self.what, self._answered.pushes)
        self.welcome = welcome

    def _tell_again(self, client: Client) -> None:
        with self._busy:
            entries, asked = self._journal.lacking(self.welcome.settled), self._open
        values = memoryview(bytearray(self.reply_bytes.most if entries else 0))  # nobody computes with them
        for entry in entries:
            if asked is not None and entry is asked.entry:
                return  # asked again once the line is back
            self._respite.go_on()
            size = self.reply_bytes.to(entry.message)
            tell_again(client, entry, [values[:size]] if size else [])
            self._respite.end()
