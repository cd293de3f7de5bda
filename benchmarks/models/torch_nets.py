"""The models in PyTorch: what each computes from its parameters and a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch.nn.functional import conv2d, cross_entropy, embedding, max_pool2d, mse_loss

from benchmarks.models.data import EMBEDDING, LAYERS, MLP, STATE, VECTOR, Batch, Values

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Net:
    """Parameters by name, and the cost of a batch, summed over its samples."""

    parameters: Tensors
    cost: Callable[[Tensors], torch.Tensor]


def parameters(start: Values) -> Tensors:
    """The first values, to be trained."""
    return {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}


def tensors(batch: Batch) -> Tensors:
    """A batch. Sequences become rows of one length, with zeros behind."""
    made = {name: torch.from_numpy(array.copy()) for name, array in batch.items()}
    if "offsets" in made:
        parts = torch.tensor_split(made.pop("words"), made.pop("offsets")[1:-1])
        made["lengths"] = torch.tensor([len(part) for part in parts])
        made["words"] = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
    return made


def _layer(p: Tensors, number: int, x: torch.Tensor) -> torch.Tensor:
    return torch.addmm(p[f"layer{number}_b"], x, p[f"layer{number}_w"])


def _summed(scores: torch.Tensor, batch: Tensors) -> torch.Tensor:
    return cross_entropy(scores, batch["label"], reduction="sum")


def _word2vec(p: Tensors) -> Net:
    def cost(batch: Tensors) -> torch.Tensor:
        x = embedding(batch["context"], p["table"], sparse=True).view(-1, 4 * EMBEDDING)
        return _summed(_layer(p, 1, torch.sigmoid(_layer(p, 0, x))), batch)

    return Net(p, cost)


def _regression(p: Tensors) -> Net:
    return Net(p, lambda b: mse_loss(_layer(p, 0, b["features"]), b["price"], reduction="sum"))


def _ctr(p: Tensors) -> Net:
    def cost(batch: Tensors) -> torch.Tensor:
        x = torch.cat([embedding(batch["ids"], p["table"], sparse=True).flatten(1), batch["dense"]], 1)
        for number in range(len(LAYERS)):
            x = torch.relu(_layer(p, number, x))
        return _summed(torch.addmm(_layer(p, 3, x), batch["dense"], p["wide_w"]), batch)

    return Net(p, cost)


def _mlp(p: Tensors) -> Net:
    def cost(batch: Tensors) -> torch.Tensor:
        x = batch["image"]
        for number in range(len(MLP)):
            x = torch.relu(_layer(p, number, x))
        return _summed(_layer(p, len(MLP), x), batch)

    return Net(p, cost)


def _lenet(p: Tensors) -> Net:
    def cost(batch: Tensors) -> torch.Tensor:
        x = batch["image"].view(-1, 1, 28, 28)
        for number in range(2):
            x = max_pool2d(torch.relu(conv2d(x, p[f"filter{number}_w"], p[f"filter{number}_b"])), 2)
        return _summed(_layer(p, 0, x.flatten(1)), batch)

    return Net(p, cost)


def _lstm(p: Tensors) -> Net:
    """Its own module keeps the gates in another order: input, forget, candidate, output, a row for each.

    It computes what lies behind the end of sequences, too: packed ones take it seven times as long.
    """
    lstm = torch.nn.LSTM(VECTOR, STATE, bias=False, batch_first=True)
    order = [STATE * gate + i for gate in (1, 2, 0, 3) for i in range(STATE)]
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(p["outside_w"].T[order])
        lstm.weight_hh_l0.copy_(p["before_w"].T[order])
    own = {name: value for name, value in p.items() if name not in ("outside_w", "before_w")}

    def cost(batch: Tensors) -> torch.Tensor:
        rows = embedding(batch["words"], p["table"], sparse=True)
        states, _ = lstm(rows)
        last = states[torch.arange(len(rows)), batch["lengths"] - 1]
        return _summed(_layer(p, 0, last), batch)

    return Net(own | dict(lstm.named_parameters()), cost)


MODELS: Mapping[str, Callable[[Tensors], Net]] = {
    "word2vec": _word2vec,
    "regression": _regression,
    "ctr": _ctr,
    "mlp": _mlp,
    "lenet": _lenet,
    "lstm": _lstm,
}
