"""Activations: functions of one array, element by element, and softmax over the last axis.

Formulas and constants are those of the v2 activations of the same names (stanh: 1.7159 tanh(2x/3); brelu:
0 to 24; soft_relu: its input limited to 40 either way). In a softmax nothing counts as deeper below the
largest than 64, as in v2, 1.8 and 2.6, so that no share is 0 and its logarithm is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.ops import shapes
from paddle._engine.registry import Call, Gradient, Kernel, Row, Steps

_FLOOR = np.float32(-64)  # as in kernels.exponential, which loads numba


def _ufunc(ufunc: np.ufunc) -> Callable[[Call], Steps]:
    """The forward kernel of an activation that numpy has."""

    def bind(call: Call) -> Steps:
        yield partial(ufunc, call["X"], call["Out"])

    return bind


def _sigmoid(call: Call) -> Steps:
    """1 / (1 + exp(-x)), with x held inside its limits; the gradient is not cut off there, as in v2."""
    x, out = call["X"], call["Out"]
    yield partial(np.clip, x, call.attrs["x_min"], call.attrs["x_max"], out)
    yield partial(np.negative, out, out)
    yield partial(np.exp, out, out)
    yield partial(np.add, out, 1, out)
    yield partial(np.reciprocal, out, out)


def _sigmoid_gradient(call: Call) -> Steps:
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    yield partial(np.subtract, 1, out, dx)
    yield partial(np.multiply, dx, out, dx)
    yield partial(np.multiply, dx, grad, dx)


def _tanh_gradient(call: Call) -> Steps:
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    yield partial(np.multiply, out, out, dx)
    yield partial(np.subtract, 1, dx, dx)
    yield partial(np.multiply, dx, grad, dx)


def _stanh(call: Call) -> Steps:
    x, out, attrs = call["X"], call["Out"], call.attrs
    yield partial(np.multiply, x, attrs["scale_a"], out)
    yield partial(np.tanh, out, out)
    yield partial(np.multiply, out, attrs["scale_b"], out)


def _stanh_gradient(call: Call) -> Steps:
    """d/dx b tanh(ax) = a (b - out * out / b)."""
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    a, b = call.attrs["scale_a"], call.attrs["scale_b"]
    yield partial(np.multiply, out, out, dx)
    yield partial(np.multiply, dx, -a / b, dx)
    yield partial(np.add, dx, a * b, dx)
    yield partial(np.multiply, dx, grad, dx)


def _relu(call: Call) -> Steps:
    yield partial(np.maximum, call["X"], 0, out=call["Out"])


def _relu_gradient(call: Call) -> Steps:
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    positive = np.empty(out.shape, np.bool_)
    yield partial(np.greater, out, 0, positive)
    yield partial(np.multiply, grad, positive, dx)


def _brelu(call: Call) -> Steps:
    yield partial(np.clip, call["X"], call.attrs["t_min"], call.attrs["t_max"], call["Out"])


def _brelu_gradient(call: Call) -> Steps:
    yield from _inside(call, call["X"], call.attrs["t_min"], call.attrs["t_max"])


def _inside(call: Call, x: np.ndarray, low: float, high: float) -> Steps:
    """Let the gradient through where ``low < x < high``."""
    inside, below = np.empty(x.shape, np.bool_), np.empty(x.shape, np.bool_)
    yield partial(np.greater, x, low, inside)
    yield partial(np.less, x, high, below)
    yield partial(np.logical_and, inside, below, inside)
    yield partial(np.multiply, call["Out@GRAD"], inside, call["X@GRAD"])


def _soft_relu(call: Call) -> Steps:
    out, limit = call["Out"], call.attrs["threshold"]
    yield partial(np.clip, call["X"], -limit, limit, out)
    yield partial(np.exp, out, out)
    yield partial(np.log1p, out, out)


def _soft_relu_gradient(call: Call) -> Steps:
    """sigmoid(x) = 1 - exp(-out), where x is inside its limits."""
    dx, slope = call["X@GRAD"], np.empty_like(call["Out"])
    yield partial(np.negative, call["Out"], slope)
    yield partial(np.expm1, slope, slope)
    yield from _inside(call, call["X"], -call.attrs["threshold"], call.attrs["threshold"])
    yield partial(np.multiply, dx, slope, dx)
    yield partial(np.negative, dx, dx)


def _softsign(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    yield partial(np.abs, x, out)
    yield partial(np.add, out, 1, out)
    yield partial(np.divide, x, out, out)


def _softsign_gradient(call: Call) -> Steps:
    """1 / (1 + |x|)**2 = (1 - |out|)**2."""
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    yield partial(np.abs, out, dx)
    yield partial(np.subtract, 1, dx, dx)
    yield partial(np.multiply, dx, dx, dx)
    yield partial(np.multiply, dx, grad, dx)


def _exp_gradient(call: Call) -> Steps:
    yield partial(np.multiply, call["Out@GRAD"], call["Out"], call["X@GRAD"])


def _log_gradient(call: Call) -> Steps:
    yield partial(np.divide, call["Out@GRAD"], call["X"], call["X@GRAD"])


def _abs_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.sign, call["X"], dx)
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)


def _square_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.add, call["X"], call["X"], dx)
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)


def _sqrt_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.divide, call["Out@GRAD"], call["Out"], dx)
    yield partial(np.multiply, dx, 0.5, dx)


def _reciprocal_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.multiply, call["Out"], call["Out"], dx)
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)
    yield partial(np.negative, dx, dx)


def _softmax(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    edge = np.empty((*x.shape[:-1], 1), x.dtype)
    yield partial(np.maximum.reduce, x, axis=-1, out=edge, keepdims=True)
    yield partial(np.subtract, x, edge, out)
    yield partial(np.maximum, out, _FLOOR, out)
    yield partial(np.exp, out, out)
    yield partial(np.add.reduce, out, axis=-1, out=edge, keepdims=True)
    yield partial(np.divide, out, edge, out)


def _softmax_gradient(call: Call) -> Steps:
    """out * (grad - sum(out * grad))."""
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    inner = np.empty((*out.shape[:-1], 1), out.dtype)
    yield partial(np.multiply, out, grad, dx)
    yield partial(np.add.reduce, dx, axis=-1, out=inner, keepdims=True)
    yield partial(np.subtract, grad, inner, dx)
    yield partial(np.multiply, dx, out, dx)


def _log_softmax(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    edge, shares = np.empty((*x.shape[:-1], 1), x.dtype), np.empty_like(x)
    yield partial(np.maximum.reduce, x, axis=-1, out=edge, keepdims=True)
    yield partial(np.subtract, x, edge, out)
    yield partial(np.maximum, out, _FLOOR, out)
    yield partial(np.exp, out, shares)
    yield partial(np.add.reduce, shares, axis=-1, out=edge, keepdims=True)
    yield partial(np.log, edge, edge)
    yield partial(np.subtract, out, edge, out)


def _log_softmax_gradient(call: Call) -> Steps:
    """grad - softmax * sum(grad)."""
    out, grad, dx = call["Out"], call["Out@GRAD"], call["X@GRAD"]
    total = np.empty((*out.shape[:-1], 1), out.dtype)
    yield partial(np.add.reduce, grad, axis=-1, out=total, keepdims=True)
    yield partial(np.exp, out, dx)
    yield partial(np.multiply, dx, total, dx)
    yield partial(np.subtract, grad, dx, dx)


def _row(
    type: str,
    forward: Callable[[Call], Steps],
    gradient: Callable[[Call], Steps],
    *needs: str,
    attrs: Mapping[str, Any] | None = None,
) -> Row:
    return Row(
        type=type,
        attrs=attrs or {},
        shape=shapes.like_x,
        forward=Kernel(forward, in_place={"Out": "X"}),
        gradient=Gradient(gradient, needs=needs),
    )


ROWS = (
    _row("sigmoid", _sigmoid, _sigmoid_gradient, "Out", attrs={"x_min": -np.inf, "x_max": np.inf}),
    _row("tanh", _ufunc(np.tanh), _tanh_gradient, "Out"),
    _row("stanh", _stanh, _stanh_gradient, "Out", attrs={"scale_a": 2 / 3, "scale_b": 1.7159}),
    _row("relu", _relu, _relu_gradient, "Out"),
    _row("brelu", _brelu, _brelu_gradient, "X", attrs={"t_min": 0.0, "t_max": 24.0}),
    _row("soft_relu", _soft_relu, _soft_relu_gradient, "X", "Out", attrs={"threshold": 40.0}),
    Row(
        type="softsign",
        shape=shapes.like_x,
        forward=Kernel(_softsign),  # reads X after it has begun to write Out: never in place
        gradient=Gradient(_softsign_gradient, needs=("Out",)),
    ),
    _row("exp", _ufunc(np.exp), _exp_gradient, "Out"),
    _row("log", _ufunc(np.log), _log_gradient, "X"),
    _row("abs", _ufunc(np.abs), _abs_gradient, "X"),
    _row("square", _ufunc(np.square), _square_gradient, "X"),
    _row("sqrt", _ufunc(np.sqrt), _sqrt_gradient, "Out"),
    _row("reciprocal", _ufunc(np.reciprocal), _reciprocal_gradient, "Out"),
    _row("softmax", _softmax, _softmax_gradient, "Out"),
    _row("log_softmax", _log_softmax, _log_softmax_gradient, "Out"),
)
