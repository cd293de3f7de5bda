"""Functions of one array, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as special

from .row import Row

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 4)) * 1.5
U = RNG.uniform(-0.9, 0.9, (3, 4))
ABOVE = RNG.uniform(0.3, 3, (3, 4))
SELU = {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}
SIGMOID = special.expit


def _one(
    type: str, x: np.ndarray, numpy: Any, torch: Any = None, told: Any = (), of: str | None = None
) -> Row:
    """One that PyTorch has under the same name, unless another is told."""
    return Row(type, {"X": x}, numpy, torch or (lambda t, x: getattr(t, type)(x)), told=dict(told), of=of)


def _selu(scale: float, alpha: float) -> Any:
    return lambda x: scale * np.where(x > 0, x, alpha * (np.exp(x) - 1))


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * special.ndtr(x)


def _gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _mish(x: np.ndarray) -> np.ndarray:
    return x * np.tanh(np.log1p(np.exp(x)))


def _beyond(bound: float) -> Any:
    return lambda x: np.where(np.abs(x) > bound, x, 0)


def _shrunk(by: float) -> Any:
    return lambda x: np.sign(x) * np.maximum(np.abs(x) - by, 0)


CASES = [
    _one("abs", A, np.abs),
    _one("acos", U, np.arccos),
    _one("asin", U, np.arcsin),
    _one("atan", A, np.arctan),
    _one("brelu", A * 20, lambda x: np.clip(x, 0, 24), lambda t, x: x.clip(0, 24)),
    _one(
        "brelu", A, lambda x: np.clip(x, -1, 0.5), lambda t, x: x.clip(-1, 0.5), {"t_min": -1.0, "t_max": 0.5}
    ),
    _one("ceil", A, np.ceil),
    _one("cos", A, np.cos),
    _one("cosh", A, np.cosh),
    _one("elu", A, _selu(1, 1), lambda t, x: t.nn.functional.elu(x)),
    _one("elu", A, _selu(1, 0.3), lambda t, x: t.nn.functional.elu(x, 0.3), {"alpha": 0.3}),
    _one("erf", A, special.erf),
    _one("exp", A, np.exp),
    _one("floor", A, np.floor),
    _one("gelu", A, _gelu, lambda t, x: t.nn.functional.gelu(x)),
    _one(
        "gelu",
        A,
        _gelu_by_tanh,
        lambda t, x: t.nn.functional.gelu(x, approximate="tanh"),
        {"approximate": True},
    ),
    _one("hard_shrink", A, _beyond(0.5), lambda t, x: t.nn.functional.hardshrink(x)),
    _one("hard_shrink", A, _beyond(1), lambda t, x: t.nn.functional.hardshrink(x, 1), {"threshold": 1.0}),
    _one(
        "hard_sigmoid", A * 2, lambda x: np.clip(x * 0.2 + 0.5, 0, 1), lambda t, x: (x * 0.2 + 0.5).clip(0, 1)
    ),
    _one(
        "hard_swish",
        A * 3,
        lambda x: x * np.clip(x + 3, 0, 6) / 6,
        lambda t, x: t.nn.functional.hardswish(x),
    ),
    _one(
        "leaky_relu",
        A,
        lambda x: np.where(x > 0, x, 0.1 * x),
        lambda t, x: t.nn.functional.leaky_relu(x, 0.1),
        {"alpha": 0.1},
    ),
    _one("log", ABOVE, np.log),
    _one("log2", ABOVE, np.log2),
    _one("log10", ABOVE, np.log10),
    _one("log1p", ABOVE, np.log1p),
    _one("logsigmoid", A, lambda x: np.log(SIGMOID(x)), lambda t, x: t.nn.functional.logsigmoid(x)),
    _one("mish", A, _mish, lambda t, x: t.nn.functional.mish(x)),
    _one("pow", ABOVE, lambda x: x**-1.7, lambda t, x: x**-1.7, {"factor": -1.7}),
    _one("reciprocal", ABOVE, np.reciprocal),
    _one("relu", A, lambda x: np.maximum(x, 0)),
    _one("relu6", A * 5, lambda x: np.clip(x, 0, 6), lambda t, x: t.nn.functional.relu6(x)),
    _one("round", A, np.round),
    _one("rsqrt", ABOVE, lambda x: x**-0.5),
    _one("scale", A, lambda x: x * -2 + 3, lambda t, x: x * -2 + 3, {"scale": -2.0, "bias": 3.0}),
    _one(
        "scale",
        A,
        lambda x: (x + 3) * -2,
        lambda t, x: (x + 3) * -2,
        {"scale": -2.0, "bias": 3.0, "bias_after_scale": False},
    ),
    _one("selu", A, _selu(**SELU)),
    _one(
        "selu",
        A,
        _selu(1.5, 0.7),
        lambda t, x: 1.5 * t.nn.functional.elu(x, 0.7),
        {"scale": 1.5, "alpha": 0.7},
    ),
    _one("sigmoid", A, SIGMOID),
    _one("sign", A, np.sign),
    _one("silu", A, lambda x: x * SIGMOID(x), lambda t, x: t.nn.functional.silu(x)),
    _one("sin", A, np.sin),
    _one("sinh", A, np.sinh),
    _one(
        "soft_relu",
        A * 20,
        lambda x: np.log1p(np.exp(np.clip(x, -40, 40))),
        lambda t, x: t.log1p(t.exp(x.clip(-40, 40))),
    ),
    _one(
        "soft_relu",
        A,
        lambda x: np.log1p(np.exp(np.clip(x, -1, 1))),
        lambda t, x: t.log1p(t.exp(x.clip(-1, 1))),
        {"threshold": 1.0},
    ),
    _one("softplus", A, lambda x: np.log1p(np.exp(x)), lambda t, x: t.nn.functional.softplus(x)),
    _one(
        "softplus",
        A,
        lambda x: np.where(2 * x > 1.5, x, np.log1p(np.exp(2 * x)) / 2),
        lambda t, x: t.nn.functional.softplus(x, 2, 1.5),
        {"beta": 2.0, "threshold": 1.5},
    ),
    _one("softshrink", A, _shrunk(0.5), lambda t, x: t.nn.functional.softshrink(x)),
    _one("softshrink", A, _shrunk(0.2), lambda t, x: t.nn.functional.softshrink(x, 0.2), {"lambda": 0.2}),
    _one("softsign", A, lambda x: x / (1 + np.abs(x)), lambda t, x: t.nn.functional.softsign(x)),
    _one("sqrt", ABOVE, np.sqrt),
    _one("square", A, np.square),
    _one("stanh", A, lambda x: 1.7159 * np.tanh(0.67 * x), lambda t, x: 1.7159 * t.tanh(0.67 * x)),
    _one(
        "stanh",
        A,
        lambda x: 2 * np.tanh(0.5 * x),
        lambda t, x: 2 * t.tanh(0.5 * x),
        {"scale_a": 0.5, "scale_b": 2.0},
    ),
    _one("swish", A, lambda x: x * SIGMOID(2 * x), lambda t, x: x * t.sigmoid(2 * x), {"beta": 2.0}),
    _one("tan", U, np.tan),
    _one("tanh", A, np.tanh),
    _one("tanh_shrink", A, lambda x: x - np.tanh(x), lambda t, x: t.nn.functional.tanhshrink(x)),
    _one(
        "thresholded_relu",
        A,
        lambda x: np.where(x > 1, x, 0),
        lambda t, x: t.nn.functional.threshold(x, 1, 0),
    ),
    _one(
        "thresholded_relu",
        A,
        lambda x: np.where(x > 0.3, x, 0),
        lambda t, x: t.nn.functional.threshold(x, 0.3, 0),
        {"threshold": 0.3},
    ),
]
