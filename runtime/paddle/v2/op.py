"""Functions of layers, and what ``+``, ``-`` and ``*`` between layers mean.

It must never know how a layer is computed. Guarantee: each is written as the original writes it, a mixed
layer of identity projections or a slope and an intercept.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from paddle.v2 import activation, layer
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation
from paddle.v2.config_base import Layer, default_name

__all__ = ["abs", "exp", "log", "reciprocal", "relu", "sigmoid", "softmax", "sqrt", "square", "tanh"]


def _function(name: str, act: type[BaseActivation]) -> Callable[..., Layer]:
    def op(input: Layer, name: str | None = None) -> Layer:
        return layer.mixed(
            input=layer.identity_projection(input), name=name or default_name(op.__name__), act=act()
        )

    op.__name__ = op.__qualname__ = name
    op.__doc__ = act.__doc__
    return op


exp = _function("exp", activation.Exp)
log = _function("log", activation.Log)
abs = _function("abs", activation.Abs)
sigmoid = _function("sigmoid", activation.Sigmoid)
tanh = _function("tanh", activation.Tanh)
square = _function("square", activation.Square)
relu = _function("relu", activation.Relu)
sqrt = _function("sqrt", activation.Sqrt)
reciprocal = _function("reciprocal", activation.Reciprocal)
softmax = _function("softmax", activation.Softmax)


def add(first: Layer, second: Any) -> Layer:
    """A layer plus a number, a layer of its size, or one of size 1 that is added to every column."""
    if isinstance(second, numbers.Real):
        return layer.slope_intercept(input=first, intercept=float(second))
    if not isinstance(second, Layer):
        raise WrongCall(f"a layer is added to a layer or a number, not to {second!r}")
    narrow, wide = sorted((first, second), key=lambda each: each.size)
    if narrow.size != wide.size:
        if narrow.size != 1:
            raise WrongCall(f"layers of one size are added, or one of size 1: {first!r} + {second!r}")
        first, second = layer.repeat(narrow, wide.size), wide
    return layer.mixed(input=[layer.identity_projection(first), layer.identity_projection(second)])


def negative(of: Layer) -> Layer:
    """Minus a layer."""
    return layer.slope_intercept(input=of, slope=-1.0)


def multiply(first: Layer, second: Any) -> Layer:
    """A layer times a number, or times a layer of which one has size 1."""
    if isinstance(second, numbers.Real):
        return layer.slope_intercept(input=first, slope=float(second))
    if not isinstance(second, Layer):
        raise WrongCall(f"a layer is multiplied with a number, not with {second!r}")
    weight, other = sorted((first, second), key=lambda each: each.size)
    if weight.size != 1:
        raise WrongCall(f"of two layers that are multiplied one has size 1: {first!r} * {second!r}")
    return layer.scaling(other, weight)
