"""The update rules a second time: plain numpy in float64, written from the formulas."""

from __future__ import annotations

import math

import numpy as np

from paddle._engine.penalties import Penalties

RHO, EPSILON, BETA1, BETA2 = 0.9, 1e-2, 0.8, 0.99
OPTIONS = {
    "sgd": {},
    "momentum": {"momentum": 0.0},
    "adagrad": {"epsilon": EPSILON},
    "decayed_adagrad": {"rho": RHO, "epsilon": EPSILON},
    "rmsprop": {"rho": RHO, "epsilon": EPSILON},
    "adadelta": {"rho": RHO, "epsilon": EPSILON},
    "adam": {"beta1": BETA1, "beta2": BETA2, "epsilon": EPSILON},
    "adamax": {"beta1": BETA1, "beta2": BETA2},
    "ftrl": {"l1": 0.05, "l2": 0.02},
    "lamb": {"beta1": BETA1, "beta2": BETA2, "epsilon": EPSILON, "weight_decay": 0.01},
}


class Twin:
    """One dense parameter in float64, updated as the rules' formulas say."""

    def __init__(self, name: str, values: np.ndarray, momentum: float, penalties: Penalties) -> None:
        self.scale = getattr(self, "_" + name)
        self.momentum = momentum
        self.penalties = penalties
        self.w = values.astype(np.float64)
        self.velocity = np.zeros_like(self.w)
        self.first = np.zeros_like(self.w)
        self.second = np.zeros_like(self.w)
        self.step = 0

    def update(self, gradient: np.ndarray, lr: float) -> None:
        self.step += 1
        l1, l2 = self.penalties.l1, self.penalties.l2
        g = np.clip(gradient.astype(np.float64), -self.penalties.clip, self.penalties.clip)
        rate = lr * self.scale(g)
        if self.scale == self._ftrl:
            linear = self._linear(g, lr)
            shrunken = np.sign(linear) * np.maximum(np.abs(linear) - 0.05, 0)
            self.w = -shrunken / (np.sqrt(self.first) / lr + 2 * 0.02)
            rate, follow = lr, True
        elif self.scale in (self._adam, self._adamax, self._lamb):
            move = rate * self.first
            if self.scale == self._lamb:
                move = move / lr + 0.01 * self.w
                move *= lr * np.linalg.norm(self.w) / np.linalg.norm(move)
            self.w -= move
            rate, follow = lr, True
        else:
            follow = l1 > 0
            self.velocity = self.momentum * self.velocity - rate * (g + (0 if follow else l2) * self.w)
            self.w += self.velocity
        if follow:
            self.w = np.sign(self.w) * np.maximum(np.abs(self.w) - rate * l1, 0) / (1 + rate * l2)

    def _sgd(self, g: np.ndarray) -> np.ndarray:
        return np.ones_like(g)

    _momentum = _sgd

    def _adagrad(self, g: np.ndarray) -> np.ndarray:
        self.first += g**2
        return 1 / np.sqrt(self.first + EPSILON)

    def _decayed_adagrad(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 if self.step == 1 else 1 - RHO) * g**2
        return 1 / np.sqrt(self.first + EPSILON)

    def _rmsprop(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 if self.step == 1 else 1 - RHO) * g**2
        self.second = RHO * self.second + (1 - RHO) * g
        return 1 / np.sqrt(self.first - self.second**2 + EPSILON)

    def _adadelta(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 - RHO) * g**2
        scale = np.sqrt((self.second + EPSILON) / (self.first + EPSILON))
        self.second = RHO * self.second + (1 - RHO) * (scale * g) ** 2
        return scale

    def _adam(self, g: np.ndarray) -> np.ndarray:
        self.first = BETA1 * self.first + (1 - BETA1) * g
        self.second = BETA2 * self.second + (1 - BETA2) * g**2
        correction = math.sqrt(1 - BETA2**self.step) / (1 - BETA1**self.step)
        return correction / (np.sqrt(self.second) + EPSILON)

    def _adamax(self, g: np.ndarray) -> np.ndarray:
        self.first = BETA1 * self.first + (1 - BETA1) * g
        self.second = np.maximum(BETA2 * self.second, np.abs(g))
        return 1 / (1 - BETA1**self.step) / self.second

    def _ftrl(self, g: np.ndarray) -> np.ndarray:
        return np.ones_like(g)

    def _linear(self, g: np.ndarray, lr: float) -> np.ndarray:
        before, self.first = self.first, self.first + g**2
        self.second = self.second + g - (np.sqrt(self.first) - np.sqrt(before)) / lr * self.w
        return self.second

    def _lamb(self, g: np.ndarray) -> np.ndarray:
        self.first = BETA1 * self.first + (1 - BETA1) * g
        self.second = BETA2 * self.second + (1 - BETA2) * g**2
        root = np.sqrt(self.second / (1 - BETA2**self.step))
        return 1 / (1 - BETA1**self.step) / (root + EPSILON)
