"""An honest trainer of an asynchronous job for 21, and its pserver: the work of all contenders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.pair import Pair
from benchmarks.transport.exchange import LEARNING_RATE, answer, gradient, start
from benchmarks.worker import Work
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec

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
    floats, papers = settings["floats"], papers or Papers()
    shown = papers.certificate, papers.key
    pair = Pair("tcp", *shown, trainers=TRAINERS, tls_ca=papers.authority)
    exchange = pair.exchange
    values = exchange.start(parameters(floats), UPDATE, {"w": start(floats)})["w"]
    gradients = {"w": gradient(floats)}
    exchange.begin_pass(0)
    leave = beset(pair.port)

    def run(count: int) -> None:
        for _ in range(count):
            exchange.step(gradients, 1)

    def close() -> None:
        leave()
        pair.close("it has been measured")

    return Work(run, answer(run, values), servers=pair.servers, close=close)
