"""Layers of neural networks."""

from __future__ import annotations

from math import prod
from typing import Any

from paddle._program.layer_helper import LayerHelper
from paddle._program.variable import Variable


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


def mean(x: Variable, name: str | None = None) -> Variable:
    """The mean of all elements, of shape (1,)."""
    helper = LayerHelper("mean", input=x, name=name)
    out = helper.create_variable_for_type_inference(helper.input_dtype())
    helper.append_op("mean", {"X": [x]}, {"Out": [out]})
    return out


def square_error_cost(input: Variable, label: Variable) -> Variable:
    """The square of the difference, element by element."""
    helper = LayerHelper("square_error_cost", input=input)
    out = helper.create_variable_for_type_inference(helper.input_dtype())
    helper.append_op("square_error_cost", {"X": [input], "Y": [label]}, {"Out": [out]})
    return out
