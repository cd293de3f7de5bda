"""Formulas: the functions of one array, element by element, that stand in few networks.

Each is written as it is in a book: its value and its slope, of an array. So unlike the activations that
many networks spend their time in (activation.py) these allocate in a step. Attributes and their defaults are
those of fluid's operators of the same names; ``gelu`` is the exact one unless ``approximate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi, sqrt
from typing import Any, TypeAlias

import numpy as np

from paddle._engine.ops import shapes
from paddle._engine.registry import Call, Gradient, Kernel, Row, Steps

Array: TypeAlias = Any  # of numbers; what numpy makes of one by arithmetic is Any to the type checker
Attrs: TypeAlias = Mapping[str, Any]
Value: TypeAlias = Callable[[Array, Attrs], Array]
Slope: TypeAlias = Callable[[Array, Attrs], Array | float]


def _row(type: str, value: Value, rise: Slope, **attrs: Any) -> Row:
    def bind(call: Call) -> Steps:
        x, out = call["X"], call["Out"]
        yield lambda: np.copyto(out, value(x, call.attrs), "same_kind")

    def back(call: Call) -> Steps:
        x, grad, dx = call["X"], call["Out@GRAD"], call["X@GRAD"]
        yield lambda: np.multiply(grad, rise(x, call.attrs), dx, casting="same_kind")

    return Row(
        type=type,
        attrs=attrs,
        shape=shapes.like_x,
        forward=Kernel(bind, in_place={"Out": "X"}),
        gradient=Gradient(back, needs=("X",)),
    )


def _of(ufunc: Callable[[Array], Array]) -> Value:
    return lambda x, attrs: ufunc(x)


def _flat(x: Array, attrs: Attrs) -> float:
    return 0.0


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Array) -> Array:
    """log(1 + exp(x)), where that is large too."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _erf(x: Array) -> Array:
    from paddle._engine.kernels.normal import error_function, single_errors  # loads numba

    out = np.array(x, order="C")
    if out.dtype == np.float32:
        single_errors(out.reshape(-1))
    else:
        error_function(out.reshape(-1), out.reshape(-1))
    return out


def _erf_slope(x: Array) -> Array:
    return 2 / sqrt(pi) * np.exp(-np.square(x))


def _gelu(x: Array, attrs: Attrs) -> Array:
    from paddle._engine.kernels.normal import gelus, numpy_gelu  # loads numba

    if attrs["approximate"]:
        return 0.5 * x * (1 + np.tanh(_bent(x)))
    if x.dtype != np.float32:
        return numpy_gelu(x)
    out = np.array(x, order="C")
    gelus(out.reshape(-1))
    return out


def _bent(x: Array) -> Array:
    return sqrt(2 / pi) * (x + 0.044715 * x * x * x)


def _gelu_slope(x: Array, attrs: Attrs) -> Array:
    from paddle._engine.kernels.normal import gelu_slopes, numpy_gelu_slope  # loads numba

    if attrs["approximate"]:
        t = np.tanh(_bent(x))
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x)
    if x.dtype != np.float32:
        return numpy_gelu_slope(x)
    found = np.array(x, order="C")
    gelu_slopes(found.reshape(-1))
    return found


def _swish_slope(x: Array, attrs: Attrs) -> Array:
    share = _sigmoid(attrs["beta"] * x)
    return share + attrs["beta"] * x * share * (1 - share)


def _softplus_within(x: Array, a: Attrs) -> Array:
    """Beyond the threshold, and it below 0, what log(1 + exp(x)) is nearly."""
    far = np.where(x > 0, x, np.exp(np.minimum(x, 0)))
    return np.where(np.abs(x) > a["threshold"], far, _softplus(x))


def _mish(x: Array, a: Attrs) -> Array:
    return x * np.tanh(_softplus_within(x, a))


def _mish_slope(x: Array, a: Attrs) -> Array:
    inner = _softplus_within(x, a)
    bent = np.tanh(inner)
    return bent + x * (1 - bent * bent) * -np.expm1(-inner)


def _hard_sigmoid(x: Array, attrs: Attrs) -> Array:
    return np.clip(attrs["slope"] * x + attrs["offset"], 0, 1)


def _hard_sigmoid_slope(x: Array, attrs: Attrs) -> Array:
    line = attrs["slope"] * x + attrs["offset"]
    return attrs["slope"] * ((line > 0) & (line < 1)).astype(x.dtype)


def _hard_swish(x: Array, a: Attrs) -> Array:
    return x * np.clip(x + a["offset"], 0, a["threshold"]) / a["scale"]


def _hard_swish_slope(x: Array, a: Attrs) -> Array:
    line = x + a["offset"]
    inside = (line > 0) & (line < a["threshold"])
    return (np.clip(line, 0, a["threshold"]) + x * inside) / a["scale"]


def _leaky_relu(x: Array, a: Attrs) -> Array:
    """By the greater of two, which is far quicker than by a choice where the line is below."""
    line = np.asarray(a["alpha"] * x)
    return np.maximum(x, line, out=line) if 0 < a["alpha"] <= 1 else np.where(x > 0, x, line)


def _leaky_slope(x: Array, a: Attrs) -> Array:
    if 0 < a["alpha"] <= 1:
        return np.maximum((x > 0).astype(x.dtype), x.dtype.type(a["alpha"]))
    return np.where(x > 0, x.dtype.type(1), x.dtype.type(a["alpha"]))


def _soft_shrink(x: Array, a: Attrs) -> Array:
    return x - np.clip(x, -a["lambda"], a["lambda"])


def _elu(x: Array, a: Attrs) -> Array:
    return np.maximum(x, 0) + a["alpha"] * np.expm1(np.minimum(x, 0))


def _selu(x: Array, a: Attrs) -> Array:
    return a["scale"] * _elu(x, a)


def _selu_slope(x: Array, a: Attrs) -> Array:
    return a["scale"] * np.where(x > 0, 1, a["alpha"] * np.exp(np.minimum(x, 0)))


def _log_sigmoid(x: Array, attrs: Attrs) -> Array:
    return -_softplus(-x)


_SELU = {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}
_HARD_SWISH = {"threshold": 6.0, "scale": 6.0, "offset": 3.0}

ROWS = (
    _row("pow", lambda x, a: x ** a["factor"], lambda x, a: a["factor"] * x ** (a["factor"] - 1), factor=1.0),
    _row("rsqrt", lambda x, a: 1 / np.sqrt(x), lambda x, a: -0.5 * x**-1.5),
    _row("log1p", _of(np.log1p), lambda x, a: 1 / (1 + x)),
    _row("sin", _of(np.sin), lambda x, a: np.cos(x)),
    _row("cos", _of(np.cos), lambda x, a: -np.sin(x)),
    _row("tan", _of(np.tan), lambda x, a: 1 + np.tan(x) ** 2),
    _row("asin", _of(np.arcsin), lambda x, a: 1 / np.sqrt(1 - x * x)),
    _row("acos", _of(np.arccos), lambda x, a: -1 / np.sqrt(1 - x * x)),
    _row("atan", _of(np.arctan), lambda x, a: 1 / (1 + x * x)),
    _row("sinh", _of(np.sinh), lambda x, a: np.cosh(x)),
    _row("cosh", _of(np.cosh), lambda x, a: np.sinh(x)),
    _row("erf", _of(_erf), lambda x, a: _erf_slope(x)),
    _row("floor", _of(np.floor), _flat),
    _row("ceil", _of(np.ceil), _flat),
    _row("round", lambda x, a: np.sign(x) * np.floor(np.abs(x) + 0.5), _flat),
    _row("sign", _of(np.sign), _flat),
    _row(
        "clip",
        lambda x, a: np.clip(x, a["min"], a["max"]),
        lambda x, a: (x > a["min"]) & (x < a["max"]),
        min=-np.inf,
        max=np.inf,
    ),
    _row(
        "leaky_relu",
        _leaky_relu,
        _leaky_slope,
        alpha=0.02,
    ),
    _row(
        "elu",
        _elu,
        lambda x, a: np.where(x > 0, 1, a["alpha"] * np.exp(np.minimum(x, 0))),
        alpha=1.0,
    ),
    _row("selu", _selu, _selu_slope, **_SELU),
    _row(
        "relu6",
        lambda x, a: np.clip(x, 0, a["threshold"]),
        lambda x, a: (x > 0) & (x < a["threshold"]),
        threshold=6.0,
    ),
    _row("gelu", _gelu, _gelu_slope, approximate=False),
    _row("swish", lambda x, a: x * _sigmoid(a["beta"] * x), _swish_slope, beta=1.0),
    _row("mish", _mish, _mish_slope, threshold=20.0),
    _row("softplus", _of(_softplus), lambda x, a: _sigmoid(x)),
    _row("logsigmoid", _log_sigmoid, lambda x, a: _sigmoid(-x)),
    _row("tanh_shrink", lambda x, a: x - np.tanh(x), lambda x, a: np.tanh(x) ** 2),
    _row("softshrink", _soft_shrink, lambda x, a: np.abs(x) > a["lambda"], **{"lambda": 0.5}),
    _row(
        "hard_shrink",
        lambda x, a: x * (np.abs(x) > a["threshold"]),
        lambda x, a: np.abs(x) > a["threshold"],
        threshold=0.5,
    ),
    _row(
        "thresholded_relu",
        lambda x, a: x * (x > a["threshold"]),
        lambda x, a: x > a["threshold"],
        threshold=1.0,
    ),
    _row("hard_sigmoid", _hard_sigmoid, _hard_sigmoid_slope, slope=0.2, offset=0.5),
    _row("hard_swish", _hard_swish, _hard_swish_slope, **_HARD_SWISH),
)
