"""A pserver in a process of its own and its trainer in this one: what contenders that train with one share.

Each is pinned to a core. Guarantee: a pair that is closed leaves no process behind; nor does this process,
however it ends: what it started ends with its standard input.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.cputime import family
from benchmarks.transport.exchange import cores, free_port, keep_to
from paddle._pserver.trainer.remote import RemoteExchange


class Pair:
    """The trainer's ``exchange``, of one shard, maybe through a link of so many ``megabits`` a second.

    ``pserver``: what its module is told besides port and core; ``options``: what the exchange is.
    """

    def __init__(self, *pserver: object, megabits: int = 0, trainers: int = 1, **options: Any) -> None:
        port = free_port()
        client_core, server_core = cores()
        self._pserver = _started("benchmarks.pserver", port, server_core, trainers, *pserver)
        self._pserver.stdout.readline()  # ready
        self._link = _started("benchmarks.wire.link", port, megabits) if megabits else None
        keep_to(client_core)
        self.port = port if self._link is None else int(self._link.stdout.readline())
        self.exchange = RemoteExchange(
            ["127.0.0.1"],
            port=self.port,
            ports_num=int("sparse" not in pserver),
            ports_num_for_sparse=int("sparse" in pserver),
            num_gradient_servers=trainers,
            trainer_id=0,
            **options,
        )

    @property
    def servers(self) -> tuple[int, ...]:
        """The pserver's processes."""
        return family(self._pserver.pid)

    def close(self, failure: str | None = None) -> None:
        """End all of it; with a ``failure`` also where the pserver waits for other trainers."""
        self.exchange.close(failure)
        if failure is None:
            self._pserver.wait()  # it ends by itself when its only trainer has said goodbye
        for process in filter(None, (self._pserver, self._link)):
            process.stdin.close()
            process.wait()
            process.stdout.close()


def _started(module: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A module of the benchmarks in a process of its own, which ends with its standard input."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
