"""Decorators by which programs give arguments of their own functions v2's defaults: names, attributes,
activations.

They must never know a layer. Guarantee: an argument that is not given, or given as None, gets the default;
others are passed as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import count
from typing import Any

from paddle.v2.activation import BaseActivation, Tanh
from paddle.v2.attr import ParameterAttribute

__all__ = [
    "wrap_act_default",
    "wrap_bias_attr_default",
    "wrap_name_default",
    "wrap_param_attr_default",
    "wrap_param_default",
]

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
Arguments = Mapping[str, Any]


def _is_missing(given: Arguments, name: str) -> bool:
    return given.get(name) is None


def wrap_param_default(
    param_names: Sequence[str],
    default_factory: Callable[[Function], Any],
    not_set_callback: Callable[[Arguments, str], bool] = _is_missing,
) -> Decorator:
    """Give the arguments ``param_names``, which are passed by name, ``default_factory(function)`` where
    ``not_set_callback(arguments, name)`` says so."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            missing = [name for name in param_names if not_set_callback(kwargs, name)]
            return function(*args, **{**kwargs, **{name: default_factory(function) for name in missing}})

        return called

    return decorated


def wrap_name_default(name_prefix: str | None = None, name_param: str = "name") -> Decorator:
    """A name that is not given is ``__PREFIX_0__``, ``__PREFIX_1__``...; without a prefix that is the
    function's own name."""
    numbers = count()
    return wrap_param_default(
        [name_param], lambda function: f"__{name_prefix or function.__name__}_{next(numbers)}__"
    )


def wrap_param_attr_default(
    param_names: Sequence[str] | None = None, default_factory: Callable[[Function], Any] | None = None
) -> Decorator:
    """Attributes of parameters that are not given are such as say nothing."""
    return wrap_param_default(
        param_names or ["param_attr"], default_factory or (lambda function: ParameterAttribute())
    )


def wrap_bias_attr_default(
    param_names: Sequence[str] | None = None,
    default_factory: Callable[[Function], Any] | None = None,
    has_bias: bool = True,
) -> Decorator:
    """A bias that is True, or with ``has_bias`` not given, is one that begins at 0."""

    def is_wanted(given: Arguments, name: str) -> bool:
        return given.get(name) is True or (has_bias and _is_missing(given, name))

    zeros = default_factory or (lambda function: ParameterAttribute(initial_std=0.0, initial_mean=0.0))
    return wrap_param_default(param_names or ["bias_attr"], zeros, is_wanted)


def wrap_act_default(
    param_names: Sequence[str] | None = None, act: BaseActivation | None = None
) -> Decorator:
    """An activation that is not given is ``act``, or Tanh."""
    return wrap_param_default(param_names or ["act"], lambda function: act or Tanh())
