"""A trainer and a pserver with a slow link between them: the work of all contenders."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.cputime import family
from benchmarks.transport.exchange import LEARNING_RATE, answer, cores, keep_to, start
from benchmarks.worker import Work
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.remote import RemoteExchange
from paddle._pserver.wire import WireSpec

_UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=LEARNING_RATE))


def exchanging(settings: Mapping[str, Any], wire: WireSpec) -> Work:
    """A trainer's exchange of one parameter with one pserver, over TCP."""
    floats, megabits = settings["floats"], settings["megabits"]
    port = free_port()
    client_core, server_core = cores()
    pserver = started("benchmarks.transport.pserver", port, server_core, 0)
    pserver.stdout.readline()  # ready
    link = started("benchmarks.wire.link", port, megabits) if megabits else None
    keep_to(client_core)
    exchange = RemoteExchange(
        ["127.0.0.1"],
        port=port if link is None else int(link.stdout.readline()),
        ports_num=1,
        ports_num_for_sparse=0,
        num_gradient_servers=1,
        trainer_id=0,
        wire=wire,
    )
    values = exchange.start([ParameterSpec(name="w", shape=(floats,))], _UPDATE, {"w": start(floats)})["w"]
    exchange.begin_pass(0)
    gradients = {"w": _told_by_all(floats)}

    def run(count: int) -> None:
        for _ in range(count):
            exchange.step(gradients, 1)

    def close() -> None:
        exchange.close()
        pserver.wait()  # it ends by itself when its only trainer has said goodbye
        for process in (pserver, link):
            if process is not None:
                process.stdin.close()
                process.wait()
                process.stdout.close()

    answered = answer(run, values)
    gradients["w"] = np.random.default_rng(0).standard_normal(floats, np.float32)
    return Work(run, answered, servers=family(pserver.pid), close=close)


def _told_by_all(floats: int) -> np.ndarray:
    """A gradient that arrives at once in all numbers: one value in a hundred, and small whole numbers."""
    gradient = np.zeros(floats, np.float32)
    gradient[::100] = np.arange(len(gradient[::100])) % 5
    return gradient


def started(module: str, *arguments: int) -> subprocess.Popen[bytes]:
    """A module of the benchmarks in a process of its own, which ends with its standard input."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
