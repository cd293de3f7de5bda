"""A pserver on one loopback port that ends with its last trainer, or with its standard input."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from benchmarks.transport.exchange import keep_to
from paddle._pserver.service.service import ServerOptions, SnapshotOptions, serve
from paddle._pserver.trust.tls import read_certificate

SNAPSHOT_STEPS = 4  # from one snapshot to the next


def main(
    port: int,
    core: int,
    trainers: int,
    way: str = "tcp",
    certificate: str = "",
    key: str = "",
    snapshots: str = "",
    copies: str = "",
    waiting: str = "",
) -> int:
    """Serve so many trainers; ``way``: ``unix``, where they may come over a unix-domain socket, too;
    ``sparse``: the same, and the shard is one of sparse tables; with a ``certificate``, encrypted;
    ``snapshots``: a folder, in which the newest is kept; ``copies``: MiB that one may take, which otherwise
    is not limited; ``waiting``: the same, for gradients before their turn."""
    keep_to(core)
    threading.Thread(target=_end_with_input, daemon=True).start()
    kept = SnapshotOptions(
        folder=snapshots, period=SNAPSHOT_STEPS, keep=1, memory_bytes=int(copies) << 20 if copies else None
    )
    options = ServerOptions(
        addresses=("127.0.0.1",),
        port=port,
        ports_num=int(way != "sparse"),
        ports_num_for_sparse=int(way == "sparse"),
        num_gradient_servers=trainers,
        is_nearby=way in ("unix", "sparse"),
        snapshots=kept if snapshots else None,
        gradient_bytes=int(waiting) << 20 if waiting else None,
    )
    for folder in options.snapshot_folders if options.snapshots else ():
        Path(folder).mkdir(parents=True)
    shown = read_certificate(certificate, key)[0] if certificate else None
    return serve(options, lambda ports: print("ready", flush=True), certificate=shown)


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4]), *sys.argv[4:]))
