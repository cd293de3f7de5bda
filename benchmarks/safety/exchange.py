"""An honest trainer of an asynchronous job for 21, and its pserver: the work of all contenders."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.cputime import family
from benchmarks.transport.exchange import LEARNING_RATE, answer, cores, gradient, keep_to, start
from benchmarks.wire.exchange import free_port
from benchmarks.worker import Work
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.remote import RemoteExchange

TRAINERS = 21
UPDATE = UpdateSpec(
    rule=RuleSpec(name="sgd"),
    schedule=ScheduleSpec(learning_rate=LEARNING_RATE),
    mode=ModeSpec(name="async"),
)


@dataclass(frozen=True, slots=True)
class Papers:
    """Files: what a pserver shows, and whom its trainers trust."""

    certificate: str = ""
    key: str = ""
    authority: str = ""


def parameters(floats: int) -> tuple[ParameterSpec, ...]:
    """The model."""
    return (ParameterSpec(name="w", shape=(floats,)),)


def exchanging(
    settings: Mapping[str, Any],
    papers: Papers | None = None,
    beset: Callable[[int], Callable[[], None]] = lambda port: lambda: None,
) -> Work:
    """``beset``: has others come to a port, once there is a model; gives what sends them away."""
    floats, port, papers = settings["floats"], free_port(), papers or Papers()
    client_core, server_core = cores()
    command = ["benchmarks.safety.pserver", str(port), str(server_core), papers.certificate, papers.key]
    pserver = subprocess.Popen(
        [sys.executable, "-P", "-m", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    pserver.stdout.readline()  # ready
    keep_to(client_core)
    exchange = RemoteExchange(
        ["127.0.0.1"],
        port=port,
        ports_num=1,
        ports_num_for_sparse=0,
        num_gradient_servers=TRAINERS,
        trainer_id=0,
        tls_ca=papers.authority,
    )
    values = exchange.start(parameters(floats), UPDATE, {"w": start(floats)})["w"]
    gradients = {"w": gradient(floats)}
    exchange.begin_pass(0)
    leave = beset(port)

    def run(count: int) -> None:
        for _ in range(count):
            exchange.step(gradients, 1)

    def close() -> None:
        leave()
        exchange.close("it has been measured")
        pserver.stdin.close()
        pserver.wait()
        pserver.stdout.close()

    return Work(run, answer(run, values), servers=family(pserver.pid), close=close)
