"""Lobby: connections from the moment they come until they are a session or have had their answer.

1.  A connection is nobody's for ``PATIENCE_S``: then it is closed, whatever it said, unless it has become a
    session. It has ``FIRST_S`` for its first byte, and for the handshake of TLS.
2.  No more than ``MAX_CALLERS``, and two for every trainer, are here. One more ends the oldest of the host
    that has most: who fills the lobby fills it for itself.
3.  With a certificate, what does not begin with TLS is told so in plain HTTP; without one, what does.
4.  Who is turned away is told to the log, of one host as often as a purse allows (refusals.py).
5.  By a unix socket there is no TLS: its bytes stay within this machine's kernel, which the certificate's key
    does too.

It must never know what is said. Guarantee: what connections cost before they are sessions is bounded; what
one host does costs another nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial

from paddle._pserver.service.refusals import Refusals
from paddle._pserver.trust.auth import host_of
from paddle._pserver.trust.tls import FIRST_BYTE, HANDSHAKE_S, Certificate

PATIENCE_S = 30.0
FIRST_S = 10.0
MAX_CALLERS = 128

_BREATH_S = 1.0  # after an accept that failed, for want of descriptors perhaps
_WANTS_TLS = (
    b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: TLS/1.3\r\nConnection: Upgrade, close\r\n"
    b"Content-Length: 32\r\n\r\nthis pserver speaks TLS: https:\n"
)
_SPEAKS_PLAINLY = (
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
    b"Content-Length: 32\r\n\r\nthis pserver does not speak TLS\n"
)


@dataclass(slots=True, eq=False)
class _Caller:
    """A connection that is nobody's yet. ``transport``: once it was handed to HTTP, whose ``http`` is."""

    host: str
    sock: socket.socket
    task: asyncio.Task[None] | None = None
    transport: asyncio.BaseTransport | None = None
    http: asyncio.BaseProtocol | None = None

    @property
    def is_here(self) -> bool:
        """Whether it is still nobody's."""
        if self.transport is None:
            return True
        return not self.transport.is_closing() and self.transport.get_protocol() is self.http

    def forget(self) -> None:
        """It is not looked after any more: whoever does keeps all of it until its time is over."""
        if self.task is not None:
            self.task.cancel()

    def end(self) -> None:
        """Close it at once."""
        self.forget()
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.abort()


class Lobby:
    """See the module's text. ``serve`` makes the HTTP of a connection."""

    def __init__(
        self,
        serve: Callable[[], asyncio.BaseProtocol],
        refusals: Refusals,
        trainers: int = 1,
        certificate: Certificate | None = None,
    ) -> None:
        self._serve, self._refusals, self._certificate = serve, refusals, certificate
        self._most = MAX_CALLERS + 2 * trainers
        self._callers: dict[int, _Caller] = {}  # oldest first
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()  # all that are not over, whoever is forgotten

    def open(self, listener: socket.socket) -> None:
        """Accept what comes to ``listener``, which belongs to this then."""
        listener.setblocking(False)
        self._begin(self._accept(listener)).add_done_callback(lambda _: listener.close())

    async def close(self) -> None:
        """Accept nothing any more, and end who is nobody yet. No task of this is left then, nor a socket that
        no transport has."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, name = await loop.sock_accept(listener)
            except OSError as error:
                self._refusals.tell("", f"cannot take a connection: {error}")
                await asyncio.sleep(_BREATH_S)
                continue
            near = sock.family == socket.AF_UNIX
            caller = _Caller("" if near else host_of(name[0]), sock)
            number = next(self._numbers)
            self._callers[number] = caller
            caller.task = self._begin(self._receive(caller, near))
            caller.task.add_done_callback(partial(self._over, number, caller))
            self._make_room()
            await asyncio.sleep(0)  # others have their turn, however many come

    def _make_room(self) -> None:
        """Rule 2."""
        if len(self._callers) <= self._most:
            return
        here = {number: caller for number, caller in self._callers.items() if caller.is_here}
        for number in self._callers.keys() - here.keys():
            self._callers.pop(number).forget()  # the others keep their order
        if len(here) > self._most:
            crowd = Counter(caller.host for caller in here.values()).most_common(1)[0][0]
            oldest = next(number for number, caller in here.items() if caller.host == crowd)
            self._callers.pop(oldest).end()
            self._refusals.tell(crowd, "too many connections are nobody's: the oldest was closed")

    async def _receive(self, caller: _Caller, near: bool) -> None:
        """One caller's time here."""
        try:
            if await self._enter(caller, near):
                await asyncio.sleep(PATIENCE_S)
                if caller.is_here:
                    caller.end()
        except (OSError, TimeoutError) as error:
            self._refusals.tell(caller.host, _why(error))

    def _over(self, number: int, caller: _Caller, task: asyncio.Task[None]) -> None:
        """Its time is over, also where that was cancelled before it began."""
        self._callers.pop(number, None)
        caller.task = None  # each would hold the other until garbage is collected, and the connection with it
        if caller.transport is None:
            caller.sock.close()

    async def _enter(self, caller: _Caller, near: bool) -> bool:
        """Hand it to HTTP, unless it is turned away."""
        loop, certificate = asyncio.get_running_loop(), None if near else self._certificate
        first = b"" if near else await _first_byte(caller.sock)
        if not first and not near:
            return False  # it has left
        is_tls = first == FIRST_BYTE
        if is_tls != (certificate is not None):
            why = "it speaks TLS, and this pserver does not" if is_tls else "it does not speak TLS"
            self._refusals.tell(caller.host, why)
            await self._answer(caller.sock, _SPEAKS_PLAINLY if is_tls else _WANTS_TLS)
            return False
        context, within_s = (None, None) if certificate is None else (certificate.context, HANDSHAKE_S)
        caller.transport, caller.http = await loop.connect_accepted_socket(
            self._serve, caller.sock, ssl=context, ssl_handshake_timeout=within_s
        )
        return True

    async def _answer(self, sock: socket.socket, text: bytes) -> None:
        """Say it, and hear the other side out: who closes with bytes unread takes back what it said."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # it is silent, or gone: the log has heard of it
            async with asyncio.timeout(FIRST_S):
                await loop.sock_sendall(sock, text)
                sock.shutdown(socket.SHUT_WR)
                heard = 0
                while (data := await loop.sock_recv(sock, 4096)) and heard < 1 << 16:
                    heard += len(data)


def _why(error: OSError | TimeoutError) -> str:
    """Why somebody was turned away, for people."""
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"
    if error.strerror:
        return f"it broke off ({error.strerror})"
    return str(error) or "it was silent"


async def _first_byte(sock: socket.socket) -> bytes:
    """Look at it, and leave it to be read; none at the end."""
    loop = asyncio.get_running_loop()
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        readable = asyncio.Event()
        loop.add_reader(sock, readable.set)
        try:
            async with asyncio.timeout(FIRST_S):
                await readable.wait()
        finally:
            loop.remove_reader(sock)
        return sock.recv(1, socket.MSG_PEEK)
