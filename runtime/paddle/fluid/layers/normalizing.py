"""Layers that normalize: channels over a batch, samples, or groups of channels."""

from __future__ import annotations

from math import prod
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, check_known
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr
from paddle.fluid.layers.appending import appended

__all__ = ["affine_channel", "batch_norm", "group_norm", "inplace_abn", "instance_norm", "layer_norm"]


def batch_norm(
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: float | Variable = 0.9,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
    **others: Any,
) -> Variable:
    """Each channel less its mean over the batch, over its deviation, times a scale and plus a bias. A test
    takes the moving mean and variance, which training moves by ``momentum``, a number or a variable."""
    check_known("batch_norm", others, "fuse_with_relu use_mkldnn")
    helper = LayerHelper("batch_norm", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name)
    told = (data_layout, moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var)
    inputs, outputs = _over_a_batch(helper, input, *told)
    out = helper.create_variable_for_type_inference(input.dtype)
    attrs: dict[str, Any] = {"epsilon": epsilon, "is_test": is_test, "data_layout": data_layout}
    attrs["use_global_stats"] = use_global_stats
    if isinstance(momentum, Variable):
        inputs["MomentumTensor"] = momentum
    else:
        attrs["momentum"] = momentum
    helper.append_op("batch_norm", inputs, {"Y": [out], **outputs}, attrs)
    return helper.append_activation(out)


def _over_a_batch(
    helper: LayerHelper,
    input: Variable,
    data_layout: str,
    moving_mean_name: str | None,
    moving_variance_name: str | None,
    is_averaged: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes in, and what comes out beside the result: a mean and a variance that outlive a step."""
    channels = [input.shape[1] if data_layout == "NCHW" else input.shape[-1]]
    weights = _weights(helper, channels, input.dtype)
    kept = {}
    for slot, given, value in (("Mean", moving_mean_name, 0.0), ("Variance", moving_variance_name, 1.0)):
        attr = ParamAttr(given, Constant(value), trainable=False, do_model_average=is_averaged)
        kept[slot] = helper.create_parameter(attr, channels, input.dtype)
        kept[slot].stop_gradient = True
    saved = [helper.create_variable_for_type_inference(input.dtype, stop_gradient=True) for _ in range(2)]
    outputs = {
        "MeanOut": [kept["Mean"]],
        "VarianceOut": [kept["Variance"]],
        "SavedMean": [saved[0]],
        "SavedVariance": [saved[1]],
    }
    return {"X": input, **weights, **kept}, outputs


def inplace_abn(
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: float | Variable = 0.9,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
    act_alpha: float = 1.0,
) -> Variable:
    """A batch norm and an activation (leaky_relu, elu or none) in one operator, under the name of ``input``:
    from there on this is what was made of it."""
    if act not in (None, "identity", "leaky_relu", "elu"):
        raise BadArgument(f"inplace_abn: act is None, 'identity', 'leaky_relu' or 'elu', not {act!r}")
    if bias_attr is False:
        raise BadArgument("inplace_abn: there is a bias: bias_attr is not False")
    if data_layout not in ("NCHW", "NHWC"):
        raise BadArgument(f"inplace_abn: data_layout is 'NCHW' or 'NHWC', not {data_layout!r}")
    helper = LayerHelper("inplace_abn", param_attr=param_attr, bias_attr=bias_attr, name=name)
    told = (data_layout, moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var)
    inputs, outputs = _over_a_batch(helper, input, *told)
    attrs: dict[str, Any] = {"epsilon": epsilon, "is_test": is_test, "data_layout": data_layout}
    attrs |= {"use_global_stats": use_global_stats, "activation": act or "", "alpha": act_alpha}
    if isinstance(momentum, Variable):
        inputs["MomentumTensor"] = momentum
    else:
        attrs["momentum"] = momentum
    helper.append_op("inplace_abn", inputs, {"Y": [input], **outputs}, attrs)
    return input


def _weights(
    helper: LayerHelper, shape: list[int], dtype: Any, scale: bool = True, shift: bool = True
) -> dict[str, Any]:
    """A scale that begins as 1 and a bias that begins as 0, where they are wanted."""
    found = {}
    if scale and helper.param_attr is not False:
        one = Constant(1.0)
        found["Scale"] = helper.create_parameter(helper.param_attr, shape, dtype, default_initializer=one)
    if shift and helper.bias_attr is not False:
        found["Bias"] = helper.create_parameter(helper.bias_attr, shape, dtype, is_bias=True)
    return found


def _each(
    helper: LayerHelper, type: str, input: Variable, weights: dict[str, Any], attrs: dict[str, Any]
) -> Variable:
    slots = ("SavedMean", "SavedVariance") if type == "instance_norm" else ("Mean", "Variance")
    found = {
        slot: helper.create_variable_for_type_inference(input.dtype, stop_gradient=True) for slot in slots
    }
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(type, {"X": input, **weights}, {"Y": out, **found}, attrs)
    return helper.append_activation(out)


def layer_norm(
    input: Variable,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """Each sample, over its axes from ``begin_norm_axis`` on."""
    helper = LayerHelper("layer_norm", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name)
    weights = _weights(helper, [prod(input.shape[begin_norm_axis:])], input.dtype, scale, shift)
    attrs = {"epsilon": epsilon, "begin_norm_axis": begin_norm_axis}
    return _each(helper, "layer_norm", input, weights, attrs)


def group_norm(
    input: Variable,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Each group of channels of each sample. It has a scale or a bias only where an attribute says so."""
    helper = LayerHelper("group_norm", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name)
    channels = input.shape[1 if data_layout == "NCHW" else -1]
    weights = _weights(helper, [channels], input.dtype, bool(param_attr), bool(bias_attr))
    attrs = {"epsilon": epsilon, "groups": groups, "data_layout": data_layout}
    mean, variance, out = (helper.block.create_var(dtype=input.dtype) for _ in range(3))
    mean.stop_gradient = variance.stop_gradient = True
    outputs = {"Y": out, "Mean": mean, "Variance": variance}
    helper.append_op("group_norm", {"X": input, **weights}, outputs, attrs)
    return helper.append_activation(out)


def instance_norm(
    input: Variable,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """Each channel of each sample."""
    helper = LayerHelper("instance_norm", param_attr=param_attr, bias_attr=bias_attr, name=name)
    weights = _weights(helper, [input.shape[1]], input.dtype)
    return _each(helper, "instance_norm", input, weights, {"epsilon": epsilon})


def affine_channel(
    x: Variable,
    scale: Variable | None = None,
    bias: Variable | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
    act: str | None = None,
) -> Variable:
    """Each channel times its number of ``scale``, and its number of ``bias`` added."""
    if scale is None or bias is None:
        raise BadArgument("affine_channel takes scale and bias, a number for each channel")
    inputs = {"X": x, "Scale": scale, "Bias": bias}
    return appended("affine_channel", inputs, {"data_layout": data_layout}, name=name, act=act)
