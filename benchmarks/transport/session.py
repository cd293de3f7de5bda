"""This project's own way: a pserver in a process of its own, the networked exchange that trainers use,
over TCP as between machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count as count_from
from typing import Any

import numpy as np

from benchmarks.pair import Pair
from benchmarks.transport.exchange import LEARNING_RATE, answer, gradient, start
from benchmarks.worker import Work
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.encoding import Values
from paddle._pserver.protocol.messages import Push
from paddle._pserver.trainer.remote import RemoteExchange

_UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=LEARNING_RATE))


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""
    return exchanging(settings["floats"], is_nearby=False)


def exchanging(floats: int, *, is_nearby: bool, shares_memory: bool = False, reads: bool = True) -> Work:
    """The same; ``is_nearby``: over a unix-domain socket; ``shares_memory``: which carries no numbers;
    ``reads``: the parameters after every step."""
    pair = Pair("unix" if is_nearby else "tcp", shares_memory=shares_memory)
    exchange = pair.exchange
    values = exchange.start([ParameterSpec(name="w", shape=(floats,))], _UPDATE, {"w": start(floats)})["w"]
    gradients = {"w": exchange.room().get("w", np.empty(floats, np.float32))}
    gradients["w"][:] = gradient(floats)
    exchange.begin_pass(0)

    step = exchange.step if reads else _pusher(exchange)

    def run(count: int) -> None:
        for _ in range(count):
            step(gradients, 1)

    def run_and_pull(count: int) -> None:
        run(count)
        exchange.pull()

    return Work(run, answer(run_and_pull, values), servers=pair.servers, close=pair.close)


def _pusher(exchange: RemoteExchange) -> Callable[[Mapping[str, np.ndarray], int], None]:
    """Push as ``step`` does, and take the answer without the values that it tells of."""
    (shard,) = exchange._dense  # what an exchange does in one piece is done in its parts here
    steps, is_in_room = count_from(1), bool(exchange.room())
    if not is_in_room:
        shard.line.share(None)  # the gradient travels, and new values can be read where they are

    def push(gradients: Mapping[str, np.ndarray], samples: int) -> None:
        coded = {name: Values(gradient.reshape(-1)) for name, gradient in gradients.items()}
        shard.ask_push(Push(next(steps), 0, samples), coded, forms=False, is_in_room=is_in_room)
        shard.line.answer()

    return push
