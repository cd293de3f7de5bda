"""A trainer and a pserver with a slow link between them: the work of all contenders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.pair import Pair
from benchmarks.transport.exchange import LEARNING_RATE, answer, start
from benchmarks.worker import Work
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.wire import WireSpec

_UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=LEARNING_RATE))


def exchanging(settings: Mapping[str, Any], wire: WireSpec) -> Work:
    """A trainer's exchange of one parameter with one pserver, over TCP."""
    floats = settings["floats"]
    pair = Pair(megabits=settings["megabits"], wire=wire)
    exchange = pair.exchange
    values = exchange.start([ParameterSpec(name="w", shape=(floats,))], _UPDATE, {"w": start(floats)})["w"]
    exchange.begin_pass(0)
    gradients = {"w": _told_by_all(floats)}

    def run(count: int) -> None:
        for _ in range(count):
            exchange.step(gradients, 1)

    answered = answer(run, values)
    gradients["w"] = np.random.default_rng(0).standard_normal(floats, np.float32)
    return Work(run, answered, servers=pair.servers, close=pair.close)


def _told_by_all(floats: int) -> np.ndarray:
    """A gradient that arrives at once in all numbers: one value in a hundred, and small whole numbers."""
    gradient = np.zeros(floats, np.float32)
    gradient[::100] = np.arange(len(gradient[::100])) % 5
    return gradient
