"""Activations: ``paddle.nn.functional.relu`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: the formula of
each is in its docstring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle.tensor import manipulation, math
from paddle.tensor._append import append
from paddle.tensor.math import log, tanh

__all__ = [
    *("celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu"),
    *("log_sigmoid", "log_softmax", "maxout", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("softmax", "softplus", "softshrink", "softsign", "swish", "tanh", "tanhshrink", "thresholded_relu"),
]


def _unary(name: str, type: str, says: str, **attrs: Any) -> Callable[..., Any]:
    def function(x: Any, name: str | None = None) -> Any:
        return append(type, {"X": x}, attrs, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says}."
    return function


relu = _unary("relu", "relu", "max(x, 0)")
relu6 = _unary("relu6", "relu6", "min(max(x, 0), 6)", threshold=6.0)
sigmoid = _unary("sigmoid", "sigmoid", "1 / (1 + exp(-x))")
log_sigmoid = _unary("log_sigmoid", "logsigmoid", "log(1 / (1 + exp(-x)))")
softsign = _unary("softsign", "softsign", "x / (1 + abs(x))")
tanhshrink = _unary("tanhshrink", "tanh_shrink", "x - tanh(x)")
silu = _unary("silu", "swish", "x * sigmoid(x)", beta=1.0)
swish = _unary("swish", "swish", "x * sigmoid(x)", beta=1.0)


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x above 0, alpha * (exp(x) - 1) below."""
    return append("elu", {"X": x}, {"alpha": alpha}, name=name)


def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x times the chance that a standard normal number is below x."""
    return append("gelu", {"X": x}, {"approximate": approximate}, name=name)


def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """0 between -threshold and threshold, else x."""
    return append("hard_shrink", {"X": x}, {"threshold": threshold}, name=name)


def hardsigmoid(x: Any, slope: float = 1 / 6, offset: float = 0.5, name: str | None = None) -> Any:
    """slope * x + offset, between 0 and 1."""
    return append("hard_sigmoid", {"X": x}, {"slope": slope, "offset": offset}, name=name)


def hardswish(x: Any, name: str | None = None) -> Any:
    """x * min(max(x + 3, 0), 6) / 6."""
    return append("hard_swish", {"X": x}, {"threshold": 6.0, "scale": 6.0, "offset": 3.0}, name=name)


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """x between ``min`` and ``max``."""
    return append("brelu", {"X": x}, {"t_min": min, "t_max": max}, name=name)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x above 0, negative_slope * x below."""
    return append("leaky_relu", {"X": x}, {"alpha": negative_slope}, name=name)


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The largest of each of ``groups`` neighbours along ``axis``."""
    return append("maxout", {"X": x}, {"groups": groups, "axis": axis}, name=name)


def mish(x: Any, name: str | None = None) -> Any:
    """x * tanh(log(1 + exp(x)))."""
    return append("elementwise_mul", {"X": x, "Y": tanh(softplus(x))}, {"axis": -1}, name=name)


def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x above 0, weight * x below; one weight for all, or one for each channel."""
    attrs = {
        "mode": "all" if list(weight.shape) == [1] else "channel",
        "data_format": "NCHW" if data_format[1:2] == "C" else "NHWC",
    }
    return append("prelu", {"X": x, "Alpha": weight}, attrs, name=name)


def selu(
    x: Any,
    scale: float = 1.0507009873554804934193349852946,
    alpha: float = 1.6732632423543772848170429916717,
    name: str | None = None,
) -> Any:
    """scale * x above 0, scale * alpha * (exp(x) - 1) below."""
    return append("selu", {"X": x}, {"scale": scale, "alpha": alpha}, name=name)


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along ``axis``."""
    if dtype is not None:
        from paddle.tensor.manipulation import cast

        x = cast(x, dtype)
    return append("softmax", {"X": x}, {"axis": axis, "use_cudnn": True}, name=name)


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """The logarithm of softmax."""
    return log(softmax(x, axis, dtype), name=name)


def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Any:
    """log(1 + exp(beta * x)) / beta, and x where beta * x is above ``threshold``."""
    return append("softplus", {"X": x}, {"beta": float(beta), "threshold": float(threshold)}, name=name)


def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x nearer to 0 by ``threshold``, and 0 where it is not that far."""
    return append("softshrink", {"X": x}, {"lambda": threshold}, name=name)


def thresholded_relu(x: Any, threshold: float = 1.0, name: str | None = None) -> Any:
    """x above ``threshold``, else 0."""
    return append("thresholded_relu", {"X": x}, {"threshold": threshold}, name=name)


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    if alpha == 0:
        raise ZeroDivisionError("alpha of celu divides x: it is not 0")
    return math.scale(elu(math.scale(x, 1.0 / alpha), 1.0), float(alpha), name=name)


def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half of x along ``axis`` times the sigmoid of the second."""
    first, second = manipulation.split(x, 2, axis)
    return math.multiply(first, sigmoid(second), name)
