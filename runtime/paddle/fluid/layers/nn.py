"""Layers of neural networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.sparse_embedding import sparse_embedding
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import appended, sizes_of

__all__ = [
    "bilinear_tensor_product",
    "embedding",
    "fc",
    "get_tensor_from_selected_rows",
    "label_smooth",
    "merge_selected_rows",
    "pixel_shuffle",
    "prelu",
    "rank",
    "shuffle_channel",
    "size",
    "softmax",
]


def fc(
    input: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_mkldnn: bool | str | None = False,
    act: str | Mapping[str, Any] | None = None,
    is_test: bool = False,
    name: str | None = None,
) -> Variable:
    """Each input times weights of its own, summed, with a bias and an activation. The first
    ``num_flatten_dims`` axes of an input are its rows."""
    if isinstance(use_mkldnn, str):  # releases from 1.5 on have the activation in this place, then the name
        act, name = use_mkldnn, act if isinstance(act, str) else name
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    helper = LayerHelper("fc", **arguments)
    dtype = helper.input_dtype()
    products = []
    for each, attr in helper.iter_inputs_and_params():
        weights = helper.create_parameter(attr, [prod(each.shape[num_flatten_dims:]), size], dtype)
        product = helper.create_variable_for_type_inference(dtype)
        attrs = {"x_num_col_dims": num_flatten_dims, "y_num_col_dims": 1}
        helper.append_op("mul", {"X": [each], "Y": [weights]}, {"Out": [product]}, attrs)
        products.append(product)
    total = products[0]
    if len(products) > 1:
        total = helper.create_variable_for_type_inference(dtype)
        helper.append_op("sum", {"X": products}, {"Out": [total]})
    return helper.append_activation(helper.append_bias_op(total, dim_start=num_flatten_dims))


def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Variable:
    """The rows of a table that integers name; ``padding_idx`` names zeros. The last axis of the integers, of
    size 1, becomes a row. ``is_sparse``: gradients list those rows alone; ``is_distributed``: and nobody who
    trains in a cluster has all of the table. One of both that has a single row is one of pslib's, which have
    no height: any int64 is an id (fluid.contrib.layers.sparse_embedding)."""
    rows = [int(each) for each in size]
    if is_sparse and is_distributed and rows[:1] == [1] and padding_idx is None:
        return sparse_embedding(input, rows, param_attr=param_attr, dtype=dtype)
    helper = LayerHelper("embedding", param_attr=param_attr)
    table = helper.create_parameter(helper.param_attr, rows, dtype)
    padding = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else rows[0] + padding_idx
    attrs = {
        "is_sparse": is_sparse,
        "is_distributed": is_distributed,
        "remote_prefetch": is_sparse and not is_distributed,
        "padding_idx": padding,
    }
    out = helper.create_variable_for_type_inference(dtype)
    helper.append_op("lookup_table", {"W": table, "Ids": input}, {"Out": [out]}, attrs)
    return out


def softmax(
    input: Variable,
    use_cudnn: Any = False,
    name: str | None = None,
    axis: int = -1,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """Shares of 1 along an axis, by the exponentials."""
    return appended("softmax", {"X": input}, {"axis": axis}, name=name)


def prelu(
    x: Variable, mode: str, param_attr: Any = None, name: str | None = None, data_format: str = "NCHW"
) -> Variable:
    """x above 0, and below it x times what is learned: for all, each channel or each element."""
    shapes = {
        "all": [1],
        "channel": _alpha_of_channels(x, data_format),
        "element": [1, *x.shape[1:]],
    }
    if mode not in shapes:
        raise BadArgument(f"prelu: mode is one of {sorted(shapes)}, not {mode!r}")
    helper = LayerHelper("prelu", param_attr=param_attr, name=name)
    quarter = Constant(0.25)
    alpha = helper.create_parameter(helper.param_attr, shapes[mode], "float32", default_initializer=quarter)
    made = helper.create_variable_for_type_inference(x.dtype)
    attrs = {"mode": mode, "data_format": data_format}
    helper.append_op("prelu", {"X": x, "Alpha": alpha}, {"Out": made}, attrs)
    return made


def _alpha_of_channels(x: Variable, data_format: str) -> list[int]:
    if data_format[1:2] != "C":
        return [1, 1, 1, x.shape[-1]]
    return [1, x.shape[1], 1, 1] if len(x.shape) > 1 else [1]


def label_smooth(
    label: Variable,
    prior_dist: Variable | None = None,
    epsilon: float = 0.1,
    dtype: Any = "float32",
    name: str | None = None,
) -> Variable:
    """(1 - epsilon) of the label and epsilon of a distribution, an even one by default."""
    if not 0 <= epsilon <= 1:
        raise BadArgument(f"label_smooth: epsilon is a share, from 0 to 1, not {epsilon}")
    made = appended("label_smooth", {"X": label, "PriorDist": prior_dist}, {"epsilon": epsilon}, name=name)
    made.stop_gradient = True
    return made


__getattr__ = of_layers(__name__)


def bilinear_tensor_product(
    x: Variable,
    y: Variable,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Variable:
    """Of each row and each k of ``size``: x W_k y, with a bias and an activation."""
    helper = LayerHelper(
        "bilinear_tensor_product", param_attr=param_attr, bias_attr=bias_attr, act=act, name=name
    )
    weight = helper.create_parameter(helper.param_attr, [size, x.shape[1], y.shape[1]], x.dtype)
    bias = helper.create_parameter(helper.bias_attr, [1, size], x.dtype, is_bias=True)
    inputs = {"X": x, "Y": y, "Weight": weight, "Bias": bias}
    made = helper.create_variable_for_type_inference(x.dtype)
    helper.append_op("bilinear_tensor_product", inputs, {"Out": made})
    return helper.append_activation(made)


def get_tensor_from_selected_rows(x: Variable, name: str | None = None) -> Variable:
    """Rows of a gradient as any other variable."""
    return appended("get_tensor_from_selected_rows", {"X": x}, name=name)


def merge_selected_rows(x: Variable, name: str | None = None) -> Variable:
    """Rows of a gradient, of which each stands there once."""
    return appended("merge_selected_rows", {"X": x}, name=name)


def size(input: Variable) -> Variable:
    """How many elements there are."""
    return appended("size", {"Input": input}, dtype="int64")


def rank(input: Variable) -> Variable:
    """How many axes there are."""
    from paddle.fluid.layers.tensor import assign

    return assign(np.array([len(input.shape)], "int32"))


def _turned(
    x: Variable, parted: list[Any], order: list[int], whole: list[Any], layer: str, name: str | None = None
) -> Variable:
    parts = appended("transpose2", {"X": _reshaped(x, parted)}, {"axis": order})
    return _reshaped(parts, whole, layer, name)


def _reshaped(x: Variable, sizes: list[Any], layer: str = "", name: str | None = None) -> Variable:
    inputs, shape = sizes_of(sizes, whole="Shape", each="ShapeTensor")
    return appended("reshape2", {"X": x, **inputs}, {"shape": shape}, name=name, layer=layer)


def _sides(x: Variable) -> tuple[Any, Any]:
    """How tall and how wide images are: variables of the program where a feed decides."""
    if -1 not in x.shape[2:]:
        return x.shape[2], x.shape[3]
    sizes = appended("shape", {"Input": x}, dtype="int32")
    return sizes[2], sizes[3]


def pixel_shuffle(x: Variable, upscale_factor: int) -> Variable:
    """Images larger by a factor on each side, of channels fewer by its square."""
    times, left = upscale_factor, x.shape[1] // upscale_factor**2
    height, width = _sides(x)
    parted, order = [-1, left, times, times, height, width], [0, 1, 4, 2, 5, 3]
    return _turned(x, parted, order, [-1, left, height * times, width * times], "pixel_shuffle")


def shuffle_channel(x: Variable, group: int, name: str | None = None) -> Variable:
    """The channels of all groups, one of each group after another."""
    channels, (height, width) = x.shape[1], _sides(x)
    parted = [-1, group, channels // group, height, width]
    whole = [-1, channels, height, width]
    return _turned(x, parted, [0, 2, 1, 3, 4], whole, "shuffle_channel", name)
