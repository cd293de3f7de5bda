"""Functions of elements that others make up: ``paddle.lerp``, ``paddle.logit`` and their family.

They must never compute: each function appends operators to the default program. Guarantee: values and
gradients are finite wherever the function and its slope are.
"""

from __future__ import annotations

from math import pi
from typing import Any

from paddle._program.description.dtypes import is_float
from paddle.tensor import math
from paddle.tensor._append import floats_alone, variable_of
from paddle.tensor.creation import full_like
from paddle.tensor.logic import (
    equal,
    greater_equal,
    greater_than,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
)
from paddle.tensor.manipulation import cast
from paddle.tensor.search import where

__all__ = [
    *("acosh", "asinh", "atanh", "deg2rad", "expm1", "fmax", "fmin", "frac", "heaviside", "hypot"),
    *("isclose", "lerp", "logaddexp", "logit", "nan_to_num", "rad2deg", "trunc"),
]


def expm1(x: Any, name: str | None = None) -> Any:
    """exp(x) - 1, as exact near 0 as elsewhere."""
    near = math.tanh(math.scale(math.clip(x, -1.0, 1.0), 0.5))
    small = math.divide(math.scale(near, 2.0), math.scale(near, -1.0, 1.0))
    return where(less_than(math.abs(x), full_like(x, 0.5)), small, math.scale(math.exp(x), 1.0, -1.0), name)


def asinh(x: Any, name: str | None = None) -> Any:
    """The number with this hyperbolic sine."""
    size = math.abs(x)
    square = math.square(size)
    root = math.sqrt(math.scale(square, 1.0, 1.0))
    below = math.divide(square, math.scale(root, 1.0, 1.0))  # sqrt(x * x + 1) - 1, nothing cancelled
    return math.multiply(math.sign(x), math.log1p(math.add(size, below)), name)


def acosh(x: Any, name: str | None = None) -> Any:
    """The number that is not negative and has this hyperbolic cosine; x is 1 or more."""
    above = math.scale(x, 1.0, -1.0)
    root = math.sqrt(math.multiply(above, math.scale(x, 1.0, 1.0)))
    return math.log1p(math.add(above, root), name)


def atanh(x: Any, name: str | None = None) -> Any:
    """The number with this hyperbolic tangent; x is between -1 and 1."""
    return math.scale(math.subtract(math.log1p(x), math.log1p(math.scale(x, -1.0))), 0.5, name=name)


def trunc(input: Any, name: str | None = None) -> Any:
    """x without what is behind the point; whole numbers as they are."""
    if not is_float(input.dtype):
        return math.scale(input, 1.0, name=name)
    return math.multiply(math.sign(input), math.floor(math.abs(input)), name)


def frac(x: Any, name: str | None = None) -> Any:
    """What is behind the point, with x's sign; 0 of whole numbers."""
    whole = trunc(x)
    whole.stop_gradient = True
    return math.subtract(x, whole, name)


def deg2rad(x: Any, name: str | None = None) -> Any:
    """Degrees as radians."""
    return math.scale(_floating(x), pi / 180, name=name)


def rad2deg(x: Any, name: str | None = None) -> Any:
    """Radians as degrees."""
    return math.scale(_floating(x), 180 / pi, name=name)


def _floating(x: Any) -> Any:
    return x if is_float(x.dtype) else cast(x, "float32")


def lerp(x: Any, y: Any, weight: Any, name: str | None = None) -> Any:
    """x + weight * (y - x); ``weight`` is a number or a tensor."""
    floats_alone("lerp", x=x, y=y, weight=weight)
    return math.add(x, math.multiply(variable_of(weight, x), math.subtract(y, x)), name)


def logit(x: Any, eps: float | None = None, name: str | None = None) -> Any:
    """log(x / (1 - x)), x held ``eps`` away from 0 and 1; without eps it is nan beyond them."""
    floats_alone("logit", x=x)
    held = x if eps is None else math.clip(x, eps, 1 - eps)
    return math.subtract(math.log(held), math.log(math.scale(held, -1.0, 1.0)), name)


def logaddexp(x: Any, y: Any, name: str | None = None) -> Any:
    """log(exp(x) + exp(y)), computed so that no exp is too large."""
    apart = math.scale(math.abs(math.subtract(x, y)), -1.0)
    return math.add(math.maximum(x, y), math.log1p(math.exp(apart)), name)


def hypot(x: Any, y: Any, name: str | None = None) -> Any:
    """sqrt(x * x + y * y)."""
    return math.sqrt(math.add(math.square(x), math.square(y)), name)


def heaviside(x: Any, y: Any, name: str | None = None) -> Any:
    """0 where x is below 0, 1 where it is above, and y where it is 0."""
    like = math.scale(math.add(x, y), 0.0)
    step = where(greater_than(math.add(x, like), like), full_like(like, 1.0), full_like(like, 0.0))
    return where(equal(math.add(x, like), like), math.add(y, like), step, name)


def fmax(x: Any, y: Any, name: str | None = None) -> Any:
    """The larger of x and y; where one of them is nan, the other."""
    return _but_nan(math.maximum, x, y, name)


def fmin(x: Any, y: Any, name: str | None = None) -> Any:
    """The smaller of x and y; where one of them is nan, the other."""
    return _but_nan(math.minimum, x, y, name)


def _but_nan(better: Any, x: Any, y: Any, name: str | None) -> Any:
    like = math.add(full_like(x, 0.0), full_like(y, 0.0))
    first, second = math.add(x, like), math.add(y, like)
    taken = where(math.isnan(second), first, better(second, first))  # of two equal ones x has the gradient
    return where(math.isnan(first), second, taken, name)


def isclose(
    x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Any:
    """Whether abs(x - y) <= atol + rtol * abs(y), element by element."""
    near = less_equal(math.abs(math.subtract(x, y)), math.scale(math.abs(y), rtol, atol))
    near = logical_or(near, equal(x, y))  # infinities
    return logical_or(near, logical_and(math.isnan(x), math.isnan(y))) if equal_nan else near


def nan_to_num(
    x: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Any:
    """x with numbers in the places of nan and of what is infinite: the largest there are, by default."""
    largest = 3.4028234663852886e38
    there = where(math.isnan(x), full_like(x, nan), x)
    high = full_like(x, largest if posinf is None else posinf)
    low = full_like(x, -largest if neginf is None else neginf)
    infinite = math.isinf(x)
    is_high = logical_and(infinite, greater_equal(x, full_like(x, 0.0)))
    is_low = logical_and(infinite, logical_not(is_high))
    return where(is_low, low, where(is_high, high, there), name)
