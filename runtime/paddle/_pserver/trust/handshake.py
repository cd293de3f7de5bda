"""Handshake: how a trainer gets from a connection to a session with a pserver, over HTTP.

Without a token it asks to upgrade; with one it asks for a challenge first, and believes nobody who cannot
prove to have the token too (auth.py). It must never know what a session carries.

Guarantee: after it nothing of the session has been read; it ends by its deadline. A pserver that will have
this trainer later raises OSError, one that never will a PserverError that says what to change.
"""

from __future__ import annotations

import secrets
import socket
import time
from dataclasses import dataclass

from paddle._pserver.errors import NotAuthorized, ProtocolMismatch, TlsMismatch
from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Prover, Token, place_of
from paddle._pserver.trust.tls_socket import TlsSocket

_LONGEST_HEAD = 1 << 14
_LONGEST_TEXT = 1 << 14
_UPGRADE = f"Connection: Upgrade\r\nUpgrade: {UPGRADE}\r\n"
_ONE_JOB = (
    "All processes of a job need the same token: --token_file, PADDLE_INIT_TOKEN_FILE, PADDLE_TOKEN_FILE."
)
_AUTHORITY = (
    "give it the certificate of the job's authority, PADDLE_TLS_CA or PADDLE_INIT_TLS_CA, or start the "
    "pserver without --tls_cert."
)


@dataclass(frozen=True, slots=True)
class Head:
    """Of an HTTP answer: its first line and its headers, by their names in small letters."""

    line: str
    headers: dict[str, str]

    @property
    def code(self) -> str:
        """Such as ``101``."""
        return self.line.partition(" ")[2].partition(" ")[0]


Stream = socket.socket | TlsSocket


def upgrade(
    sock: Stream,
    host: str,
    what: str,
    token: Token | None,
    deadline: float,
    path: str = SESSION_PATH,
) -> None:
    """Make a session of a connection to ``host``. ``what``: it, for people; ``path``: of its sessions."""
    address, port = nearby.place(sock.getpeername())
    line = f"GET {path} HTTP/1.1\r\n"
    asked_of = f"{line}Host: {f'[{host}]' if ':' in host else host}:{port}\r\n"
    if token is None:
        head = _ask(sock, what, asked_of + _UPGRADE, deadline)
        if head.code == "401":
            raise NotAuthorized(
                f"{what} serves trainers with a token only, and this one has none. {_ONE_JOB}"
            )
        return _check_upgraded(head, what)
    shown = sock.certificate if isinstance(sock, TlsSocket) else address
    prover = Prover(token, place_of(shown, port), secrets.token_bytes(32))
    head = _ask(sock, what, asked_of, deadline)
    if head.code == "426":
        raise NotAuthorized(
            f"{what} knows no token, and this trainer has one: it may be another job's. {_ONE_JOB}"
        )
    answer = prover.answer(head.headers.get("www-authenticate", "")) if head.code == "401" else None
    if answer is None:
        return _refuse(head, what)
    head = _ask(sock, what, f"{asked_of}{_UPGRADE}Authorization: {answer}\r\n", deadline)
    if head.code == "401":
        raise ConnectionResetError("its challenge was too old when it was answered")
    if head.code == "403":
        raise NotAuthorized(
            f"{what} has another token than this trainer, or is behind an address that is not its own. "
            f"{_ONE_JOB}"
        )
    _check_upgraded(head, what)
    if not prover.believes(head.headers.get("authentication-info", "")):
        raise NotAuthorized(f"{what} let this trainer in and cannot prove that it has the token. {_ONE_JOB}")
    return None


def _check_upgraded(head: Head, what: str) -> None:
    if head.code != "101":
        _refuse(head, what)


def _refuse(head: Head, what: str) -> None:
    if head.code == "503":
        raise ConnectionAbortedError("it is crowded with connections that never say who they are")
    if head.code == "429":
        raise ConnectionAbortedError("it was asked too often without the right token from this host")
    raise ProtocolMismatch(
        f"{what} is not a pserver of this release: it answered {head.line!r}. Check pservers and port."
    )


def _ask(sock: Stream, what: str, headers: str, deadline: float) -> Head:
    sock.settimeout(left(deadline))
    sock.sendall(f"{headers}\r\n".encode("ascii"))
    text = b""
    while not text.endswith(b"\r\n\r\n"):  # byte by byte: what follows the head is not ours to take
        if len(text) > _LONGEST_HEAD:
            raise ConnectionResetError("its answer has no end")
        text += _receive(sock, 1, deadline)
    line, *rest = text.decode("latin-1").split("\r\n")
    pairs = (header.partition(":") for header in rest)
    head = Head(line, {name.strip().lower(): value.strip() for name, _, value in pairs})
    if head.code != "101":
        _skip(sock, head.headers.get("content-length", "0"), deadline)
    if head.headers.get("upgrade", "").startswith("TLS/"):
        raise TlsMismatch(f"{what} speaks TLS only, and this trainer does not: {_AUTHORITY}")
    return head


def _skip(sock: Stream, length: str, deadline: float) -> None:
    """Read an answer's text, so that the next answer can be read after it."""
    left = int(length) if length.isascii() and length.isdigit() else 0
    if left > _LONGEST_TEXT:
        raise ConnectionResetError("its answer is too long")
    while left:
        left -= len(_receive(sock, left, deadline))


def _receive(sock: Stream, count: int, deadline: float) -> bytes:
    sock.settimeout(left(deadline))
    data = sock.recv(count)
    if not data:
        raise ConnectionResetError("it closed the connection instead of answering")
    return data


def left(deadline: float) -> float:
    """Seconds until ``deadline``; raises TimeoutError when it has passed."""
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError("timed out")
    return left_s
