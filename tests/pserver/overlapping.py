"""A network of three layers whose step an executor computes, and trainers that train it with pservers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import Exchange, ParameterSpec, StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.program import Program
from paddle._engine.scope import Scope
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange
from tests.engine.clipping import Clip, append_clipping

from .conftest import update

WIDTH = 60
LAYERS = ("first", "second", "third")


class Net:
    """The program, and a scope with the first values of its parameters."""

    def __init__(self, width: int = WIDTH, sparse: bool = True, clip: Clip | None = None) -> None:
        b = Builder()
        hidden, ids = b.data("x", (-1, width)), b.data("ids", (-1, 1), "int64")
        if sparse:
            table = b.parameter("table", (20, width), Normal(), sparse=True)
            looked = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=ids)
            hidden = b.op("elementwise_add", X=hidden, Y=looked)
        for name in LAYERS:
            weight = b.parameter(name, (width, width), Normal())
            bias = b.parameter(f"{name} bias", (width,), Normal())
            hidden = b.op("sigmoid", X=b.op("elementwise_add", X=b.op("mul", X=hidden, Y=weight), Y=bias))
        self.program: Program = b.program
        self.loss = b.op("mean", X=hidden)
        pairs = append_backward(self.program, self.loss)
        pairs = pairs if clip is None else append_clipping(self.program, pairs, clip)
        append_exchange(self.program, pairs)
        self.specs: list[ParameterSpec] = [parameter.spec for parameter, _ in pairs]
        self.width = width

    def begin(self, exchange: Exchange, seed: int = 3) -> Trainer:
        """Train it with ``exchange``."""
        scope = Scope()
        initialize(self.program, scope, seed)
        values = {spec.name: scope.get(spec.name).copy() for spec in self.specs}
        arrays = exchange.start(self.specs, update("momentum"), values)
        scope.bind(arrays)
        return Trainer(self, Executor(scope, exchange, exchange.room()), arrays)


class Trainer:
    """One that trains a Net."""

    def __init__(self, net: Net, executor: Executor, arrays: Mapping[str, np.ndarray]) -> None:
        self.net, self.executor, self.arrays = net, executor, arrays

    def step(self, seed: int) -> float:
        """The cost of a batch."""
        random = np.random.default_rng(seed)
        x = random.standard_normal((8, self.net.width)).astype(np.float32)
        feed = {"x": x, "ids": random.integers(0, 20, (8, 1))}
        (cost,) = self.executor.run(self.net.program, feed, [self.net.loss])
        return float(cost.item())


def course(steps: int, width: int = WIDTH) -> Callable[[Exchange], tuple[list[float], dict[str, np.ndarray]]]:
    """A trainer alone: its costs, and the parameters at the end."""

    def run(exchange: Exchange) -> tuple[list[float], dict[str, np.ndarray]]:
        trainer = Net(width).begin(exchange)
        exchange.begin_pass(0)
        costs = [trainer.step(seed) for seed in range(steps)]
        exchange.end_pass(0)
        exchange.fetch()
        return costs, {name: array.copy() for name, array in trainer.arrays.items()}

    return run


def alone(steps: int) -> tuple[list[float], dict[str, np.ndarray]]:
    """The same in one process."""
    return course(steps)(LocalExchange())


class Heard(RemoteExchange):
    """An exchange that tells what an executor asks of it: before it does it, and after."""

    def __init__(
        self, *hosts: Any, told: Callable[[str, Any], None] = lambda what, names: None, **options: Any
    ) -> None:
        super().__init__(*hosts, **options)
        self.told = told

    def give(self, name: str, gradient: np.ndarray) -> None:
        super().give(name, gradient)
        self.told("gave", name)

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        self.told("waits for", names)
        report = super().settle(names)
        self.told("has", names)
        return report


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a shard is, a thread of its own carries to it; every gradient may go in its own part."""
    monkeypatch.setattr("paddle._pserver.trainer.delivery.APART_BYTES", 0)
    monkeypatch.setattr("paddle._pserver.protocol.ahead.PART_BYTES", 1)
