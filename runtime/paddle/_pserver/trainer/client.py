"""Client: one trainer's connection to one shard. Blocking, and never for ever.

It must never know what its messages mean for training. On the shard's own machine it goes by the shard's
name (nearby.py), else over TCP.

Guarantee: every call ends: with its answer, or, ``call_timeout_s`` after the last sign of the shard
(deadline.py), with an error that names it, what was asked and for how long; what has come by then is heard.
Bodies are sent from and received into the arrays that the caller names; after an error nothing more is asked.
"""

from __future__ import annotations

import contextlib
import logging
import math
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import NoReturn

import msgspec

from paddle._pserver.errors import (
    BadMessage,
    ConnectionLost,
    FrameError,
    NotCounted,
    PserverError,
    ShardUnreachable,
    TrainerLost,
    error_named,
    unreachable,
)
from paddle._pserver.memory import shown
from paddle._pserver.protocol import link
from paddle._pserver.protocol.framing import FrameReader, Limits, pieces
from paddle._pserver.protocol.messages import (
    REPLY_BYTES,
    Answer,
    Declared,
    Failure,
    Goodbye,
    Reply,
    Request,
    Share,
    Shared,
    Sign,
    Waiting,
    encode,
)
from paddle._pserver.protocol.paths import SESSION_PATH
from paddle._pserver.protocol.vigil import Vigil
from paddle._pserver.trainer.approach import Approach
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.last_words import last_words, words_ahead
from paddle._pserver.trainer.receipt import Receipt, Told
from paddle._pserver.trainer.sign import SIGN, Silence
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.handshake import Stream
from paddle._pserver.trust.tls_socket import TlsSocket
from paddle._visible import paragraph

Notice = Callable[[str], None]

_LAST_WORDS_S = 1.0
IDLE_S = 0.5
"""As long as nothing comes and nothing goes whoever waits looks around."""

_PARTING_S = 5.0
_NOT_YET = (TimeoutError, BlockingIOError)

_log = logging.getLogger("paddle.pserver")


class Client:
    """See the module's text. ``what``: the shard, for people; ``token``: the job's, where it has one;
    ``trust``: whose certificates are good, where TCP is encrypted."""

    def __init__(
        self,
        host: str,
        port: int,
        what: str,
        *,
        call_timeout_s: float,
        notice: Notice,
        token: Token | None = None,
        trust: ssl.SSLContext | None = None,
        path: str = SESSION_PATH,
    ) -> None:
        self.what = f"{what} at {host}:{port}"
        self._address = (host, port)
        self._call_timeout_s = call_timeout_s
        self._notice = notice
        self._approach = Approach(self._address, self.what, token, trust, notice, path)
        self._socket: Stream | None = None
        self._receipt = Receipt()
        self._reader = FrameReader(self._receipt.place, Limits(meta_bytes=REPLY_BYTES))
        self.takes_gradients = False  # from memory: a push needs no body
        self.announces = False  # pushes (bringing.py)
        self._timeout_s: float | None = None  # the socket's, where this set it last
        self._asked = "anything"
        self._asked_at = time.monotonic()
        # After which nothing can be asked. Never one that was raised: that knows the connection by the way it
        # went, whose buffers would stay until somebody collects what knows itself.
        self.failure: PserverError | None = None
        self._given_up = False
        self._silence = Silence()
        self._vigil = Vigil(lambda: True)  # of what is encrypted, something may be there already
        self._whole = True  # whether the last message went out whole
        # Called now and then while it waits for the other side.
        self.on_idle: Callable[[], None] = lambda: None
        self.on_waiting: Callable[[], None] = lambda: None  # the shard says for whom it waits
        self.longest_send_s = math.inf  # of one piece, where a timeout is the end
        self.renews = False  # whether it may be closed for another key: the line comes back
        self._is_closed = False

    # Connecting.

    def connect(self, deadline: Deadline, *, insists: bool = True) -> None:
        """Try until it works or the deadline is over. Unless it ``insists``, not any longer where nothing
        listens."""
        if self._socket is None:
            self._socket, self._reader.checks_body = self._approach.come(deadline, insists=insists)
            if not isinstance(self._socket, TlsSocket):
                self._vigil = Vigil(link.look_at(self._socket))
            if self._is_closed:  # meanwhile, by another thread
                self.close()

    # Asking.

    def send(
        self,
        message: Request,
        body: Sequence[memoryview] = (),
        *,
        asking: str,
        within_s: float | None = None,
    ) -> None:
        """Ask; the answer must be received before the next question. ``asking``: in words, for errors;
        ``within_s``: how long sending may take, if not as long as any call."""
        if self.renews and isinstance(self._socket, TlsSocket) and self._socket.is_worn:
            raise ConnectionLost(f"{self.what}: a key has encrypted as much as one should.")
        self._asked, self._asked_at = asking, time.monotonic()
        deadline = Deadline(self._call_timeout_s if within_s is None else within_s)
        kind, meta = encode(message)
        self._whole = False
        try:
            for group in pieces(kind, meta, body, checks_body=self._reader.checks_body):
                self._send_all(group, deadline)
        except OSError as error:
            self._hear_last_words()
            raise self._unreachable(error) from error
        self._whole = True

    def receive(self, into: Sequence[memoryview] = (), told: Told | None = None) -> Reply:
        """The answer; its body is written into ``into``, byte views that it must fill exactly. Meanwhile
        ``told`` is called with the number of bytes of it that have come and are right.

        A shard that says for whom it waits is alive, and ends the wait itself (barrier.py).
        """
        self._receipt.expect(into, told)
        while True:
            reply = self._next(Deadline(self._call_timeout_s))
            if isinstance(reply, Answer):
                self._receipt.look(reply, self.what)
                return reply
            if isinstance(reply, Failure):
                raise self._failed(reply)
            if not isinstance(reply, Waiting):
                self.announces = reply.announces if isinstance(reply, Declared) else self.announces
                return reply
            self.on_waiting()
            self._notice(f"{self.what} was asked {self._asked}: it is {paragraph(reply.text)}")

    def let_go(self) -> None:
        """Hold no longer what the last answer was received into."""
        self._receipt.expect()

    def share(self, share: Share, *, is_in_step: bool) -> None:
        """Have the shard read gradients from memory, and read values from its own, as far as both can."""
        if not self.is_near:
            return
        shared = self._shared(share)
        if shared.values is not None:
            self._receipt.seen = shown.find(shared.process, shared.values, is_still=is_in_step)
            if self._receipt.seen is None:
                shared = self._shared(msgspec.structs.replace(share, reads=False))
        self.takes_gradients = shared.takes

    def _shared(self, share: Share) -> Shared:
        self.send(share, asking="to share memory")
        shared = self.receive()
        if not isinstance(shared, Shared):
            raise BadMessage(f"{self.what} was asked {self._asked} and answered {type(shared).__name__}")
        return shared

    def answer(self, into: Sequence[memoryview] = ()) -> Answer:
        """As :meth:`receive`, for questions whose answer is an Answer."""
        reply = self.receive(into)
        if not isinstance(reply, Answer):
            raise BadMessage(f"{self.what} was asked {self._asked} and answered {type(reply).__name__}")
        return reply

    def say_goodbye(self, message: Goodbye) -> None:
        """Say it, as far as the other side can still understand it. Idempotent; takes seconds at most, and
        raises nothing."""
        if self._socket is None:
            return
        self.renews = False  # nothing comes behind it
        try:
            if self._whole:
                self.send(message, asking="to say goodbye", within_s=_LAST_WORDS_S)
        except PserverError:
            self.close()

    def part(self) -> None:
        """After the goodbye: hear the other side out, unless it was given up, and close. Idempotent, as brief
        and as quiet."""
        until = Deadline(_PARTING_S)
        try:
            # Answers to what was asked before, then to the goodbye, then the end, with which it is given up.
            while self._socket is not None and self._whole and not self._given_up:
                self._next(until)
        except PserverError:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Close without a word. Idempotent."""
        self._is_closed = True
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def shut(self) -> None:
        """End what another thread is sending or receiving here."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def is_broken(self) -> bool:
        """Whether the other side has closed the connection, or it failed, whatever it said before. Nothing
        may be asked meanwhile."""
        return self._socket is None or link.has_ended(self._socket) or self._peek() == b""

    def hear_out(self) -> NoReturn:
        """It is broken: raise why, as the shard told before it ended, if it did."""
        told = last_words(self._socket) if self._socket is not None else None
        raise self._failed(told) if told else ConnectionLost(f"{self.what} closed the connection.")

    def hear_ahead(self) -> None:
        """Raise what the shard says behind an answer that is still to be read: that the job is broken."""
        if self._socket is None or not self._reader.idle:
            return
        self._timeout_s = None  # it will be another one
        told = words_ahead(self._socket)
        if told is not None and isinstance(error_named(paragraph(told.code), ""), TrainerLost):
            raise self._failed(told)

    def hear_unasked(self) -> None:
        """Raise what the shard says though nothing was asked: that the job is broken."""
        if not self._reader.idle or self._peek():
            reply = self._one(Deadline(_LAST_WORDS_S))
            if isinstance(reply, Failure):
                raise self._failed(reply)

    def _peek(self) -> bytes | None:
        """The next byte; None while there is none, nothing where none will come any more."""
        if self._socket is None:
            return b""
        self._socket.settimeout(0.0)
        self._timeout_s = None
        try:
            return self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    @property
    def is_sent_away(self) -> bool:
        """Whether the shard told an error with which it closes the connection, and hears nothing on it."""
        return self.failure is not None and not isinstance(self.failure, TrainerLost | ShardUnreachable)

    @property
    def is_near(self) -> bool:
        """Whether it is connected by the shard's name: both are of one machine and user."""
        return isinstance(self._socket, socket.socket) and self._socket.family == socket.AF_UNIX

    def _ready(self, deadline: Deadline, most_s: float = IDLE_S) -> Stream:
        """The connection, for a call of ``most_s``, or of no time where the deadline is over."""
        sock = self._socket
        if sock is None:
            raise ShardUnreachable(f"{self.what}: goodbye was said, by stop_worker() or close()")
        left_s = deadline.left_s()
        timeout_s = most_s if left_s > most_s else left_s
        if timeout_s != self._timeout_s:  # as seldom as it can be, since that asks the system
            self._timeout_s = timeout_s
            if isinstance(sock, TlsSocket):
                sock.settimeout(timeout_s)
            else:
                link.wait_at_most(sock, timeout_s)
        return sock

    def _next(self, deadline: Deadline) -> Reply:
        """The next reply that is not only a sign."""
        self._silence.begin()
        while isinstance(reply := self._one(deadline), Sign):
            self._silence.answered()
        return reply

    def _one(self, deadline: Deadline) -> Reply:
        """The next message; one frame may come in many pieces, and many frames in one."""
        reader = self._reader
        try:
            while (reply := reader.message()) is None:
                if reader.checked and self._receipt.told is not None:
                    self._receipt.told(reader.checked)
                sock = self._ready(deadline)
                try:
                    self._vigil.keep()
                    buffers = reader.buffers()  # one, as most are, is received into in less time
                    one = len(buffers) == 1
                    count = sock.recv_into(buffers[0]) if one else sock.recvmsg_into(buffers)[0]
                except _NOT_YET:
                    self._idle(deadline)
                    self._want_sign(sock, deadline)
                    continue
                self._silence.heard()
                if not count:
                    raise ConnectionResetError("it closed the connection")
                reader.received(count)
        except OSError as error:
            raise self._unreachable(error) from error
        except FrameError as error:
            raise type(error)(f"{self.what}: {error}") from error
        return reply

    def _idle(self, deadline: Deadline) -> None:
        """Nothing is there. Raises TimeoutError where the deadline was over before it was looked."""
        if deadline.is_over:
            raise TimeoutError("timed out") from None
        self.on_idle()

    def _want_sign(self, sock: Stream, deadline: Deadline) -> None:
        """See sign.py."""
        is_open = isinstance(sock, TlsSocket) and self._whole and not self._given_up
        if is_open and self._silence.wants_sign(time.monotonic()):
            for group in pieces(*encode(SIGN), checks_body=self._reader.checks_body):
                self._send_all(group, deadline)

    def _send_all(self, group: list[memoryview], deadline: Deadline) -> None:
        is_patient = isinstance(self._socket, TlsSocket)  # which cannot go on after a timeout
        while group:
            sock = self._ready(deadline, self.longest_send_s if is_patient else IDLE_S)
            try:
                sent = sock.send(group[0]) if len(group) == 1 else sock.sendmsg(group)
            except _NOT_YET:
                if is_patient:
                    raise TimeoutError("timed out") from None
                self._idle(deadline)
                continue
            while group and sent >= group[0].nbytes:
                sent -= group.pop(0).nbytes
            if sent:
                group[0] = group[0][sent:]

    def _hear_last_words(self) -> None:
        """Raise the error that the shard told before it closed, if there is one."""
        try:
            reply = self._next(Deadline(_LAST_WORDS_S))
        except ShardUnreachable:
            return
        if isinstance(reply, Failure):
            raise self._failed(reply)

    def _failed(self, failure: Failure) -> PserverError:
        error = error_named(paragraph(failure.code), f"{self.what}: {paragraph(failure.text)}")
        error.culprits = failure.culprits
        if not isinstance(error, NotCounted):
            self.failure = copy(error)
        return error

    def _unreachable(self, error: OSError) -> ShardUnreachable:
        self._given_up = True
        failure = unreachable(self.what, self._asked, time.monotonic() - self._asked_at, error)
        self.failure = copy(failure)
        return failure
