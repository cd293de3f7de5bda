"""Approach: how a trainer comes to a shard: by its name (nearby.py) if it is here, or its port.

1.  A name under which nobody answers in ``NEAR_S`` is left for the port.
2.  Whoever is silent at both has not begun to serve, or was stopped: the attempt fails, and the next one
    begins with the name.
3.  Where the port answers after the name was silent, the name is tried once more: what kept the shard from
    answering is over, and who came over TCP would stay there for the whole job.
4.  Whoever goes over TCP though there is a name is told so.
5.  It is tried until it works or a deadline is over, and told now and then that it waits. At first it is
    tried often: who starts with the trainer serves in a moment. Who arrives after that has not arrived.

It must never know what a session carries.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from typing import NamedTuple

from paddle._pserver.errors import GARBLED, PserverError, nobody_listens
from paddle._pserver.protocol import link
from paddle._pserver.protocol.paths import SESSION_PATH
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trust import handshake, nearby
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.handshake import Stream, left
from paddle._pserver.trust.tls_socket import TlsSocket

NEAR_S = 1.0
_ATTEMPT_S = 5.0
_SOON_S, _RETRY_S = 0.02, 0.2
_FIRST_NOTICE_S = 2.0
_LONGEST_NOTICE_S = 30.0


class Arrived(NamedTuple):
    """Where an attempt came to. ``can_damage``: whether bytes can be damaged on the way."""

    stream: Stream
    can_damage: bool


class Approach:
    """See the module's text. ``what``: the shard, for people; ``token``: the job's; ``trust``: whose
    certificates are good, where TCP is encrypted; ``path``: of its sessions.

    What failed is kept without the way that it went, by which it would know the call that keeps it, and all
    that this has: a connection, too, that is there at last."""

    def __init__(
        self,
        address: tuple[str, int],
        what: str,
        token: Token | None,
        trust: ssl.SSLContext | None,
        notice: Callable[[str], None],
        path: str = SESSION_PATH,
    ) -> None:
        self._path = path
        self._address, self._what, self._token, self._trust = address, what, token, trust
        self._notice = notice

    def come(self, deadline: Deadline, *, insists: bool) -> Arrived:
        """Come there; unless it ``insists``, at once or not where nothing listens. Raises PserverError."""
        began = time.monotonic()
        notice_at = began + _FIRST_NOTICE_S
        host, port = self._address
        why: OSError = TimeoutError("timed out")
        while True:
            try:
                arrived = self.attempt(time.monotonic() + min(deadline.left_s(), _ATTEMPT_S))
                if deadline.left_s():
                    return arrived
                arrived.stream.close()  # it was given up meanwhile: nothing is said here
                raise TimeoutError("timed out")
            except OSError as error:
                now, left_s = time.monotonic(), deadline.left_s()
                if left_s or not isinstance(error, TimeoutError):
                    why = error.with_traceback(None)  # and not that the last attempt was cut short
                is_refused = isinstance(error, ConnectionRefusedError) and not insists
                if is_refused or not left_s:
                    found = nearby.elsewhere(host, port)
                    raise nobody_listens(host, port, now - began, why, found, waits=not is_refused) from why
                if now >= notice_at:
                    found = nearby.elsewhere(host, port)
                    other = f" (one of this machine listens at {', '.join(found)})" if found else ""
                    self._notice(f"waiting for pserver {host}:{port} for {now - began:.0f} s{other}")
                    notice_at = now + min(now - began, _LONGEST_NOTICE_S)
                time.sleep(min(max(_SOON_S, (now - began) / 8), _RETRY_S, left_s))

    def attempt(self, deadline: float) -> Arrived:
        """Come there by ``deadline`` (``time.monotonic()``); raises OSError or PserverError."""
        near, why = self._near(deadline)
        if near is not None:
            return near
        far = self._far(deadline)
        if isinstance(why, TimeoutError):
            near, why = self._near(time.monotonic() + 2 * NEAR_S)
            if near is not None:
                far.stream.close()
                return near
        if why is not None:
            self._notice(f"{self._what} is met over TCP, though it is on this machine: by its name, {why}")
        return far

    def _near(self, deadline: float) -> tuple[Arrived | None, Exception | None]:
        """By its name; or why not, where it has one."""
        sock = nearby.connect(*self._address, min(NEAR_S, left(deadline) / 2))
        if sock is None:
            return None, None
        try:
            return self._introduced(sock, time.monotonic() + min(NEAR_S, left(deadline) / 2)), None
        except (OSError, PserverError) as error:
            return None, error

    def _far(self, deadline: float) -> Arrived:
        for _ in range(2):
            with contextlib.suppress(*GARBLED):  # by a damaged bit, perhaps: the third is believed
                return self._by_port(deadline)
        return self._by_port(deadline)

    def _by_port(self, deadline: float) -> Arrived:
        return self._introduced(_connected(self._address, deadline), deadline, self._trust)

    def _introduced(
        self, sock: socket.socket, deadline: float, trust: ssl.SSLContext | None = None
    ) -> Arrived:
        host = self._address[0]
        try:
            link.tune(sock)
            can_damage = link.can_damage(sock)
            stream: Stream = sock if trust is None else TlsSocket(sock, trust, host, self._what, deadline)
            handshake.upgrade(stream, host, self._what, self._token, deadline, self._path)
        except BaseException:
            sock.close()
            raise
        return Arrived(stream, can_damage)


def _connected(address: tuple[str, int], deadline: float) -> socket.socket:
    """As ``socket.create_connection``; but all addresses of a host together have the time it gives each."""
    why: OSError = TimeoutError("timed out")
    for family, kind, protocol, _, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(left(deadline))
            sock.connect(place)
        except OSError as error:
            sock.close()
            why = error.with_traceback(None)
        else:
            return sock
    try:
        raise why
    finally:
        del why  # see there
