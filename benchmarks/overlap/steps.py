"""The steps of all contenders: an executor's, of a network of equal layers, with a pserver behind a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.pair import Pair
from benchmarks.worker import Work
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import Exchange, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.scope import Scope
from paddle._pserver.trainer.remote import RemoteExchange

_UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1e-3))
_STEPS_TO_ANSWER = 3


def steps(settings: Mapping[str, Any], seen: Callable[[RemoteExchange], Exchange]) -> Work:
    """Training steps. ``seen``: the exchange as the executor is to see it."""
    pair = Pair(megabits=settings["megabits"])
    exchange = pair.exchange
    step = _network(settings, exchange, seen(exchange))

    def run(count: int) -> None:
        for _ in range(count):
            step()
        exchange.settle()

    run(_STEPS_TO_ANSWER)
    return Work(run, step(), servers=pair.servers, close=pair.close)


def _network(settings: Mapping[str, Any], exchange: RemoteExchange, seen: Exchange) -> Callable[[], float]:
    """A step, which returns the cost."""
    width, batch = settings["width"], settings["batch"]
    b, scope = Builder(), Scope()
    hidden = b.data("x", (-1, width))
    for layer in range(settings["layers"]):
        weight = b.parameter(f"w{layer}", (width, width), Normal(0.0, width**-0.5))
        hidden = b.op("relu", X=b.op("mul", X=hidden, Y=weight))
    loss = b.op("mean", X=hidden)
    pairs = append_backward(b.program, loss)
    append_exchange(b.program, pairs)
    initialize(b.program, scope, 0)
    specs = [parameter.spec for parameter, _ in pairs]
    scope.bind(exchange.start(specs, _UPDATE, {spec.name: scope.get(spec.name).copy() for spec in specs}))
    exchange.begin_pass(0)
    executor = Executor(scope, seen)
    feed = {"x": np.random.default_rng(0).standard_normal((batch, width)).astype(np.float32)}
    return lambda: float(executor.run(b.program, feed, [loss])[0].item())
