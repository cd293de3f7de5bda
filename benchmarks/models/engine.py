"""The models on this project's engine, as a face writes them: program, executor, in-process exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.models.data import (
    CONTEXT,
    FEATURES,
    gram_batches,
    house_batches,
    regression_start,
    word2vec_start,
)
from benchmarks.models.training import training
from benchmarks.worker import Work
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Numpy
from paddle._engine.program import Parameter, Variable
from paddle._engine.scope import Scope
from paddle._pserver.trainer.local import LocalExchange

Feed = Mapping[str, np.ndarray]


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    builder, batch = Builder(), settings["batch"]
    if settings["model"] == "regression":
        cost = _regression(builder)
        feeds = [{"features": features, "price": price} for features, price in house_batches(batch)]
    else:
        cost = _word2vec(builder, settings["vocabulary"])
        feeds = [_columns(context, label) for context, label in gram_batches(settings["vocabulary"], batch)]
    executor, program = _trainer(builder, cost, settings), builder.program

    def step(feed: Feed) -> float:
        (costs,) = executor.run(program, feed, [cost], samples=batch)
        return float(costs.mean())

    return training(step, feeds)


def _trainer(builder: Builder, cost: Variable, settings: Mapping[str, Any]) -> Executor:
    """Turn a program that computes a cost into one that trains, its parameters kept in this process."""
    program, scope, exchange = builder.program, Scope(), LocalExchange()
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
    return Executor(scope, exchange, exchange.room())


def _word2vec(builder: Builder, vocabulary: int) -> Variable:
    start = word2vec_start(vocabulary)
    table = _parameter(builder, start, "table", sparse=True, l2_rate=0.0)
    words = [builder.data(f"word{i}", (-1, 1), "int64") for i in range(CONTEXT)]
    label = builder.data("label", (-1, 1), "int64")
    rows = [builder.op("lookup_table", {"is_sparse": True}, W=table, Ids=word) for word in words]
    hidden = builder.op("sigmoid", X=_layer(builder, start, "hidden", builder.op("concat", X=rows)))
    predicted = builder.op("softmax", X=_layer(builder, start, "output", hidden))
    return builder.op("cross_entropy", X=predicted, Label=label)


def _regression(builder: Builder) -> Variable:
    start = regression_start()
    features = builder.data("features", (-1, FEATURES))
    weighted = builder.op("mul", X=features, Y=_parameter(builder, start, "w"))
    predicted = builder.op("elementwise_add", X=weighted, Y=_parameter(builder, start, "b"))
    return builder.op("square_error_cost", X=predicted, Label=builder.data("price", (-1, 1)))


def _layer(builder: Builder, start: Mapping[str, np.ndarray], name: str, x: Variable) -> Variable:
    weighted = builder.op("mul", X=x, Y=_parameter(builder, start, f"{name}_w"))
    return builder.op("elementwise_add", X=weighted, Y=_parameter(builder, start, f"{name}_b"))


def _parameter(builder: Builder, start: Mapping[str, np.ndarray], name: str, **options: Any) -> Parameter:
    return builder.parameter(name, start[name].shape, Numpy(start[name]), **options)


def _columns(context: np.ndarray, label: np.ndarray) -> Feed:
    words = {f"word{i}": context[:, i : i + 1].copy() for i in range(CONTEXT)}
    return {**words, "label": label[:, None]}
