"""Special functions of one number, or two: gamma and its kin, Bessel's, the error function's inverse.

They must never know an operator's block. Guarantee: computed in double precision, so that single precision
is exact to its last digits but one.
"""

from __future__ import annotations

from math import erf, lgamma, pi, sqrt
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, is_float
from paddle._program.ops.formulas.formula import Formula, broadcast, unbroadcast

_gamma = np.vectorize(
    lambda x: lgamma(x) if np.isfinite(x) and not (x <= 0 and x == int(x)) else np.inf, otypes=[np.float64]
)
_error = np.vectorize(erf, otypes=[np.float64])


def log_gamma(x: np.ndarray) -> np.ndarray:
    """log(abs(gamma(x)))."""
    return np.asarray(_gamma(x.astype(np.float64)))


def polygamma(order: int, x: np.ndarray) -> np.ndarray:
    """The derivative of ``order`` of digamma: by its series far out, and by what leads there step by step."""
    at = x.astype(np.float64)
    if order == 0:
        return _digamma(at)
    found, sign, factorial = np.zeros_like(at), (-1.0) ** (order + 1), float(np.prod(range(1, order + 1)))
    while (low := at < 15).any():
        found[low] += at[low] ** -(order + 1.0)
        at = np.where(low, at + 1, at)
    found *= factorial
    found += factorial / order * at ** -float(order) + factorial / 2 * at ** -(order + 1.0)
    rising = factorial * (order + 1)
    for half, (top, bottom) in enumerate(_BERNOULLI, 1):
        twice = 2 * half
        if half > 1:
            rising *= (order + twice - 2) * (order + twice - 1)
        over = float(np.prod(range(1, twice + 1)))
        found += top / bottom * rising / over * at ** -(order + float(twice))
    return sign * found


_BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730))


def _digamma(x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        mirrored = np.where(x < 0.5, -pi / np.tan(pi * x), 0.0)
    at, found = np.where(x < 0.5, 1 - x, x), mirrored
    while (low := at < 15).any():
        found = found - np.where(low, 1 / at, 0.0)
        at = np.where(low, at + 1, at)
    found = found + np.log(at) - 0.5 / at
    for half, (top, bottom) in enumerate(_BERNOULLI, 1):
        found = found - top / bottom / (2 * half) * at ** -(2.0 * half)
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, found)


def error_inverse(x: np.ndarray) -> np.ndarray:
    """The number whose error function is x: Giles' start, and Newton's steps from there."""
    at = x.astype(np.float64)
    with np.errstate(all="ignore"):
        log = np.log((1 - at) * (1 + at))
        half = 2 / (pi * 0.147) + log / 2
        found = np.sign(at) * np.sqrt(np.sqrt(half * half - log / 0.147) - half)
        for _ in range(4):
            found = found - (_error(found) - at) * np.exp(found * found) * sqrt(pi) / 2
    return np.where(np.abs(at) == 1, np.copysign(np.inf, at), np.where(np.abs(at) > 1, np.nan, found))


_NODES = 200
_ANGLES = (np.arange(_NODES) + 0.5) * pi / _NODES


def bessel(order: int, x: np.ndarray, *, scaled: bool) -> np.ndarray:
    """The modified function of the first kind, of order 0 or 1; ``scaled``: times exp(-abs(x)).

    It is the mean of exp(x cos t) cos(order t) over half a turn, which equal steps give exactly where there
    are more of them than the function has waves.
    """
    at = x.astype(np.float64)[..., None]
    risen = np.exp(at * np.cos(_ANGLES) - np.abs(at))
    found = (risen * np.cos(order * _ANGLES)).mean(-1)
    found = np.where(np.abs(at[..., 0]) > 600, _far(order, at[..., 0]), found)
    return np.asarray(found if scaled else found * np.exp(np.abs(at[..., 0])))


def _far(order: int, x: np.ndarray) -> np.ndarray:
    size = np.maximum(np.abs(x), 1.0)
    square = 4.0 * order * order
    series = 1 - (square - 1) / (8 * size) + (square - 1) * (square - 9) / (2 * (8 * size) ** 2)
    return np.asarray(np.sign(x) ** order * series / np.sqrt(2 * pi * size))


def _unary(type: str, value: Any, slope: Any, slots: tuple[str, str] = ("X", "Out"), **attrs: Any) -> None:
    """One number's function: ``value(attrs, x)``, and ``slope(attrs, x, found)``."""

    def back(told: Any, arrays: Any, outs: Any, came: Any) -> list[Any]:
        return [came * slope(told, arrays[0], outs[0])]

    Formula(type, slots[0], slots[1], value, back).register(**attrs)


_unary("lgamma", lambda told, x: log_gamma(x), lambda told, x, out: polygamma(0, x))
_unary("digamma", lambda told, x: polygamma(0, x), lambda told, x, out: polygamma(1, x))
_unary(
    "polygamma",
    lambda told, x: polygamma(int(told["n"]), x),
    lambda told, x, out: polygamma(int(told["n"]) + 1, x),
    ("x", "out"),
    n=0,
)
_unary(
    "erfinv",
    lambda told, x: error_inverse(x),
    lambda told, x, out: np.exp(np.square(out.astype(np.float64))) * sqrt(pi) / 2,
)
_LOWER = ("x", "out")
_unary(
    "i0",
    lambda told, x: bessel(0, x, scaled=False),
    lambda told, x, out: bessel(1, x, scaled=False),
    _LOWER,
)
_unary(
    "i0e",
    lambda told, x: bessel(0, x, scaled=True),
    lambda told, x, out: bessel(1, x, scaled=True) - np.sign(x) * out,
    _LOWER,
)


def _below(x: np.ndarray, out: np.ndarray, order0: np.ndarray) -> np.ndarray:
    """The slope of order 1 but for scaling: order 0 less order 1 over x, which is a half at 0."""
    with np.errstate(all="ignore"):
        return np.where(x == 0, 0.5, order0 - out / x)


_unary(
    "i1",
    lambda told, x: bessel(1, x, scaled=False),
    lambda told, x, out: _below(x, out, bessel(0, x, scaled=False)),
    _LOWER,
)
_unary(
    "i1e",
    lambda told, x: bessel(1, x, scaled=True),
    lambda told, x, out: _below(x, out, bessel(0, x, scaled=True)) - np.sign(x) * out,
    _LOWER,
)


def _angle_back(told: Any, arrays: Any, outs: Any, came: Any) -> list[Any]:
    up, right = (each.astype(np.float64) for each in arrays)
    square = up * up + right * right
    found = (came * right / square, -came * up / square)
    return [unbroadcast(each, of.shape) for each, of in zip(found, arrays, strict=True)]


def _angle_dtype(op: Any) -> Any:
    """Of whole numbers float64, as the original's."""
    given = op.block._var_recursive(op.input("X1")[0]).dtype
    return given if is_float(given) else VarType.FP64


Formula(
    "atan2",
    "X1 X2",
    "Out",
    lambda told, up, right: np.arctan2(up, right),
    _angle_back,
    lambda told, up, right: broadcast(up, right),
    dtypes={"Out": _angle_dtype},
).register()
Formula(
    "nextafter",
    "x y",
    "out",
    lambda told, x, y: np.nextafter(x.astype(np.float32), y.astype(np.float32)),
    shape=lambda told, x, y: broadcast(x, y),
).register()
