"""A wire: somebody between trainers and a pserver, at another address, who passes all on and keeps it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress


class Wire:
    """From ``host`` to ``to``, at the same ``ports``."""

    def __init__(self, host: str, ports: Sequence[int], to: str) -> None:
        self.ports = ports
        self.seen = bytearray()
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
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(1 << 16):
                self.seen += data
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            other.close()
