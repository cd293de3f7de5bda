"""A pserver on one loopback port, over TCP, that ends with its standard input."""

from __future__ import annotations

import os
import signal
import sys
import threading

from benchmarks.safety.exchange import TRAINERS
from benchmarks.transport.exchange import keep_to
from paddle._pserver.service import ServerOptions, serve
from paddle._pserver.tls import read_certificate


def main(port: int, core: int, certificate: str, key: str) -> int:
    """Serve; with a ``certificate``, encrypted."""
    keep_to(core)
    threading.Thread(target=_end_with_input, daemon=True).start()
    options = ServerOptions(
        addresses=("127.0.0.1",), port=port, num_gradient_servers=TRAINERS, is_nearby=False
    )
    shown = read_certificate(certificate, key)[0] if certificate else None
    return serve(options, lambda ports: print("ready", flush=True), certificate=shown)


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
