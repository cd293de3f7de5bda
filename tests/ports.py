"""Ports for processes that tests start: each is one test's own, however many test runs this machine has.

Between the look whether a port is free and the process that listens there is a second or ten, in which others
look too; and trainers, which come first, would meet the pservers of another test. So a port that is given to
a process is held by a name that others find taken: an abstract one, which is seen where the port is, in one
network namespace, and goes with the process that holds it.
"""

import os
import socket
from collections.abc import Collection
from contextlib import ExitStack

LOOKED_AMONG = range(2048, 6000)  # below those of connections, and those that fleetrun looks among, which
# finds free whatever nobody listens at yet; and below every port that commands take where none is named
_held = ExitStack()


def free_port(hosts: Collection[str], count: int = 3) -> int:
    """A port such that it and the next ones, ``count`` in all, are free on all hosts, and nobody else's: a
    pserver's, its next for sparse parameters, and where the trainers of that job meet.

    Not one of those that the system gives to connections, of which it may give one away before it is used.
    """
    begin = os.getpid() * 16  # so that two test runs at once seldom look at the same
    for step in range(0, len(LOOKED_AMONG), count):
        port = LOOKED_AMONG[(begin + step) % (len(LOOKED_AMONG) - count)]
        ports = range(port, port + count)
        if hold(ports) and all(_is_free(host, each) for host in hosts for each in ports):
            return port
    raise AssertionError(f"no {count} neighbouring free ports")


def hold(ports: Collection[int]) -> bool:
    """Keep all of them from others, until this process ends; whether nobody has one of them."""
    with ExitStack() as taken:
        if not all(_take(port, taken) for port in ports):
            return False
        _held.push(taken.pop_all())
    return True


def are_held(ports: Collection[int]) -> bool:
    """Whether somebody, here or elsewhere, has one of them."""
    with ExitStack() as taken:
        return not all(_take(port, taken) for port in ports)


def _take(port: int, taken: ExitStack) -> bool:
    name = taken.enter_context(socket.socket(socket.AF_UNIX))
    try:
        name.bind(f"\0paddle-tests-{port}")
    except OSError:
        return False
    return True


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
