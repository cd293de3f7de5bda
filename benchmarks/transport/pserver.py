"""A pserver on one loopback port that ends with its last trainer, or with its standard input."""

from __future__ import annotations

import os
import signal
import sys
import threading

from benchmarks.transport.exchange import keep_to
from paddle._pserver.service import ServerOptions, serve


def main(port: int, core: int, is_nearby: int) -> int:
    """Serve one trainer; ``is_nearby``: it may come over a unix-domain socket."""
    keep_to(core)
    threading.Thread(target=_end_with_input, daemon=True).start()
    options = ServerOptions(addresses=("127.0.0.1",), port=port, is_nearby=bool(is_nearby))
    return serve(options, lambda ports: print("ready", flush=True))


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
