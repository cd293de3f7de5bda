"""Activations as layers: ``paddle.nn.ReLU`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer.layers import Layer

__all__ = [
    *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU"),
    *("LogSigmoid", "LogSoftmax", "Maxout", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "Sigmoid", "Silu"),
    *("Softmax", "Softmax2D", "Softplus", "Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink"),
    *("ThresholdedReLU",),
]


def layer_of(name: str, function: str, *arguments: str, module: str = __name__) -> type[Layer]:
    """A layer that is a function; ``arguments``: those of the function that the layer takes, in order."""

    def made(self: Layer, *values: Any, **named: Any) -> None:
        Layer.__init__(self)
        self._named = {**dict(zip(arguments, values, strict=False)), **named}
        self._named.pop("name", None)
        if unknown := sorted(set(self._named) - set(arguments)) or len(values) > len(arguments) + 1:
            raise TypeError(f"paddle.nn.{name} takes {', '.join(arguments) or 'no arguments'}, not {unknown}")

    def forward(self: Layer, *inputs: Any) -> Any:
        """Append the function."""
        return getattr(functional, function)(*inputs, **self._named)

    says = f"``paddle.nn.functional.{function}`` as a layer."
    return type(Layer)(
        name,
        (Layer,),
        {"__init__": made, "forward": forward, "__doc__": says, "__module__": module},
    )


CELU = layer_of("CELU", "celu", "alpha")
ELU = layer_of("ELU", "elu", "alpha")
GELU = layer_of("GELU", "gelu", "approximate")
GLU = layer_of("GLU", "glu", "axis")
Hardshrink = layer_of("Hardshrink", "hardshrink", "threshold")
Hardsigmoid = layer_of("Hardsigmoid", "hardsigmoid")
Hardswish = layer_of("Hardswish", "hardswish")
Hardtanh = layer_of("Hardtanh", "hardtanh", "min", "max")
LeakyReLU = layer_of("LeakyReLU", "leaky_relu", "negative_slope")
LogSigmoid = layer_of("LogSigmoid", "log_sigmoid")
LogSoftmax = layer_of("LogSoftmax", "log_softmax", "axis")
Maxout = layer_of("Maxout", "maxout", "groups", "axis")
Mish = layer_of("Mish", "mish")
ReLU = layer_of("ReLU", "relu")
ReLU6 = layer_of("ReLU6", "relu6")
SELU = layer_of("SELU", "selu", "scale", "alpha")
Sigmoid = layer_of("Sigmoid", "sigmoid")
Silu = layer_of("Silu", "silu")
Softmax = layer_of("Softmax", "softmax", "axis")
Softplus = layer_of("Softplus", "softplus", "beta", "threshold")
Softshrink = layer_of("Softshrink", "softshrink", "threshold")
Softsign = layer_of("Softsign", "softsign")
Swish = layer_of("Swish", "swish")
Tanh = layer_of("Tanh", "tanh")
Tanhshrink = layer_of("Tanhshrink", "tanhshrink")
ThresholdedReLU = layer_of("ThresholdedReLU", "thresholded_relu", "threshold")


class Softmax2D(Layer):
    """Softmax over the channels of images (n, channels, height, width), or (channels, height, width)."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.softmax(x, axis=-3)


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
