"""A slow link: passes on what comes to a loopback port, so many bits a second in each direction.

A process of its own, so that its arithmetic is not a contender's. It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time

_PIECE_BYTES = 1 << 15
_CREDIT_S = 0.005  # what was slept too long on a busy machine is made up for
_BUFFER_BYTES = 1 << 16  # little is under way beyond the link, as on a real one


class Lane:
    """One direction. All its connections share the rate."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._free_at = time.perf_counter()
        self._lock = threading.Lock()

    def carry(self, one: socket.socket, other: socket.socket) -> None:
        """Pass on until one side ends."""
        piece = memoryview(bytearray(_PIECE_BYTES))
        with contextlib.suppress(OSError):
            while count := one.recv_into(piece):
                with self._lock:
                    now = time.perf_counter()
                    self._free_at = max(now - _CREDIT_S, self._free_at) + count / self._bytes_per_s
                    wait_s = self._free_at - now
                time.sleep(max(wait_s, 0.0))
                other.sendall(piece[:count])
        for end, way in ((one, socket.SHUT_RD), (other, socket.SHUT_WR)):
            with contextlib.suppress(OSError):
                end.shutdown(way)


def main(port: int, megabits: int) -> None:
    """Pass on to ``port``; says on which one it listens."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=_end_with_input, daemon=True).start()
    there, back = (Lane(megabits * 1e6 / 8) for _ in range(2))
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=there.carry, args=(near, far), daemon=True).start()
        threading.Thread(target=back.carry, args=(far, near), daemon=True).start()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
