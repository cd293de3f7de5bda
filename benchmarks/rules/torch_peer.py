"""PyTorch's fused optimizers, the fastest that it has on the processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from benchmarks.rules.data import gradient, start, updating
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """The rule of ``settings`` on values of its own."""
    torch.set_num_threads(1)
    values = start(settings["floats"])
    first = values.copy()
    parameter = torch.nn.Parameter(torch.from_numpy(values))
    parameter.grad = torch.from_numpy(gradient(settings["floats"]))
    optimizer = _optimizer(settings["rule"], parameter, settings["learning_rate"])
    return updating(optimizer.step, lambda: values, first)


def _optimizer(rule: str, parameter: torch.nn.Parameter, rate: float) -> torch.optim.Optimizer:
    if rule == "adagrad":
        # A sum that starts at epsilon, with epsilon zero, is PaddlePaddle's g / sqrt(sum + epsilon).
        return torch.optim.Adagrad([parameter], rate, initial_accumulator_value=1e-6, eps=0.0, fused=True)
    if rule == "adam":
        return torch.optim.Adam([parameter], rate, fused=True)
    return torch.optim.SGD([parameter], rate, momentum=0.9 if rule == "momentum" else 0.0, fused=True)
