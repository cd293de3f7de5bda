"""The models on this project's engine, as a face runs them: program, executor, in-process exchange.

On several threads a team of executors runs a part of each batch each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.models.data import Batch, batches, part_of, start
from benchmarks.models.programs import MODELS, Draft, feed
from benchmarks.models.training import training
from benchmarks.worker import Work
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.exchange import RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.program import Program, Variable
from paddle._engine.scope import Scope
from paddle._engine.teams.team import Part, Team
from paddle._pserver.trainer.local import LocalExchange


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    draft = Draft(start(settings))
    cost, program = MODELS[settings["model"]](draft), draft.builder.program
    scope, exchange = trainer(program, cost, settings)
    if settings["threads"] > 1:
        return _in_parts(program, cost, Team(scope, settings["threads"], exchange, exchange.room()), settings)
    executor = Executor(scope, exchange, exchange.room())

    def step(fed: Mapping[str, np.ndarray]) -> float:
        (costs,) = executor.run(program, fed, [cost], samples=settings["batch"])
        return float(costs.sum()) / settings["batch"]  # half of what numpy's mean of so few takes

    return training(step, [feed(batch) for batch in batches(settings)], settings)


def _in_parts(program: Program, cost: Variable, team: Team, settings: Mapping[str, Any]) -> Work:
    def step(parts: Sequence[Part]) -> float:
        costs = team.run(program, parts, [cost], seed=0, step=0)
        return float(sum(each.sum() for (each,) in costs)) / settings["batch"]

    def cut(batch: Batch) -> list[Part]:
        return _parts(batch, settings["batch"], team.parts_for(program, feed(batch), settings["batch"]))

    return training(step, [cut(batch) for batch in batches(settings)], settings)


def _parts(batch: Batch, samples: int, count: int) -> list[Part]:
    """The samples of a batch in ``count`` equal parts, as they are fed."""
    size = samples // count
    starts = range(0, samples, size)
    return [Part(feed(part_of(batch, slice(first, first + size))), size) for first in starts]


def trainer(program: Program, cost: Variable, settings: Mapping[str, Any]) -> tuple[Scope, LocalExchange]:
    """Turn a program that computes a cost into one that trains, its parameters kept in this process."""
    scope, exchange = Scope(), LocalExchange()
    append_exchange(program, append_backward(program, cost))
    initialize(program, scope, seed=0)
    update = UpdateSpec(
        rule=RuleSpec(name=settings["rule"]),
        schedule=ScheduleSpec(learning_rate=settings["learning_rate"]),
        l2_rate=settings["l2"],
    )
    parameters = program.parameters()
    scope.bind(
        exchange.start([p.spec for p in parameters], update, {p.name: scope.get(p.name) for p in parameters})
    )
    return scope, exchange
