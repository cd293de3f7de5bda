"""Attributes: how a parameter starts and learns, and what else a layer does.

They must never know the layer that they are given to. Guarantee: what an attribute asks for and this release
cannot do is an error when it is made, not a silence when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.v2._config import HookConfig, ParameterConfig
from paddle.v2._errors import WrongCall
from paddle.v2._numbers import check_bound, check_number, check_share
from paddle.v2.config_base import Initializer

__all__ = [
    "Extra",
    "ExtraAttr",
    "ExtraLayerAttribute",
    "Hook",
    "HookAttr",
    "HookAttribute",
    "Param",
    "ParamAttr",
    "ParameterAttribute",
]

_NORMAL, _UNIFORM = 0, 1
_DEFAULT_STD = 0.01  # of a parameter whose mean is given and whose std is not


class HookAttribute:
    """What else an update does to a parameter: ``pruning``. The share ``sparsity_ratio`` of its values, those
    that are smallest when training begins, are zero from then on.
    """

    def __init__(self, type: str, sparsity_ratio: float | None = None) -> None:
        if type != "pruning":
            raise NotInThisRelease(f"a hook of type {type!r} is not in this release, which has 'pruning'")
        check_share("sparsity_ratio", sparsity_ratio)
        self.type = type
        self.sparsity_ratio = sparsity_ratio

    def config(self) -> HookConfig:
        """The same, as a parameter's configuration has it."""
        given = {} if self.sparsity_ratio is None else {"sparsity_ratio": float(self.sparsity_ratio)}
        return HookConfig(type=self.type, **given)


class ParameterAttribute:
    """How a parameter starts and learns.

    ``name``: parameters of one name are one parameter. First value: normal with ``initial_mean`` and
    ``initial_std``, or uniform between ``initial_min`` and ``initial_max``, or ``initializer(name)``; where
    none of these is given, normal with mean 0 and std 1 / sqrt(height). ``learning_rate`` multiplies the
    optimizer's; ``momentum``, ``l1_rate``, ``l2_rate`` and ``gradient_clipping_threshold`` replace it.
    ``sparse_update``: only the rows that a batch uses are updated and, with parameter servers, sent.
    ``is_static``: it does not learn. ``update_hooks``: a :class:`HookAttribute`.
    """

    def __init__(
        self,
        name: str | None = None,
        is_static: bool = False,
        initial_std: float | None = None,
        initial_mean: float | None = None,
        initial_max: float | None = None,
        initial_min: float | None = None,
        l1_rate: float | None = None,
        l2_rate: float | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        gradient_clipping_threshold: float | None = None,
        sparse_update: bool = False,
        update_hooks: HookAttribute | Sequence[HookAttribute] | None = None,
        initializer: Initializer | None = None,
    ) -> None:
        self._hooks = _hooks(update_hooks)
        if self._hooks and (sparse_update or is_static):
            asked = "sparse_update" if sparse_update else "is_static"
            raise NotInThisRelease(f"update_hooks with {asked}=True is not in this release: give one of them")
        if initializer is not None and not callable(initializer):
            raise WrongCall(
                "initializer must be a callable that takes the parameter's name and returns its value"
            )
        self.name = name
        self.is_static = is_static
        self.sparse_update = sparse_update
        self.initializer = initializer
        self._start = _start(initial_mean, initial_std, initial_min, initial_max)
        rates = {
            "learning_rate": learning_rate,
            "momentum": momentum,
            "decay_rate": l2_rate,
            "decay_rate_l1": l1_rate,
            "gradient_clipping_threshold": gradient_clipping_threshold,
        }
        for rate, value in {"learning_rate": learning_rate, "l1_rate": l1_rate, "l2_rate": l2_rate}.items():
            check_number(rate, value)
        check_share("momentum", momentum)
        check_bound("gradient_clipping_threshold", gradient_clipping_threshold)
        self._rates = {} if is_static else {rate: value for rate, value in rates.items() if value is not None}

    def configure(
        self, default_name: str, dims: Sequence[int], std: float | None = None
    ) -> tuple[ParameterConfig, Initializer | None]:
        """The configuration of a parameter of this shape, and the program's own initializer, if any.

        ``std``: of its first value where none was given, if not that which follows from the shape.
        """
        start = self._start or {
            "initial_mean": 0.0,
            "initial_std": 1.0 / sqrt(dims[0]) if std is None else std,
            "initial_strategy": _NORMAL,
            "initial_smart": std is None,
        }
        config = ParameterConfig(
            name=self.name or default_name, size=prod(dims), dims=dims, **{**self._rates, **start}
        )
        if self.is_static:
            config.is_static = True
        if self.sparse_update:
            config.sparse_update = config.sparse_remote_update = True
        for hook in self._hooks:
            config.update_hooks.append(hook.config())
        return config, self.initializer


class ExtraLayerAttribute:
    """What else a layer does. ``drop_rate``: the share of its output that training sets to 0.
    ``error_clipping_threshold``: the gradient with respect to its output is bounded to so much, either way,
    before it goes on backwards; 0 for no bound.
    """

    def __init__(
        self,
        error_clipping_threshold: float | None = None,
        drop_rate: float | None = None,
        device: int | None = None,
    ) -> None:
        check_bound("error_clipping_threshold", error_clipping_threshold)
        if device not in (None, -1):
            raise NotInThisRelease(
                f"device={device} is not in this release: it runs on the CPU, which is device -1"
            )
        check_number("drop_rate", drop_rate)
        if drop_rate is not None and not 0 <= drop_rate < 1:
            raise WrongCall(f"drop_rate is a share from 0 to below 1, not {drop_rate!r}")
        self.drop_rate = drop_rate or 0.0
        self.error_clipping_threshold = float(error_clipping_threshold or 0.0)


Param = ParamAttr = ParameterAttribute
Extra = ExtraAttr = ExtraLayerAttribute
Hook = HookAttr = HookAttribute


def _hooks(given: object) -> list[HookAttribute]:
    """The hooks of a parameter: none, or one."""
    hooks = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
    for each in hooks:
        if not isinstance(each, HookAttribute):
            raise WrongCall(f"update_hooks is paddle.attr.Hook('pruning', sparsity_ratio=...), not {each!r}")
    if len(hooks) > 1:
        raise WrongCall("update_hooks has more than one hook, and there is only pruning: give one")
    return hooks


def _start(
    mean: float | None, std: float | None, low: float | None, high: float | None
) -> dict[str, Any] | None:
    """The fields of ParameterConfig that say how it starts, or None where nothing was said."""
    for name, value in {"mean": mean, "min": low, "max": high}.items():
        check_number(f"initial_{name}", value)
    check_bound("initial_std", std)
    if mean is not None or std is not None:
        strategy, mean, std = _NORMAL, mean or 0.0, _DEFAULT_STD if std is None else std
    elif low is not None and high is not None:
        if low >= high:
            raise WrongCall(f"initial_min={low} must be below initial_max={high}")
        strategy, mean, std = _UNIFORM, (high + low) / 2, (high - low) / 2
    elif low is None and high is None:
        return None
    else:
        raise WrongCall("initial_min and initial_max are given together: values between the two are drawn")
    return {
        "initial_mean": mean,
        "initial_std": std,
        "initial_strategy": strategy,
        "initial_smart": False,
    }
