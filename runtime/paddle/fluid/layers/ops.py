"""Functions of one array, element by element: a layer for each operator of that name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle._program.description.variable import Variable
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import appended
from paddle.fluid.layers.tensor import assign

_PLAIN = """
    abs acos asin atan ceil cos cosh erf exp floor log log1p logsigmoid reciprocal relu round rsqrt sigmoid
    silu sin sinh softplus softsign sqrt square tan tanh tanh_shrink
    """.split()  # noqa: SIM905  read in columns
__all__ = [
    *_PLAIN,
    "brelu",
    "elu",
    "gelu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "mish",
    "pow",
    "relu6",
    "selu",
    "sign",
    "soft_relu",
    "softshrink",
    "stanh",
    "swish",
    "thresholded_relu",
]


def _plain(type: str) -> Callable[..., Variable]:
    def layer(x: Variable, name: str | None = None) -> Variable:
        return appended(type, {"X": x}, name=name)

    layer.__name__ = layer.__qualname__ = type
    layer.__doc__ = f"``{type}`` of each element."
    return layer


for _type in _PLAIN:
    globals()[_type] = _plain(_type)


def brelu(x: Variable, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None) -> Variable:
    """Each element, held between two bounds."""
    return appended("brelu", {"X": x}, {"t_min": t_min, "t_max": t_max}, name=name)


def elu(x: Variable, alpha: float = 1.0, name: str | None = None) -> Variable:
    """x above 0, alpha * (exp(x) - 1) below."""
    return appended("elu", {"X": x}, {"alpha": alpha}, name=name)


def gelu(x: Variable, approximate: bool = False) -> Variable:
    """x times the share of a normal distribution below x."""
    return appended("gelu", {"X": x}, {"approximate": approximate})


def hard_shrink(x: Variable, threshold: float | None = None) -> Variable:
    """x where it is farther from 0 than the threshold, 0 elsewhere."""
    return appended("hard_shrink", {"X": x}, {"threshold": 0.5 if threshold is None else threshold})


def hard_sigmoid(x: Variable, slope: float = 0.2, offset: float = 0.5, name: str | None = None) -> Variable:
    """slope * x + offset, held between 0 and 1."""
    return appended("hard_sigmoid", {"X": x}, {"slope": slope, "offset": offset}, name=name)


def hard_swish(
    x: Variable, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None
) -> Variable:
    """x * min(max(0, x + offset), threshold) / scale."""
    attrs = {"threshold": threshold, "scale": scale, "offset": offset}
    return appended("hard_swish", {"X": x}, attrs, name=name)


def leaky_relu(x: Variable, alpha: float = 0.02, name: str | None = None) -> Variable:
    """x above 0, alpha * x below."""
    return appended("leaky_relu", {"X": x}, {"alpha": alpha}, name=name)


def mish(x: Variable, threshold: float = 20.0, name: str | None = None) -> Variable:
    """x * tanh(log(1 + exp(x))), where the logarithm of x above the threshold is x, and below it exp(x)."""
    return appended("mish", {"X": x}, {"threshold": threshold}, name=name)


def pow(x: Variable, factor: float | Variable = 1.0, name: str | None = None) -> Variable:
    """x to the power of ``factor``, a number or a Variable of one, through which no gradient goes."""
    if not isinstance(factor, Variable):
        return appended("pow", {"X": x}, {"factor": float(factor)}, name=name)
    factor.stop_gradient = True
    return appended("pow", {"X": x, "FactorTensor": factor}, name=name)


def relu6(x: Variable, threshold: float = 6.0, name: str | None = None) -> Variable:
    """x, held between 0 and the threshold."""
    return appended("relu6", {"X": x}, {"threshold": threshold}, name=name)


def selu(
    x: Variable, scale: float | None = None, alpha: float | None = None, name: str | None = None
) -> Variable:
    """scale * x above 0, scale * alpha * (exp(x) - 1) below."""
    return appended("selu", {"X": x}, {"scale": scale, "alpha": alpha}, name=name)


def sign(x: Variable | np.ndarray) -> Variable:
    """-1, 0 or 1, as each element of a Variable, or an array, is less than 0, 0 or more."""
    if isinstance(x, np.ndarray):
        x = assign(x)
    return appended("sign", {"X": x})


def soft_relu(x: Variable, threshold: float = 40.0, name: str | None = None) -> Variable:
    """log(1 + exp(x)), x held within the threshold."""
    return appended("soft_relu", {"X": x}, {"threshold": threshold}, name=name)


def softshrink(x: Variable, alpha: float | None = None) -> Variable:
    """x less alpha above alpha, plus alpha below -alpha, 0 between."""
    return appended("softshrink", {"X": x}, {"lambda": 0.5 if alpha is None else alpha})


def stanh(x: Variable, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Variable:
    """scale_b * tanh(scale_a * x)."""
    return appended("stanh", {"X": x}, {"scale_a": scale_a, "scale_b": scale_b}, name=name)


def swish(x: Variable, beta: float = 1.0, name: str | None = None) -> Variable:
    """x * sigmoid(beta * x)."""
    return appended("swish", {"X": x}, {"beta": beta}, name=name)


def thresholded_relu(x: Variable, threshold: float | None = None) -> Variable:
    """x above the threshold, 0 below."""
    return appended("thresholded_relu", {"X": x}, {"threshold": 1.0 if threshold is None else threshold})


__getattr__ = of_layers(__name__)
