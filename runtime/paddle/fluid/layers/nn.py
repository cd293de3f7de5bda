"""Layers of neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.initializer import Constant
from paddle._program.layer_helper import LayerHelper
from paddle._program.variable import Variable
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import appended

__all__ = ["embedding", "fc", "label_smooth", "prelu", "softmax"]


def fc(
    input: Any,
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_mkldnn: bool = False,
    act: Any = None,
    is_test: bool = False,
    name: str | None = None,
) -> Variable:
    """Each input times weights of its own, summed, with a bias and an activation. The first
    ``num_flatten_dims`` axes of an input are its rows."""
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
    trains in a cluster has all of the table."""
    helper = LayerHelper("embedding", param_attr=param_attr)
    rows = [int(each) for each in size]
    table = helper.create_parameter(helper.param_attr, rows, dtype)
    padding = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else rows[0] + padding_idx
    attrs = {
        "is_sparse": is_sparse,
        "is_distributed": is_distributed,
        "remote_prefetch": is_sparse and not is_distributed,
        "padding_idx": padding,
    }
    return appended("lookup_table", {"W": table, "Ids": input}, attrs, dtype=dtype)


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


def prelu(x: Variable, mode: str, param_attr: Any = None, name: str | None = None) -> Variable:
    """x above 0, and below it x times what is learned: for all, each channel or each element."""
    shapes = {
        "all": [1],
        "channel": [1, x.shape[1], 1, 1] if len(x.shape) > 1 else [1],
        "element": [1, *x.shape[1:]],
    }
    if mode not in shapes:
        raise BadArgument(f"prelu: mode is one of {sorted(shapes)}, not {mode!r}")
    helper = LayerHelper("prelu", param_attr=param_attr, name=name)
    quarter = Constant(0.25)
    alpha = helper.create_parameter(helper.param_attr, shapes[mode], "float32", default_initializer=quarter)
    return appended("prelu", {"X": x, "Alpha": alpha}, {"mode": mode}, name=name)


def label_smooth(
    label: Variable,
    prior_dist: Variable | None = None,
    epsilon: float = 0.1,
    dtype: Any = "float32",
    name: str | None = None,
) -> Variable:
    """(1 - epsilon) of the label and epsilon of a distribution, an even one by default."""
    made = appended("label_smooth", {"X": label, "PriorDist": prior_dist}, {"epsilon": epsilon}, name=name)
    made.stop_gradient = True
    return made


__getattr__ = of_layers(__name__)
