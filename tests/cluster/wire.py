"""A wire: somebody between trainers and a pserver, at another address, who passes all on and keeps it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

_APPLICATION_DATA, _LENGTH_AT, _MORE = 0x17, 3, 0x20


class Wire:
    """From ``host`` to ``to``, at the same ``ports``. ``lengthens``: ways ("up", "down") on each of which the
    next record of TLS is said to be 8 KiB longer than it is."""

    def __init__(self, host: str, ports: Sequence[int], to: str) -> None:
        self.ports = ports
        self.seen = bytearray()
        self.lengthens: set[str] = set()
        self._ends: list[socket.socket] = []
        self._listeners = [socket.create_server((host, port)) for port in ports]
        for listener in self._listeners:
            threading.Thread(target=self._serve, args=(listener, to), daemon=True).start()

    def cut(self) -> None:
        """End every connection there is; new ones may come."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):  # it has ended already
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)  # who is accepting holds it open
            listener.close()

    def _serve(self, listener: socket.socket, to: str) -> None:
        port = listener.getsockname()[1]
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection((to, port))
            except OSError:  # nobody is there yet
                near.close()
                continue
            self._ends += [near, far]
            for one, other, way in ((near, far, "up"), (far, near, "down")):
                threading.Thread(target=self._pass, args=(one, other, way), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, way: str) -> None:
        try:
            while data := bytearray(one.recv(1 << 16)):
                self.seen += data
                if way in self.lengthens and data[0] == _APPLICATION_DATA:
                    self.lengthens.discard(way)
                    data[_LENGTH_AT] |= _MORE
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            other.close()
