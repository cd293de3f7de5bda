"""The models as a v2 program trains them: layers, a reader of rows, feeder, events, the trainer's loop."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

import numpy as np

import paddle.v2 as paddle
from benchmarks.models.data import Batch, batches, start
from benchmarks.models.networks import MODELS
from benchmarks.worker import Work

_TABLES_OF = {"context": "word", "ids": "slot"}


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    paddle.init(use_gpu=False, trainer_count=settings["threads"])
    cost = MODELS[settings["model"]](settings)
    parameters = paddle.parameters.create(cost)
    for name, value in start(settings).items():
        parameters.set(name, value.reshape(parameters.get_shape(name)))
    trainer = paddle.trainer.SGD(cost=cost, parameters=parameters, update_equation=_optimizer(settings))
    read, feeding = [rows(batch) for batch in batches(settings)], slots(batches(settings)[0])
    last_cost = 0.0

    def on_event(event: object) -> None:
        nonlocal last_cost
        if isinstance(event, paddle.event.EndIteration):
            last_cost = event.cost

    def run(count: int) -> None:
        trainer.train(lambda: islice(cycle(read), count), 1, event_handler=on_event, feeding=feeding)

    run(settings["steps_to_answer"])
    return Work(run, last_cost)


def _optimizer(settings: Mapping[str, Any]) -> Any:
    rate, l2 = settings["learning_rate"], paddle.optimizer.L2Regularization(settings["l2"])
    if settings["rule"] == "adagrad":
        return paddle.optimizer.AdaGrad(learning_rate=rate, regularization=l2)
    return paddle.optimizer.Momentum(momentum=0, learning_rate=rate, regularization=l2)


def slots(batch: Batch) -> dict[str, int]:
    """Which slot of a row goes to which data layer."""
    names: list[str] = []
    for name, array in batch.items():
        prefix = _TABLES_OF.get(name)
        names += [f"{prefix}{i}" for i in range(array.shape[1])] if prefix else [name]
    return {name: place for place, name in enumerate(n for n in names if n != "offsets")}


def rows(batch: Batch) -> list[tuple[Any, ...]]:
    """A tuple a sample, as a reader yields it: integers as Python's own, of sequences lists, else arrays."""
    columns: list[Any] = []
    for name, array in batch.items():
        if name in _TABLES_OF:
            columns += array.T.tolist()
        elif name == "words":
            columns.append([part.tolist() for part in np.split(array, batch["offsets"][1:-1])])
        elif name != "offsets":
            columns.append(array.tolist() if array.dtype == np.int64 else list(array))
    return list(zip(*columns, strict=True))
