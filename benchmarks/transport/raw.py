"""The limit to come near to: the same exchange over a bare blocking socket, with nothing around it.

The client sends its gradient; the server receives it into place, takes one step of gradient descent and
sends the new values, which land in place. The server process runs this same file.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import xxhash

from benchmarks.transport.exchange import answer, cores, gradient, keep_to, start, stepper
from benchmarks.worker import Work

_SLICE = 256 << 10  # slices and buffers of these sizes were the fastest of those tried on one machine
_BUFFER = 1 << 20

Way = Literal["tcp", "unix"]


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    return peers(settings["floats"], "tcp", checked=False)


def peers(floats: int, way: Way, *, checked: bool) -> Work:
    """Client and server; ``checked``: both compute and compare a checksum of all that passes."""
    client_core, server_core = cores()
    server = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "benchmarks.transport.raw",
            *map(str, (floats, int(checked), server_core, way)),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    keep_to(client_core)
    wire = Wire(_connected(way, server.stdout.readline().strip()), checked=checked)
    values, pushed = start(floats), gradient(floats)

    def run(count: int) -> None:
        for _ in range(count):
            wire.send(pushed)
            wire.receive(values)

    def close() -> None:
        wire.close()
        server.wait()
        server.stdout.close()

    return Work(run, answer(run, values), servers=(server.pid,), close=close)


def serve(floats: int, way: Way, *, checked: bool) -> None:
    """Serve one client until it closes."""
    values, pushed = start(floats), np.empty(floats, np.float32)
    step = stepper(values)
    with _listening(way) as listener:
        name = listener.getsockname()
        print(name[1:].decode() if isinstance(name, bytes) else name[1], flush=True)
        wire = Wire(listener.accept()[0], checked=checked)
    while wire.receive(pushed):
        step(pushed)
        wire.send(values)


def _listening(way: Way) -> socket.socket:
    if way == "tcp":
        return socket.create_server(("127.0.0.1", 0))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")  # the kernel chooses an abstract name
    listener.listen()
    return listener


def _connected(way: Way, to: str) -> socket.socket:
    if way == "tcp":
        return socket.create_connection(("127.0.0.1", int(to)))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"\0{to}")
    return connection


class Wire:
    """A socket for arrays whose sizes both sides know; ``checked``: with an xxh3 checksum behind each."""

    def __init__(self, connection: socket.socket, *, checked: bool):
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            connection.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        self.close = connection.close
        self._connection = connection
        self._digest = xxhash.xxh3_64() if checked else None

    def send(self, array: np.ndarray) -> None:
        """Send the bytes of ``array``, each slice hashed while it is in cache."""
        view = memoryview(array).cast("B")
        for offset in range(0, len(view), _SLICE):
            piece = view[offset : offset + _SLICE]
            if self._digest:
                self._digest.update(piece)
            self._connection.sendall(piece)
        if self._digest:
            self._connection.sendall(self._digest.digest())

    def receive(self, array: np.ndarray) -> bool:
        """Fill ``array``; False at the end of the stream."""
        view = memoryview(array).cast("B")
        filled = 0
        while filled < len(view):
            count = self._connection.recv_into(view[filled : filled + _SLICE])
            if count == 0:
                return False
            if self._digest:
                self._digest.update(view[filled : filled + count])
            filled += count
        if self._digest and self._connection.recv(8, socket.MSG_WAITALL) != self._digest.digest():
            raise ValueError("an array was damaged on the way")
        return True


if __name__ == "__main__":
    keep_to(int(sys.argv[3]))
    serve(int(sys.argv[1]), sys.argv[4], checked=bool(int(sys.argv[2])))
