"""The optimizers that later generations have, by the names and arguments of fluid 1.8.

Each says which operator it appends for a parameter, with which numbers. What that does, and what it
remembers, is in updates.py. They must never know where parameters live.

``parameter_list``: those to move, all that can be trained if None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._program.description.guards import default_startup_program
from paddle._program.errors import BadArgument
from paddle._program.writing.optimizer import Optimizer


class SGDOptimizer(Optimizer):
    """Subtracts rate times gradient."""

    type = "sgd"

    def __init__(
        self,
        learning_rate: Any,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)


class MomentumOptimizer(Optimizer):
    """Subtracts rate times a velocity, which is the gradient and ``momentum`` times itself."""

    type = "momentum"

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        parameter_list: Any = None,
        use_nesterov: Any = False,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if isinstance(parameter_list, bool):  # the third argument of releases before 1.7, which had one less
            if not isinstance(use_nesterov, bool):
                regularization, name = use_nesterov, regularization if name is None else name
            parameter_list, use_nesterov = None, parameter_list
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"mu": momentum, "use_nesterov": bool(use_nesterov)}


class LarsMomentumOptimizer(Optimizer):
    """Momentum at a rate that is a share of each parameter's length over its gradient's."""

    type = "lars_momentum"

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"mu": momentum, "lars_coeff": lars_coeff, "lars_weight_decay": lars_weight_decay}


class DpsgdOptimizer(Optimizer):
    """Gradient descent by gradients no longer than ``clip``, to which noise of the deviation ``sigma`` over
    ``batch_size`` is added, one number for a parameter in each step. The noise follows from the program's
    ``random_seed``: tell one that nobody knows."""

    type = "dpsgd"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        clip: float = 0.9,
        batch_size: float = 0.999,
        sigma: float = 1e-8,
        parameter_list: Any = None,
    ) -> None:
        for name, given in (("clip", clip), ("batch_size", batch_size), ("sigma", sigma)):
            if not isinstance(given, int | float) or given < 0 or (given == 0 and name != "sigma"):
                raise BadArgument(f"Dpsgd: {name} is a number above 0, not {given!r}")
        super().__init__(learning_rate, None, None, parameter_list)
        self.attrs = {"clip": float(clip), "batch_size": float(batch_size), "sigma": float(sigma), "seed": 0}

    def apply_gradients(self, params_grads: Any) -> Any:
        """As any optimizer, with the seed that the program has now."""
        if params_grads:
            program = params_grads[0][0].block.program
            self.attrs["seed"] = int(program.random_seed or default_startup_program().random_seed or 0)
        return super().apply_gradients(params_grads)


class AdagradOptimizer(Optimizer):
    """A rate per element that falls with the squares of all its gradients."""

    type = "adagrad"

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.first_values = {"moment": float(initial_accumulator_value)}
        self.attrs = {"epsilon": epsilon}


class AdamOptimizer(Optimizer):
    """Moves by the mean of recent gradients over the root of the mean of their squares. ``lazy_mode``: rows
    that a step brings no gradient are left as they are."""

    type = "adam"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        lazy_mode: bool = False,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        beta1, beta2 = _number("beta1", beta1), _number("beta2", beta2)
        self.attrs = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": bool(lazy_mode)}


class AdamaxOptimizer(Optimizer):
    """Moves by the mean of recent gradients over the largest of them."""

    type = "adamax"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}


class DecayedAdagradOptimizer(Optimizer):
    """A rate per element that follows the squares of its recent gradients."""

    type = "decayed_adagrad"

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.95,
        epsilon: float = 1e-6,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"decay": decay, "epsilon": epsilon}


class AdadeltaOptimizer(Optimizer):
    """A rate per element in the ratio of its recent moves to its recent gradients. The learning rate has no
    part in it, as in the original."""

    type = "adadelta"

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"epsilon": epsilon, "rho": rho}


class RMSPropOptimizer(Optimizer):
    """A rate per element that follows its recent gradients: their size, or if ``centered`` their spread."""

    type = "rmsprop"

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"decay": rho, "epsilon": epsilon, "momentum": momentum, "centered": bool(centered)}


class FtrlOptimizer(Optimizer):
    """Values that are exactly 0 until gradients speak for more."""

    type = "ftrl"

    def __init__(
        self,
        learning_rate: Any,
        l1: float = 0.0,
        l2: float = 0.0,
        lr_power: float = -0.5,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"l1": l1, "l2": l2, "lr_power": lr_power}


class LambOptimizer(Optimizer):
    """Moves by a share of each parameter's own length. ``exclude_from_weight_decay_fn``: says of a parameter
    whether it does not decay."""

    type = "lamb"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, regularization, grad_clip, parameter_list, name)
        self.attrs = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "weight_decay": lamb_weight_decay}
        self._excludes = exclude_from_weight_decay_fn

    def _attrs_of(self, parameter: Any) -> dict[str, Any]:
        free = self._excludes is not None and self._excludes(parameter)
        return {**self.attrs, "weight_decay": 0.0} if free else self.attrs


def _number(name: str, given: Any) -> float:
    if not isinstance(given, int | float):
        raise BadArgument(f"{name} is a number, not {given!r}")
    return float(given)
