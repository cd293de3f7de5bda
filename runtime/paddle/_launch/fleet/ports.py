"""Ports of this machine that are free, for the processes of a job.

Between the look whether a port is free and the process that listens there is a second or more, in which
others look, too. Guarantee: no two launchers of a machine choose the same one, however close they begin: a
port that one has chosen is its own until it ends, by a name that others find taken. It is an abstract one,
which is seen where the port is, in one network namespace, and goes with the process that holds it. Border:
from other programs it is kept until ``let_go``; a server that then finds it taken says so, and the job ends.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing
from typing import Self

from paddle._launch.errors import ClusterError

LOOPBACK = "127.0.0.1"
LOOKED_AMONG = range(10_240, 30_720)  # below those of connections


class Ports:
    """See the module's text. ``seed``: where to begin to look, so that launchers that begin at once seldom
    look at the same ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._names, self._listeners = ExitStack(), ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()
        self._names.close()

    def take(self, number: int, host: str = LOOPBACK) -> list[int]:
        """Find so many that nobody listens on at ``host`` now, all different; empty for all addresses.

        None is of those that systems give to connections: one of these could be given away before it is used,
        and who tries again and again to reach it would sooner or later be connected to itself.
        """
        found: list[int] = []
        for step in range(len(LOOKED_AMONG)):
            if len(found) == number:
                break
            port = LOOKED_AMONG[(self._seed * number + step) % len(LOOKED_AMONG)]
            if self._hold(host, port):
                found.append(port)
        else:
            raise ClusterError(f"there are no {number} free ports on this machine. End what holds them.")
        return found

    def let_go(self) -> None:
        """Let the job's processes listen on all that were found."""
        self._listeners.close()

    def _hold(self, host: str, port: int) -> bool:
        with ExitStack() as held:
            name = held.enter_context(closing(socket.socket(socket.AF_UNIX)))
            listener = held.enter_context(closing(socket.socket()))
            try:
                name.bind(f"\0paddle-fleetrun-{port}")
                listener.bind((host, port))
            except OSError:
                return False
            held.pop_all()
        self._names.enter_context(closing(name))
        self._listeners.enter_context(closing(listener))
        return True
