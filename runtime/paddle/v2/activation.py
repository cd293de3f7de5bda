"""Activations: what a layer does to its sum before it gives it out.

They must never know how they are computed. Guarantee: ``name`` is the ``active_type`` of ModelConfig.
"""

from __future__ import annotations

__all__ = [
    "Abs",
    "BRelu",
    "Base",
    "Exp",
    "Identity",
    "Linear",
    "Log",
    "Reciprocal",
    "Relu",
    "STanh",
    "SequenceSoftmax",
    "Sigmoid",
    "SoftRelu",
    "SoftSign",
    "Softmax",
    "Sqrt",
    "Square",
    "Tanh",
]


class BaseActivation:
    """An activation, by name."""

    name = ""

    def __repr__(self) -> str:
        return self.name


Base = BaseActivation


class Identity(BaseActivation):
    """f(x) = x."""


Linear = Identity


class Tanh(BaseActivation):
    """f(x) = tanh(x)."""

    name = "tanh"


class Sigmoid(BaseActivation):
    """f(x) = 1 / (1 + exp(-x))."""

    name = "sigmoid"


class Softmax(BaseActivation):
    """f(x)_j = exp(x_j) / sum_k exp(x_k), over a sample's columns."""

    name = "softmax"


class Exp(BaseActivation):
    """f(x) = exp(x)."""

    name = "exponential"


class Relu(BaseActivation):
    """f(x) = max(0, x)."""

    name = "relu"


class BRelu(BaseActivation):
    """f(x) = min(24, max(0, x))."""

    name = "brelu"


class SoftRelu(BaseActivation):
    """f(x) = log(1 + exp(x)), with x held between -40 and 40."""

    name = "softrelu"


class STanh(BaseActivation):
    """f(x) = 1.7159 tanh(2x / 3)."""

    name = "stanh"


class Abs(BaseActivation):
    """f(x) = |x|."""

    name = "abs"


class Square(BaseActivation):
    """f(x) = x^2."""

    name = "square"


class Log(BaseActivation):
    """f(x) = log(x)."""

    name = "log"


class Sqrt(BaseActivation):
    """f(x) = sqrt(x)."""

    name = "sqrt"


class Reciprocal(BaseActivation):
    """f(x) = 1 / x."""

    name = "reciprocal"


class SoftSign(BaseActivation):
    """f(x) = x / (1 + |x|)."""

    name = "softsign"


class SequenceSoftmax(BaseActivation):
    """exp(x) over the sum of exp of all elements of the sequence; of a layer of size 1."""

    name = "sequence_softmax"
