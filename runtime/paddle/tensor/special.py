"""Special functions: ``paddle.lgamma``, ``paddle.erfinv``, ``paddle.i0`` and their family; ``paddle.atan2``.

They must never compute: each function appends operators to the default program. Guarantee: gradients go
through all but ``nextafter`` and ``sgn``.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from paddle.tensor import math
from paddle.tensor._append import append, floats_alone
from paddle.tensor.creation import full_like, zeros_like
from paddle.tensor.logic import less_than
from paddle.tensor.search import where

__all__ = [
    *("angle", "atan2", "conj", "digamma", "erfinv", "i0", "i0e", "i1", "i1e", "lgamma", "multigammaln"),
    *("nextafter", "polygamma", "real", "sgn"),
]


def atan2(x: Any, y: Any, name: str | None = None) -> Any:
    """The angle, from -pi to pi, of the point that lies ``y`` to the right and ``x`` up."""
    return append("atan2", {"X1": x, "X2": y}, name=name)


def lgamma(x: Any, name: str | None = None) -> Any:
    """log(abs(gamma(x)))."""
    return append("lgamma", {"X": x}, name=name)


def digamma(x: Any, name: str | None = None) -> Any:
    """The slope of ``lgamma``."""
    return append("digamma", {"X": x}, name=name)


def polygamma(x: Any, n: int, name: str | None = None) -> Any:
    """The derivative of order ``n`` of ``digamma``; x is above 0."""
    if not isinstance(n, int) or n < 0:
        raise ValueError(f"n of paddle.polygamma is a whole number from 0 on, not {n!r}")
    return (
        digamma(x, name) if n == 0 else append("polygamma", {"x": x}, {"n": n}, outputs=("out",), name=name)
    )


def multigammaln(x: Any, p: int, name: str | None = None) -> Any:
    """The logarithm of the gamma function of ``p`` dimensions; x is above (p - 1) / 2."""
    if p < 1:
        raise ValueError(f"p of paddle.multigammaln is 1 or more, not {p!r}")
    floats_alone("multigammaln", x=x)
    terms = [lgamma(math.scale(x, 1.0, -at / 2)) for at in range(p)]
    return math.scale(math.add_n(terms), 1.0, p * (p - 1) / 4 * log(pi), name=name)


def erfinv(x: Any, name: str | None = None) -> Any:
    """The number whose error function is x, which is between -1 and 1."""
    return append("erfinv", {"X": x}, name=name)


def _bessel(type: str, x: Any, name: str | None) -> Any:
    return append(type, {"x": x}, outputs=("out",), name=name)


def i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind, of order 0."""
    return _bessel("i0", x, name)


def i0e(x: Any, name: str | None = None) -> Any:
    """``i0`` times exp(-abs(x))."""
    return _bessel("i0e", x, name)


def i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of the first kind, of order 1."""
    return _bessel("i1", x, name)


def i1e(x: Any, name: str | None = None) -> Any:
    """``i1`` times exp(-abs(x))."""
    return _bessel("i1e", x, name)


def nextafter(x: Any, y: Any, name: str | None = None) -> Any:
    """The number next to x on the way to y, in single precision."""
    return append("nextafter", {"x": x, "y": y}, outputs=("out",), stop_gradient=True, name=name)


def sgn(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1: nothing is complex in this release."""
    return math.sign(x, name)


def angle(x: Any, name: str | None = None) -> Any:
    """0, and pi of what is below 0: nothing is complex in this release."""
    floats_alone("angle", x=x)
    return where(less_than(x, zeros_like(x)), full_like(x, pi), zeros_like(x), name)


def conj(x: Any, name: str | None = None) -> Any:
    """x: nothing is complex in this release."""
    return math.scale(x, 1.0, name=name)


real = conj
