"""What dtypes layers take: where the original refuses one, so do these, by the name of the argument.

It must never know what a layer computes. Guarantee: what is refused is told before anything is appended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid.data_feeder import check_dtype

FLOATS = ("float16", "float32", "float64")
_OF_X = """
    abs acos asin atan brelu ceil clip clip_by_norm cos cosh dropout elu erf exp floor gelu hard_shrink
    hard_sigmoid hard_swish leaky_relu log log1p logsigmoid mean mish norm prelu reciprocal relu relu6 round
    rsqrt selu sigmoid silu sin sinh soft_relu softplus softshrink softsign sqrt square stanh swish tan tanh
    tanh_shrink thresholded_relu
    """
_ARGUMENTS: dict[str, dict[str, str]] = {
    **{type: {"X": "x"} for type in _OF_X.split()},
    **{type: {"X": "input"} for type in ("softmax", "lrn", "cross_entropy")},
    **{type: {"X": "x", "Y": "y"} for type in ("matmul", "mul", "smooth_l1_loss")},
    "cos_sim": {"X": "X", "Y": "Y"},
    "huber_loss": {"X": "input", "Y": "label"},
    "label_smooth": {"X": "label"},
    "log_loss": {"Predicted": "input", "Labels": "label"},
    "sigmoid_cross_entropy_with_logits": {"X": "x", "Label": "label"},
}
"""Of each operator that computes with floats alone: the layers' names for what lies in its slots."""


def check_slots(type: str, inputs: Mapping[str, Any]) -> None:
    """Raise where an operator is given integers and computes with floats alone."""
    for slot, argument in _ARGUMENTS.get(type, {}).items():
        check_floats(type, **{argument: inputs.get(slot)})


def check_floats(layer: str, **given: Any) -> None:
    """Raise where one of a layer's arguments is not of floats."""
    check(layer, FLOATS, **given)


def check(layer: str, dtypes: tuple[str, ...], **given: Any) -> None:
    """Raise where one of a layer's arguments, a variable or several, is of none of these dtypes."""
    for name, value in given.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, Variable) and each.dtype is not None:
                check_dtype(each.dtype, name, dtypes, layer, "fluid.layers.cast makes one of another.")
