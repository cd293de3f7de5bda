"""Activations as layers: ``paddle.nn.ReLU`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer.layers import Layer

__all__ = [
    *("ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid"),
    *("LogSoftmax", "Maxout", "PReLU", "ReLU", "ReLU6", "SELU", "Sigmoid", "Silu", "Softmax", "Softplus"),
    *("Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink", "ThresholdedReLU"),
]


def _layer(name: str, function: str, *arguments: str) -> type[Layer]:
    """A layer that is a function; ``arguments``: those of the function that the layer takes, in order."""

    def made(self: Layer, *values: Any, **named: Any) -> None:
        Layer.__init__(self)
        self._named = {**dict(zip(arguments, values, strict=False)), **named}
        self._named.pop("name", None)
        if unknown := sorted(set(self._named) - set(arguments)) or len(values) > len(arguments) + 1:
            raise TypeError(f"paddle.nn.{name} takes {', '.join(arguments) or 'no arguments'}, not {unknown}")

    def forward(self: Layer, x: Any) -> Any:
        """Append the function."""
        return getattr(functional, function)(x, **self._named)

    says = f"``paddle.nn.functional.{function}`` as a layer."
    return type(Layer)(
        name,
        (Layer,),
        {"__init__": made, "forward": forward, "__doc__": says, "__module__": __name__},
    )


ELU = _layer("ELU", "elu", "alpha")
GELU = _layer("GELU", "gelu", "approximate")
Hardshrink = _layer("Hardshrink", "hardshrink", "threshold")
Hardsigmoid = _layer("Hardsigmoid", "hardsigmoid")
Hardswish = _layer("Hardswish", "hardswish")
Hardtanh = _layer("Hardtanh", "hardtanh", "min", "max")
LeakyReLU = _layer("LeakyReLU", "leaky_relu", "negative_slope")
LogSigmoid = _layer("LogSigmoid", "log_sigmoid")
LogSoftmax = _layer("LogSoftmax", "log_softmax", "axis")
Maxout = _layer("Maxout", "maxout", "groups", "axis")
ReLU = _layer("ReLU", "relu")
ReLU6 = _layer("ReLU6", "relu6")
SELU = _layer("SELU", "selu", "scale", "alpha")
Sigmoid = _layer("Sigmoid", "sigmoid")
Silu = _layer("Silu", "silu")
Softmax = _layer("Softmax", "softmax", "axis")
Softplus = _layer("Softplus", "softplus", "beta", "threshold")
Softshrink = _layer("Softshrink", "softshrink", "threshold")
Softsign = _layer("Softsign", "softsign")
Swish = _layer("Swish", "swish")
Tanh = _layer("Tanh", "tanh")
Tanhshrink = _layer("Tanhshrink", "tanhshrink")
ThresholdedReLU = _layer("ThresholdedReLU", "thresholded_relu", "threshold")


class PReLU(Layer):
    """x above 0, weight * x below; the weight is learned."""

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        from paddle.nn.initializer import Constant

        self.weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.prelu(x, self.weight)
