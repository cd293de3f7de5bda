"""The optimizers of the 2.x generation, each with its numbers: ``paddle.optimizer.SGD`` and its family.

They must never compute: what an operator of such a type and such numbers does is said where parameters are
kept. Guarantee: operators and what they remember have Paddle's types, slots and names.

``multi_precision`` keeps float32 beside parameters of 16 bits, and ``use_multi_tensor`` moves many at once:
parameters are float32 here and move together, so both are taken and change nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.optimizer._optimizer import Optimizer

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lamb", "Momentum", "RMSProp"]

_Parameters = Sequence[Any] | None
# What tells operators of this generation from fluid's of the same type, where the rule is another.
_OF_TWO = {"multi_precision": False}


class SGD(Optimizer):
    """w = w - lr * g."""

    type = "sgd"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)


class Momentum(Optimizer):
    """v = momentum * v + g; w = w - lr * v, and w - lr * (g + momentum * v) with ``use_nesterov``.

    ``rescale_grad`` is of other hardware: on CPUs gradients are taken as they are, as in the original, and a
    warning says so.
    """

    type = "momentum"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: _Parameters = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        if rescale_grad != 1.0:
            _warn_of_scale(rescale_grad)
        self.attrs = {"mu": float(momentum), "use_nesterov": bool(use_nesterov)}


class Adagrad(Optimizer):
    """G = G + g ** 2; w = w - lr * g / (sqrt(G) + epsilon)."""

    type = "adagrad"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-06,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.first_values = {"moment": float(initial_accumulator_value)}
        self.attrs = {"epsilon": float(epsilon)}


class Adam(Optimizer):
    """By the mean of gradients over the root of the mean of their squares.

    ``lazy_mode``: rows of sparse parameters that a batch passes by stay as they are.
    """

    type = "adam"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        first, second = _share("beta1", beta1), _share("beta2", beta2)
        self.attrs = {"beta1": first, "beta2": second, "epsilon": float(epsilon), "lazy_mode": lazy_mode}
        self.attrs |= _OF_TWO


class AdamW(Adam):
    """Adam, and w = w * (1 - lr * weight_decay) before it, of the parameters whose names
    ``apply_decay_param_fun`` is true of, all if None. ``lr_ratio`` is of GPUs, and refused."""

    type = "adamw"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: _Parameters = None,
        weight_decay: float = 0.01,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if lr_ratio is not None:
            raise NotInThisRelease(
                "AdamW(lr_ratio=...) is for GPUs, in the original, too: give parameters rates of their own "
                "by ParamAttr(learning_rate=...)"
            )
        of_adam = (learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, lazy_mode)
        super().__init__(*of_adam, name=name)
        self.attrs["coeff"] = float(weight_decay)
        self._decays = apply_decay_param_fun or (lambda name: True)

    def _attrs_of(self, parameter: Any) -> dict[str, Any]:
        return self.attrs if self._decays(parameter.name) else {**self.attrs, "coeff": 0.0}


class Adamax(Optimizer):
    """By the mean of gradients over the largest of them."""

    type = "adamax"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        first, second = _share("beta1", beta1), _share("beta2", beta2)
        self.attrs = {"beta1": first, "beta2": second, "epsilon": float(epsilon)}


class RMSProp(Optimizer):
    """By gradients over the root of the mean of their squares; over their spread where ``centered``."""

    type = "rmsprop"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        numbers = {"decay": float(rho), "epsilon": float(epsilon), "momentum": float(momentum)}
        self.attrs = {**numbers, "centered": bool(centered)}


class Adadelta(Optimizer):
    """By the rate times gradients times the ratio of recent moves to recent gradients."""

    type = "adadelta"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-06,
        rho: float = 0.95,
        parameters: _Parameters = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.attrs = {"epsilon": float(epsilon), "rho": float(rho), **_OF_TWO}


class Lamb(Optimizer):
    """Adam's direction, with ``lamb_weight_decay``, in the length of the parameter; of parameters without a
    decay as it is, unless ``always_adapt``."""

    type = "lamb"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-06,
        parameters: _Parameters = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        first, second = _share("beta1", beta1), _share("beta2", beta2)
        self._excluded = exclude_from_weight_decay_fn or (lambda parameter: False)
        self.attrs = {"beta1": first, "beta2": second, "epsilon": float(epsilon)}
        self.attrs |= {"weight_decay": float(lamb_weight_decay), "always_adapt": bool(always_adapt)}

    def _attrs_of(self, parameter: Any) -> dict[str, Any]:
        return {**self.attrs, "weight_decay": 0.0} if self._excluded(parameter) else self.attrs


def _share(name: str, value: Any) -> float:
    if not 0 <= float(value) < 1:
        raise ValueError(f"{name} is a share from 0 to below 1, not {value!r}")
    return float(value)


def _warn_of_scale(rescale_grad: float) -> None:
    warnings.warn(
        f"Momentum(rescale_grad={rescale_grad!r}) changes nothing on CPUs, as in the original: multiply the "
        "loss, or the learning rate",
        stacklevel=3,
    )
