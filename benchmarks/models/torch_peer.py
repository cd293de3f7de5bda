"""The same models in PyTorch, eager, on the processor: fused optimizers, a sparse gradient for the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import cross_entropy, embedding, mse_loss

from benchmarks.models.data import Batch, gram_batches, house_batches, regression_start, word2vec_start
from benchmarks.models.training import training
from benchmarks.worker import Work

Tensors = dict[str, torch.Tensor]


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    torch.set_num_threads(1)
    batch, rate = settings["batch"], settings["learning_rate"]
    if settings["model"] == "regression":
        p = _parameters(regression_start())
        houses = [_tensors(pair) for pair in house_batches(batch)]
        return training(_Regression(p, rate).step, houses)
    p = _parameters(word2vec_start(settings["vocabulary"]))
    grams = [_tensors(pair) for pair in gram_batches(settings["vocabulary"], batch)]
    return training(_Word2Vec(p, _optimizers(p, settings)).step, grams)


class _Regression:
    def __init__(self, parameters: Tensors, rate: float):
        self._p = parameters
        self._optimizer = torch.optim.SGD(parameters.values(), lr=rate)

    def step(self, houses: tuple[torch.Tensor, torch.Tensor]) -> float:
        features, price = houses
        self._optimizer.zero_grad()
        cost = mse_loss(torch.addmm(self._p["b"], features, self._p["w"]), price, reduction="sum")
        cost.backward()
        self._optimizer.step()
        return cost.item() / len(price)


class _Word2Vec:
    def __init__(self, parameters: Tensors, optimizers: list[torch.optim.Optimizer]):
        self._p, self._optimizers = parameters, optimizers

    def step(self, grams: tuple[torch.Tensor, torch.Tensor]) -> float:
        context, label = grams
        p = self._p
        for optimizer in self._optimizers:
            optimizer.zero_grad()
        x = embedding(context, p["table"], sparse=True).flatten(1)
        hidden = torch.sigmoid(torch.addmm(p["hidden_b"], x, p["hidden_w"]))
        cost = cross_entropy(torch.addmm(p["output_b"], hidden, p["output_w"]), label, reduction="sum")
        cost.backward()
        for optimizer in self._optimizers:
            optimizer.step()
        return cost.item() / len(label)


def _optimizers(p: Tensors, settings: Mapping[str, Any]) -> list[torch.optim.Optimizer]:
    """One for the layers, fused, and one for the table, whose gradient is sparse."""
    layers, table = [value for name, value in p.items() if name != "table"], [p["table"]]
    rate, decay = settings["learning_rate"], settings["l2"]
    if settings["rule"] == "sgd":
        return [torch.optim.SGD(layers, rate, weight_decay=decay, fused=True), torch.optim.SGD(table, rate)]
    # An accumulator that starts at epsilon, with epsilon zero, is PaddlePaddle's g / sqrt(sum + epsilon).
    start = {"initial_accumulator_value": 1e-6, "eps": 0.0}
    return [
        torch.optim.Adagrad(layers, rate, weight_decay=decay, fused=True, **start),
        torch.optim.Adagrad(table, rate, **start),
    ]


def _parameters(start: Mapping[str, Any]) -> Tensors:
    return {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}


def _tensors(batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(batch[0].copy()), torch.from_numpy(batch[1].copy())
