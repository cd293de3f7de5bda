"""Layers with weights that no gradient moves: centres of classes, and vectors that say how far a weight
stretches."""

from __future__ import annotations

from math import prod
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant, Normal
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr

__all__ = ["center_loss", "spectral_norm"]


def center_loss(
    input: Variable,
    label: Variable,
    num_classes: int,
    alpha: float | Variable,
    param_attr: Any,
    update_center: bool = True,
) -> Variable:
    """Half of the squared distance of each sample from the centre of its class, (n, 1). Each step moves the
    centres, a parameter, towards their samples by ``alpha``, a number or a variable."""
    helper = LayerHelper("center_loss")
    centers = helper.create_parameter(param_attr, [num_classes, input.shape[1]], input.dtype)
    if centers is None:
        raise BadArgument("center_loss: param_attr says what the centres are; it cannot be False")
    centers.stop_gradient = True
    rate = alpha
    if not isinstance(rate, Variable):
        traits = {"shape": [1], "dtype": "float32", "persistable": True, "stop_gradient": True}
        rate = helper.create_variable(name="centerloss_alpha", initializer=Constant(float(rate)), **traits)
    away, loss = (helper.create_variable_for_type_inference(input.dtype) for _ in range(2))
    inputs = {"X": [input], "Label": [label], "Centers": [centers], "CenterUpdateRate": [rate]}
    outputs = {"SampleCenterDiff": [away], "Loss": [loss], "CentersOut": [centers]}
    attrs = {"cluster_num": num_classes, "need_update": update_center}
    helper.append_op("center_loss", inputs, outputs, attrs)
    return loss


def spectral_norm(
    weight: Variable, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Variable:
    """A weight over how far it stretches at most, as a matrix whose rows are along ``dim``; found from two
    vectors, parameters that are drawn once, in ``power_iters`` steps."""
    helper = LayerHelper("spectral_norm", name=name)
    height = weight.shape[dim]
    inputs: dict[str, Any] = {"Weight": weight}
    for slot, size in (("U", height), ("V", prod(weight.shape) // height)):
        spread = Normal(0.0, 1.0)
        made = helper.create_parameter(ParamAttr(), [size], weight.dtype, default_initializer=spread)
        made.stop_gradient = True
        inputs[slot] = made
    out = helper.create_variable(dtype=weight.dtype)
    attrs = {"dim": dim, "power_iters": power_iters, "eps": eps}
    helper.append_op("spectral_norm", inputs, {"Out": [out]}, attrs)
    return out
