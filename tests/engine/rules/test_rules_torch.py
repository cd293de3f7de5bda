"""The rules that PyTorch has too, against its optimizers, where it is installed (``.[peers]``)."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import rule

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")

RATE, STEPS = 0.05, 20
ADAM = {"betas": (0.8, 0.99), "eps": 0.0}
PEERS = {
    "sgd": ({}, Penalties(l2=0.1), lambda p: torch.optim.SGD(p, RATE, weight_decay=0.1)),
    "momentum": (
        {"momentum": 0.7},
        Penalties(l2=0.1),
        lambda p: torch.optim.SGD(p, RATE, momentum=0.7, weight_decay=0.1),
    ),
    # A sum that starts at epsilon, with epsilon zero, is PaddlePaddle's g / sqrt(sum + epsilon).
    "adagrad": (
        {"epsilon": 1e-6},
        Penalties(),
        lambda p: torch.optim.Adagrad(p, RATE, initial_accumulator_value=1e-6, eps=0.0),
    ),
    "adam": (
        {"beta1": 0.8, "beta2": 0.99, "epsilon": 0.0},
        Penalties(),
        lambda p: torch.optim.Adam(p, RATE, **ADAM),
    ),
    "adamax": ({"beta1": 0.8, "beta2": 0.99}, Penalties(), lambda p: torch.optim.Adamax(p, RATE, **ADAM)),
}


@pytest.mark.parametrize("name", PEERS)
def test_a_rule_goes_where_the_other_library_goes(name):
    options, penalties, peer = PEERS[name]
    generator = np.random.default_rng(1)
    values = generator.standard_normal(40).astype(np.float32)
    parameter = torch.nn.Parameter(torch.tensor(values))
    chosen, optimizer = rule(RuleSpec(name=name, options=options)), peer([parameter])
    slots = [np.zeros_like(values) for _ in chosen.slots]
    for step in range(1, STEPS + 1):
        gradient = generator.standard_normal(40).astype(np.float32)
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
        chosen.dense(values, gradient, slots, RATE, penalties, step)
    np.testing.assert_allclose(values, parameter.detach().numpy(), rtol=1e-4, atol=1e-5)
