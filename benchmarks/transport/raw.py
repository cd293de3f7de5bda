"""The limit to come near to: the same exchange over a bare blocking TCP socket, with nothing around it.

The client sends a header and its gradient; the server receives both into place, takes one step of gradient
descent and sends the new values, which land in place. The server process runs this same file.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.transport.exchange import LEARNING_RATE, answer, gradient, start
from benchmarks.worker import Work

_HEADER = struct.Struct("<qq")
_SLICE = 256 << 10  # slices and buffers of these sizes were the fastest of those tried on loopback
_BUFFER = 1 << 20


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    floats = settings["floats"]
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "benchmarks.transport.raw", str(floats)],
        stdout=subprocess.PIPE,
        text=True,
    )
    port = int(server.stdout.readline())
    connection = _tuned(socket.create_connection(("127.0.0.1", port)))
    values, pushed = start(floats), gradient(floats)

    def run(count: int) -> None:
        for _ in range(count):
            connection.sendall(_HEADER.pack(1, floats))
            _send(connection, pushed)
            _receive(connection, values)

    def close() -> None:
        connection.close()
        server.wait()
        server.stdout.close()

    return Work(run, answer(run, values), servers=(server.pid,), close=close)


def serve(floats: int) -> None:
    """Serve one client until it closes."""
    from paddle._engine.exchange import RuleSpec
    from paddle._engine.penalties import Penalties
    from paddle._engine.rules import rule

    sgd, values, pushed = rule(RuleSpec(name="sgd")), start(floats), np.empty(floats, np.float32)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        connection = _tuned(listener.accept()[0])
    header = np.empty(_HEADER.size, np.uint8)
    step = 0
    while _receive(connection, header):
        _receive(connection, pushed)
        step += 1
        sgd.dense(values, pushed, (), LEARNING_RATE, Penalties(), step)
        _send(connection, values)


def _tuned(connection: socket.socket) -> socket.socket:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        connection.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
    return connection


def _send(connection: socket.socket, array: np.ndarray) -> None:
    view = memoryview(array).cast("B")
    for offset in range(0, len(view), _SLICE):
        connection.sendall(view[offset : offset + _SLICE])


def _receive(connection: socket.socket, array: np.ndarray) -> bool:
    """Fill ``array``; False at the end of the stream."""
    view = memoryview(array).cast("B")
    filled = 0
    while filled < len(view):
        count = connection.recv_into(view[filled : filled + _SLICE])
        if count == 0:
            return False
        filled += count
    return True


if __name__ == "__main__":
    serve(int(sys.argv[1]))
