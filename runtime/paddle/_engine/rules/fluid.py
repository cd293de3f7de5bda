"""Rules as fluid's operators compute them, where v2's of the same name differ.

    Momentum         v = mu * v + g;  w = w - lr * v, with Nesterov's w - lr * (g + mu * v)
    LARS momentum    r = lr * coefficient * |w| / (|g| + weight_decay * |w|), lr where a length is 0
                     v = mu * v + r * (g + weight_decay * w);  w = w - v
    AdaGrad          G = G + g^2;  w = w - lr * g / (sqrt(G) + epsilon)
    decayed AdaGrad  G = decay * G + (1 - decay) * g^2;  w as in AdaGrad
    RMSProp          S = rho * S + (1 - rho) * g^2;  F = rho * F + (1 - rho) * g where it is centered
                     v = mu * v + lr * g / sqrt(S - F^2 + epsilon), without F^2 where it is not
                     w = w - v
    AdaDelta         E = rho * E + (1 - rho) * g^2
                     D = rho * D + (1 - rho) * g^2 * (D + epsilon) / (E + epsilon)
                     w = w - lr * g * sqrt((D + epsilon) / (E + epsilon)), by the D that has just moved,
                     and by the one before where it is ``later``

Idle rows are left as they are, and penalties follow the step; both as in lazy Adam. Slots have v2's names.

Semantics: PaddlePaddle fluid and 2.x, whose AdaDelta is ``later`` from 2.5 on; but that their Momentum and
RMSProp move idle rows on, as if these had a gradient of 0, and that their RMSProp can take the root of a
negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule


def _kernels() -> Any:
    from paddle._engine.kernels import fluid_rules  # numba is loaded only where parameters are moved

    return fluid_rules


class _OfFluid(Rule):
    penalties_follow = True


@dataclass(frozen=True)
class FluidMomentum(_OfFluid):
    """``nesterov`` is 0 or 1."""

    momentum: float = 0.0
    nesterov: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        """The velocity, in units of the gradient."""
        return ("velocity",)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.momentum, self.nesterov))
        _kernels().momentum(*touched, np.float32(learning_rate), slots[0], *numbers)


@dataclass(frozen=True)
class LarsMomentum(_OfFluid):
    """Moves by a share of each parameter's own length; a row of a table by that of its own."""

    momentum: float = 0.0
    coefficient: float = 0.001
    weight_decay: float = 0.0005

    needs_whole = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The velocity, in units of the value."""
        return ("velocity",)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.momentum, self.coefficient, self.weight_decay))
        _kernels().lars_momentum(*touched, np.float32(learning_rate), slots[0], *numbers)


@dataclass(frozen=True)
class FluidAdaGrad(_OfFluid):
    """A rate per element that falls with the squares of all its gradients."""

    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The sum of squares."""
        return ("square_sum",)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (1.0, 1.0, self.epsilon))
        _kernels().adagrad(*touched, np.float32(learning_rate), slots[0], *numbers)


@dataclass(frozen=True)
class FluidDecayedAdaGrad(_OfFluid):
    """A rate per element that follows the squares of its recent gradients."""

    decay: float = 0.95
    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The mean of squares."""
        return ("mean_square",)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.decay, 1.0 - self.decay, self.epsilon))
        _kernels().adagrad(*touched, np.float32(learning_rate), slots[0], *numbers)


@dataclass(frozen=True)
class FluidRMSProp(_OfFluid):
    """A rate per element that follows the size, or where ``centered`` is 1 the spread, of its gradients."""

    rho: float = 0.95
    epsilon: float = 1e-6
    momentum: float = 0.0
    centered: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        """The means of squares and of gradients, and the velocity in units of the value."""
        return ("mean_square", "mean", "velocity")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.rho, self.epsilon, self.momentum, self.centered))
        _kernels().rmsprop(*touched, np.float32(learning_rate), *slots, *numbers)


@dataclass(frozen=True)
class FluidAdaDelta(_OfFluid):
    """A rate per element in the ratio of its moves, this one among them unless ``later``, which is 0 or 1, to
    its recent gradients."""

    rho: float = 0.95
    epsilon: float = 1e-6
    later: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        """The means of squared gradients and moves."""
        return ("mean_square", "mean_square_move")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.rho, self.epsilon, self.later))
        _kernels().adadelta(*touched, np.float32(learning_rate), *slots, *numbers)
