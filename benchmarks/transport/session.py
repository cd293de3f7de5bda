"""This project's own way: a pserver in a process of its own, the networked exchange that trainers use,
over TCP as between machines."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.cputime import family
from benchmarks.transport.exchange import LEARNING_RATE, answer, cores, gradient, keep_to, start
from benchmarks.worker import Work
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.remote import RemoteExchange

_UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=LEARNING_RATE))


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""
    return exchanging(settings["floats"], is_nearby=False)


def exchanging(floats: int, *, is_nearby: bool, shares_memory: bool = False) -> Work:
    """The same; ``is_nearby``: over a unix-domain socket; ``shares_memory``: which carries no numbers."""
    port = _free_port()
    client_core, server_core = cores()
    pserver = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "benchmarks.transport.pserver",
            *map(str, (port, server_core, int(is_nearby))),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    pserver.stdout.readline()  # ready
    keep_to(client_core)
    exchange = RemoteExchange(
        ["127.0.0.1"],
        port=port,
        ports_num=1,
        ports_num_for_sparse=0,
        num_gradient_servers=1,
        trainer_id=0,
        shares_memory=shares_memory,
    )
    values = exchange.start([ParameterSpec(name="w", shape=(floats,))], _UPDATE, {"w": start(floats)})["w"]
    gradients = {"w": exchange.room().get("w", np.empty(floats, np.float32))}
    gradients["w"][:] = gradient(floats)
    exchange.begin_pass(0)

    def run(count: int) -> None:
        for _ in range(count):
            exchange.step(gradients, 1)

    def close() -> None:
        exchange.close()
        pserver.wait()  # it ends by itself when its only trainer has said goodbye
        pserver.stdin.close()
        pserver.stdout.close()

    return Work(run, answer(run, values), servers=family(pserver.pid), close=close)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
