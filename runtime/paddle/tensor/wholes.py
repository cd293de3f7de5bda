"""Whole numbers and powers of two: ``paddle.gcd``, ``paddle.lcm``, ``paddle.frexp``, ``paddle.ldexp``.

They must never compute: each function appends operators to the default program. Guarantee: signs do not
matter to ``gcd`` and ``lcm``, which are of integers.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import VarType
from paddle.tensor import math
from paddle.tensor._append import append
from paddle.tensor.creation import full_like, ones_like, zeros_like
from paddle.tensor.logic import equal, less_than
from paddle.tensor.manipulation import cast
from paddle.tensor.search import where

__all__ = ["frexp", "gcd", "lcm", "ldexp"]


def gcd(x: Any, y: Any, name: str | None = None) -> Any:
    """The greatest number that divides both; 0 of two zeros."""
    return append("gcd", {"x": x, "y": y}, outputs=("out",), stop_gradient=True, name=name)


def lcm(x: Any, y: Any, name: str | None = None) -> Any:
    """The least number that both divide; 0 where one of them is 0."""
    shared = gcd(x, y)
    none = equal(shared, zeros_like(shared))
    by = where(none, ones_like(shared), shared)
    return math.abs(
        math.floor_divide(math.multiply(math.add(x, zeros_like(by)), math.add(y, zeros_like(by))), by), name
    )


def ldexp(x: Any, y: Any, name: str | None = None) -> Any:
    """x * 2 ** y: a float64 where one of them is, and a float32 otherwise."""
    kind = "float64" if VarType.FP64 in (x.dtype, y.dtype) else "float32"
    power = cast(y, kind)
    return math.multiply(cast(x, kind), math.pow(full_like(power, 2.0), power), name)


def frexp(x: Any, name: str | None = None) -> tuple[Any, Any]:
    """x as a part of 0.5 or more, below 1, with x's sign, and the power of 2 that it is multiplied by; 0 is
    0 and 0."""
    nothing = equal(x, zeros_like(x))
    size = where(nothing, ones_like(x), math.abs(x))
    power = math.scale(math.floor(math.log2(size)), 1.0, 1.0)
    power.stop_gradient = True
    rest = math.divide(size, math.pow(full_like(power, 2.0), power))
    # a logarithm that was rounded is one too many or too few
    is_one, is_less = (cast(each, "float32") for each in (math.floor(rest), less_than_half(rest)))
    power = math.add(math.subtract(power, is_less), is_one)
    power.stop_gradient = True
    part = math.divide(x, math.pow(full_like(power, 2.0), power))
    return part, where(nothing, zeros_like(power), power)


def less_than_half(x: Any) -> Any:
    """Whether x is below 0.5."""
    return less_than(x, full_like(x, 0.5))
