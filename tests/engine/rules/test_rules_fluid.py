"""Rules of the later generations against their formulas in float64, dense and on rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import rule

OF_FLUID: dict[str, list[dict[str, float]]] = {
    "fluid_momentum": [{"momentum": 0.9}, {"momentum": 0.9, "nesterov": 1.0}],
    "lars_momentum": [{"momentum": 0.9, "coefficient": 0.1, "weight_decay": 0.01}],
    "fluid_adagrad": [{"epsilon": 1e-3}],
    "fluid_decayed_adagrad": [{"decay": 0.9, "epsilon": 1e-3}],
    "fluid_rmsprop": [
        {"rho": 0.9, "epsilon": 1e-3, "momentum": 0.5},
        {"rho": 0.9, "epsilon": 1e-3, "momentum": 0.5, "centered": 1.0},
    ],
    "fluid_adadelta": [{"rho": 0.9, "epsilon": 1e-3}, {"rho": 0.9, "epsilon": 1e-3, "later": 1.0}],
    "private_sgd": [{"most": 3.0, "batch": 4.0, "spread": 0.0}],
    "adam": [{"beta1": 0.8, "beta2": 0.9, "epsilon": 0.1, "corrected": 1.0}],
    "adamax": [{"beta1": 0.8, "beta2": 0.9, "epsilon": 0.1}],
    "adamw": [{"beta1": 0.8, "beta2": 0.9, "epsilon": 0.1, "corrected": 1.0, "decay": 0.1}],
}
CASES = [(name, options) for name, several in OF_FLUID.items() for options in several]


class Twin:
    """One parameter in float64."""

    def __init__(self, values: np.ndarray) -> None:
        self.w = values.astype(np.float64)
        self.a, self.b, self.c = (np.zeros_like(self.w) for _ in range(3))

    def fluid_momentum(self, g: np.ndarray, lr: float, momentum: float, nesterov: float = 0.0) -> None:
        self.a = momentum * self.a + g
        self.w -= lr * (g + momentum * self.a if nesterov else self.a)

    def lars_momentum(
        self, g: np.ndarray, lr: float, momentum: float, coefficient: float, weight_decay: float
    ) -> None:
        size, length = np.linalg.norm(self.w), np.linalg.norm(g)
        rate = lr * coefficient * size / (length + weight_decay * size)
        self.a = momentum * self.a + rate * (g + weight_decay * self.w)
        self.w -= self.a

    def private_sgd(self, g: np.ndarray, lr: float, most: float, batch: float, spread: float) -> None:
        self.w -= lr * g / max(np.linalg.norm(g) / most, 1)

    def fluid_adagrad(self, g: np.ndarray, lr: float, epsilon: float) -> None:
        self.a += g**2
        self.w -= lr * g / (np.sqrt(self.a) + epsilon)

    def fluid_decayed_adagrad(self, g: np.ndarray, lr: float, decay: float, epsilon: float) -> None:
        self.a = decay * self.a + (1 - decay) * g**2
        self.w -= lr * g / (np.sqrt(self.a) + epsilon)

    def fluid_rmsprop(
        self, g: np.ndarray, lr: float, rho: float, epsilon: float, momentum: float, centered: float = 0.0
    ) -> None:
        self.a = rho * self.a + (1 - rho) * g**2
        self.b = rho * self.b + (1 - rho) * g
        spread = self.a - (self.b**2 if centered else 0)
        self.c = momentum * self.c + lr * g / np.sqrt(spread + epsilon)
        self.w -= self.c

    def fluid_adadelta(
        self, g: np.ndarray, lr: float, rho: float, epsilon: float, later: float = 0.0
    ) -> None:
        self.a = rho * self.a + (1 - rho) * g**2
        before = self.b
        self.b = rho * self.b + (1 - rho) * g**2 * (self.b + epsilon) / (self.a + epsilon)
        self.w -= lr * g * np.sqrt(((before if later else self.b) + epsilon) / (self.a + epsilon))

    def adam(
        self, g: np.ndarray, lr: float, beta1: float, beta2: float, epsilon: float, corrected: float
    ) -> None:
        assert corrected  # as its paper has it
        self.c += 1  # the step
        self.a = beta1 * self.a + (1 - beta1) * g
        self.b = beta2 * self.b + (1 - beta2) * g**2
        mean, root = self.a / (1 - beta1**self.c), np.sqrt(self.b / (1 - beta2**self.c))
        self.w -= lr * mean / (root + epsilon)

    def adamw(self, g: np.ndarray, lr: float, decay: float, **of_adam: float) -> None:
        self.w *= 1 - lr * decay
        self.adam(g, lr, **of_adam)

    def adamax(self, g: np.ndarray, lr: float, beta1: float, beta2: float, epsilon: float) -> None:
        self.c += 1  # the step
        self.a = beta1 * self.a + (1 - beta1) * g
        self.b = np.maximum(beta2 * self.b + epsilon, np.abs(g))
        self.w -= lr / (1 - beta1**self.c) * self.a / self.b


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_rule_follows_its_formula(name: str, options: dict[str, Any]) -> None:
    generator = np.random.default_rng(5)
    values = generator.standard_normal(20, np.float32)
    chosen, twin = rule(RuleSpec(name=name, options=options)), Twin(values)
    slots = [np.zeros_like(values) for _ in chosen.slots]
    for step in range(1, 6):
        gradient = generator.standard_normal(20, np.float32)
        chosen.dense(values, gradient, slots, 0.1 / step, Penalties(), step)
        getattr(twin, name)(gradient.astype(np.float64), 0.1 / step, **options)
        np.testing.assert_allclose(values, twin.w, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_rows_that_a_step_passes_by_stay(name: str, options: dict[str, Any]) -> None:
    generator = np.random.default_rng(6)
    table = generator.standard_normal((4, 3), np.float32)
    chosen, before = rule(RuleSpec(name=name, options=options)), table.copy()
    slots, last = [np.zeros_like(table) for _ in chosen.slots], np.zeros(4, np.int64)
    gradient = generator.standard_normal((1, 3), np.float32)
    chosen.rows(table, np.array([2]), gradient, slots, last, 0.1, Penalties(), 1)
    twin = Twin(before[2])
    getattr(twin, name)(gradient[0].astype(np.float64), 0.1, **options)
    np.testing.assert_allclose(table[2], twin.w, rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(table[[0, 1, 3]], before[[0, 1, 3]])
