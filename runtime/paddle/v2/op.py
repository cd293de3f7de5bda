"""Functions of layers, and what ``+``, ``-`` and ``*`` between layers mean.

It must never know how a layer is computed. Guarantee: each is written as the original writes it, a mixed
layer of identity projections or a slope and an intercept.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.v2 import activation, layer
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
    """A layer plus a number or a layer of its size."""
    if isinstance(second, numbers.Real):
        return layer.slope_intercept(input=first, intercept=float(second))
    if not isinstance(second, Layer):
        raise TypeError(f"a layer is added to a layer or a number, not to {second!r}")
    if first.size != second.size:
        raise NotInThisRelease(
            f"adding layers of unequal sizes is not in this release: {first!r} + {second!r}"
        )
    return layer.mixed(input=[layer.identity_projection(first), layer.identity_projection(second)])


def negative(of: Layer) -> Layer:
    """Minus a layer."""
    return layer.slope_intercept(input=of, slope=-1.0)


def multiply(first: Layer, second: Any) -> Layer:
    """A layer times a number."""
    if isinstance(second, numbers.Real):
        return layer.slope_intercept(input=first, slope=float(second))
    if not isinstance(second, Layer):
        raise TypeError(f"a layer is multiplied with a number, not with {second!r}")
    raise NotInThisRelease(f"multiplying layers is not in this release: {first!r} * {second!r}")
