"""Activations as layers: ``paddle.nn.ReLU`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from paddle.nn import functional
from paddle.nn.layer.layers import Layer

__all__ = [
    *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU"),
    *("LogSigmoid", "LogSoftmax", "Maxout", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "Sigmoid", "Silu"),
    *("Softmax", "Softmax2D", "Softplus", "Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink"),
    *("ThresholdedReLU",),
]


def _usual(function: str) -> dict[str, Any]:
    """What a function takes where nothing is said."""
    return {name: each.default for name, each in signature(getattr(functional, function)).parameters.items()}


def layer_of(
    name: str, function: str, *arguments: str, module: str = __name__, shows: str | None = None
) -> type[Layer]:
    """A layer that is a function; ``arguments``: those of the function that the layer takes, in order.
    ``shows``: which of these its text has, all if None; ``a=b`` is ``b`` under the name of a."""

    def made(self: Layer, *values: Any, **named: Any) -> None:
        Layer.__init__(self)
        self._named = {**dict(zip(arguments, values, strict=False)), **named}
        self._named.pop("name", None)
        if unknown := sorted(set(self._named) - set(arguments)) or len(values) > len(arguments) + 1:
            raise TypeError(f"paddle.nn.{name} takes {', '.join(arguments) or 'no arguments'}, not {unknown}")

    def forward(self: Layer, *inputs: Any, **by_name: Any) -> Any:
        """Append the function; inputs may be given by name."""
        return getattr(functional, function)(*inputs, **by_name, **self._named)

    told = arguments if shows is None else shows.split()
    pairs = ((label, meant or label) for label, _, meant in (each.partition("=") for each in told))
    shown = ", ".join(f"{label}={{0._shows[{meant}]}}" for label, meant in pairs)
    says = f"``paddle.nn.functional.{function}`` as a layer."
    return type(Layer)(
        name,
        (Layer,),
        {
            **{"__init__": made, "forward": forward, "__doc__": says, "__module__": module},
            **{"_shown": shown, "_shows": property(lambda self: {**_usual(function), **self._named})},
        },
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
    """x above 0, weight * x below; the weight, ``_weight`` as the original calls it, is learned."""

    _shown = "num_parameters={0._count}, data_format={0._data_format}, init={0._init}, dtype=float32"

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        from paddle.nn.initializer import Constant

        self._data_format, self._count, self._init = data_format, num_parameters, init
        self._weight = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.prelu(x, self._weight, self._data_format)
