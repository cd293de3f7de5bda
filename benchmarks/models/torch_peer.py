"""The same models in PyTorch, eager, on the processor: fused optimizers, a sparse gradient for the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from benchmarks.models.data import batches, start
from benchmarks.models.torch_nets import MODELS, Tensors, parameters, tensors
from benchmarks.models.training import training
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    torch.set_num_threads(settings["threads"])
    net = MODELS[settings["model"]](parameters(start(settings)))
    optimizers = _optimizers(net.parameters, settings)

    def step(batch: Tensors) -> float:
        for optimizer in optimizers:
            optimizer.zero_grad()
        cost = net.cost(batch)
        cost.backward()
        for optimizer in optimizers:
            optimizer.step()
        return cost.item() / settings["batch"]

    return training(step, [tensors(batch) for batch in batches(settings)], settings)


def _optimizers(p: Tensors, settings: Mapping[str, Any]) -> list[torch.optim.Optimizer]:
    """One for the layers, fused, and one for the table, whose gradient is sparse."""
    layers, table = (
        [value for name, value in p.items() if name != "table"],
        [v for n, v in p.items() if n == "table"],
    )
    rate, decay = settings["learning_rate"], settings["l2"]
    if settings["rule"] == "sgd":
        fused = [torch.optim.SGD(layers, rate, weight_decay=decay, fused=True)]
        return fused + ([torch.optim.SGD(table, rate)] if table else [])
    # An accumulator that starts at epsilon, with epsilon zero, is PaddlePaddle's g / sqrt(sum + epsilon).
    begin = {"initial_accumulator_value": 1e-6, "eps": 0.0}
    fused = [torch.optim.Adagrad(layers, rate, weight_decay=decay, fused=True, **begin)]
    return fused + ([torch.optim.Adagrad(table, rate, **begin)] if table else [])
