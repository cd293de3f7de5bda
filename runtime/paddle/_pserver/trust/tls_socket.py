"""TLS socket: a connected socket that encrypts, for a trainer's end of a session (client.py).

It has those of a socket's calls that a client uses, with their meanings. One thread may send while another
receives, which an ``ssl.SSLSocket`` does not stand: here nobody waits while it has the cipher's state.

It must never know what is said. Guarantee: nothing is said before the other side has shown a certificate for
the host from an authority that is trusted; every call ends within the timeout that was set.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from paddle._pserver.errors import NotTrusted, TlsMismatch
from paddle._pserver.trust.tls import name_of

_CHUNK_BYTES = 1 << 18
_RECORD_BYTES = 1 << 14
MOST_RECORDS = 1 << 24
"""With one key, by AES-GCM: RFC 9846 allows 2^24.5, and OpenSSL counts none and goes on."""
_ONE_JOB = "Trainers need the certificate of the job's authority: PADDLE_TLS_CA, PADDLE_INIT_TLS_CA."


class TlsSocket:
    """See the module's text. ``sock``: connected; it belongs to this then. ``what``: the other side, for
    people. ``certificate``: how the one that it showed is called.

    Raises NotTrusted and TlsMismatch where trying again is of no use, else OSError.
    """

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, host: str, what: str, deadline: float
    ) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._cipher = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._turn = threading.Lock()  # of the three above
        self._chunk = memoryview(bytearray(_CHUNK_BYTES))
        self._sent = self._received = 0  # records, each with a key of its own
        self._has_ended = False
        self._ahead = b""  # looked at, and not received yet
        self._timeout_s: float | None = None
        self.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            self._shake_hands()
        except ssl.SSLCertVerificationError as error:
            raise NotTrusted(
                f"{what} shows a certificate that this trainer does not trust: {error.verify_message}. "
                f"{_ONE_JOB} It must be for the host that trainers are told, {host!r}, and be valid today."
            ) from error
        except ssl.SSLError as error:
            if isinstance(error, ssl.SSLEOFError) or "ALERT" in (error.reason or ""):
                raise ConnectionResetError(f"it ended the TLS handshake: {error.reason}") from error
            raise TlsMismatch(
                f"{what} speaks no TLS, and this trainer wants it: start the pserver with --tls_cert and "
                "--tls_key, or the trainer without PADDLE_TLS_CA."
            ) from error
        self.certificate = name_of(self._cipher.getpeercert(binary_form=True) or b"")

    @property
    def is_worn(self) -> bool:
        """Whether a key has encrypted as much as it should."""
        return max(self._sent, self._received) >= MOST_RECORDS

    # As of a socket.

    def settimeout(self, timeout_s: float | None) -> None:
        """For every call that follows, as a whole."""
        self._timeout_s = timeout_s

    def getpeername(self) -> Any:
        """As of the socket."""
        return self._socket.getpeername()

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self.sendmsg([memoryview(data)])

    def sendmsg(self, buffers: Sequence[memoryview]) -> int:
        """Send all of these; after an error nothing more may be sent. Returns how many bytes that were."""
        end = self._end()
        size = sum(view.nbytes for view in buffers)
        for part in [memoryview(b"".join(buffers))] if size <= _RECORD_BYTES else buffers:
            for start in range(0, part.nbytes, _CHUNK_BYTES):
                with self._turn:
                    written = self._cipher.write(part[start : start + _CHUNK_BYTES])
                    self._sent += -(-written // _RECORD_BYTES)
                    secret = self._outgoing.read()
                self._send(secret, end)
        return size

    def send(self, data: memoryview) -> int:
        """The same of one."""
        return self.sendmsg([data])

    def recv(self, count: int, flags: int = 0) -> bytes:
        """Some bytes, at most ``count``; none at the end. ``MSG_PEEK``: one, which is received again."""
        data = self._ahead
        if not data:
            room = memoryview(bytearray(1 if flags == socket.MSG_PEEK else count))
            data = bytes(room[: self.recvmsg_into([room])[0]])
        self._ahead = data if flags == socket.MSG_PEEK else data[count:]
        return data[:count]

    def recv_into(self, room: memoryview) -> int:
        """As :meth:`recvmsg_into`, into one."""
        return self.recvmsg_into([room])[0]

    def recvmsg_into(self, buffers: Sequence[memoryview]) -> tuple[int]:
        """Receive what is there, at least a byte; 0 at the end."""
        if self._ahead:
            buffers[0][:1], self._ahead = self._ahead, b""
            return (1,)
        end = self._end()
        while (count := self._decrypted(buffers)) is None:
            self._receive(end)
        return (count,)

    def fileno(self) -> int:
        """As of the socket."""
        return self._socket.fileno()

    def shutdown(self, how: int) -> None:
        """As of the socket."""
        self._socket.shutdown(how)

    def close(self) -> None:
        """Close, and say so where that does not need waiting."""
        with suppress(OSError), self._turn:
            with suppress(ssl.SSLError):
                self._cipher.unwrap()
            self._socket.send(self._outgoing.read())
        self._socket.close()

    # Beneath.

    def _end(self) -> float | None:
        return None if self._timeout_s is None else time.monotonic() + self._timeout_s

    def _wait(self, event: int, end: float | None) -> None:
        """Until the socket can go on. Each thread waits for itself, as a socket's own timeout is for all."""
        poll = select.poll()
        poll.register(self._socket, event)
        left_s = None if end is None else end - time.monotonic()
        if not poll.poll(None if left_s is None else max(0.0, left_s) * 1000):
            raise TimeoutError("timed out") if self._timeout_s else BlockingIOError("nothing is there")

    def _send(self, secret: bytes, end: float | None) -> None:
        left = memoryview(secret)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, end)

    def _receive(self, end: float | None) -> None:
        """More of what is encrypted, for who decrypts."""
        self._wait(select.POLLIN, end)
        count = self._socket.recv_into(self._chunk)
        with self._turn:
            if count:
                self._incoming.write(self._chunk[:count])
            else:
                self._incoming.write_eof()

    def _decrypted(self, buffers: Sequence[memoryview]) -> int | None:
        """Fill ``buffers`` with what has come whole; 0 at the end, None where more must come first."""
        total = 0
        with self._turn:
            for view in buffers:
                total += (count := self._fill(view))
                if count < view.nbytes:
                    break
        return total if total or self._has_ended else None

    def _fill(self, view: memoryview) -> int:
        """A record at a time, as the cipher has them."""
        count = 0
        with suppress(ssl.SSLWantReadError):
            while count < view.nbytes and not self._has_ended:
                more = 0  # at an end that was told; one that was not is as good: frames say what is whole
                with suppress(ssl.SSLZeroReturnError, ssl.SSLEOFError):
                    more = cast(int, self._cipher.read(view.nbytes - count, view[count:]))
                self._has_ended = not more
                self._received += 1
                count += more
        return count

    def _shake_hands(self) -> None:
        end = self._end()
        while True:
            try:
                self._cipher.do_handshake()
            except ssl.SSLWantReadError:
                self._send(self._outgoing.read(), end)
                self._receive(end)
            except ssl.SSLError:
                with suppress(OSError):  # the other side is told why, if it listens
                    self._send(self._outgoing.read(), end)
                raise
            else:
                return self._send(self._outgoing.read(), end)
