"""Layers as functions, which make their parameters: ``paddle.static.nn``.

It must never compute: each function appends operators to the default program. Guarantee: what did not change
since fluid is fluid's very function.
"""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

from paddle import _mode
from paddle._public_names import missing
from paddle.tensor.creation import create_parameter

_OF_FLUID = frozenset(
    """
    StaticRNN batch_norm bilinear_tensor_product case cond continuous_value_model conv2d
    conv2d_transpose conv3d conv3d_transpose crf_decoding
    data_norm group_norm instance_norm layer_norm nce prelu py_func row_conv sequence_concat
    sequence_conv sequence_enumerate sequence_expand sequence_expand_as sequence_first_step
    sequence_last_step sequence_pad sequence_pool sequence_reshape sequence_reverse sequence_scatter
    sequence_slice sequence_softmax sequence_unpad switch_case while_loop
    """.split()  # noqa: SIM905  read in columns
)

__all__ = ["create_parameter", "embedding", "fc", "sparse_embedding", "spectral_norm", *sorted(_OF_FLUID)]


def __getattr__(name: str) -> Any:
    if name not in _OF_FLUID:
        raise missing(__name__, name)
    return getattr(import_module("paddle.fluid.layers"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """x @ weight + bias, then ``activation``. Of several ``x`` each has a weight of its own, and they add up.

    ``num_flatten_dims``: so many of x's axes are rows, the others are one.
    """
    from paddle._program.writing.layer_helper import LayerHelper

    _mode.need_static("paddle.static.nn.fc")
    helper = LayerHelper(
        "fc", input=x, param_attr=weight_attr, bias_attr=bias_attr, act=activation, name=name
    )
    products = []
    for each, attr in helper.iter_inputs_and_params():
        axes = num_flatten_dims % len(each.shape) if num_flatten_dims == -1 else num_flatten_dims
        weight = helper.create_parameter(attr, [prod(each.shape[axes:]), size], each.dtype)
        product = helper.create_variable_for_type_inference(each.dtype)
        attrs = {"x_num_col_dims": axes, "y_num_col_dims": 1}
        helper.append_op("mul", {"X": [each], "Y": [weight]}, {"Out": [product]}, attrs)
        products.append(product)
    total = products[0]
    if len(products) > 1:
        total = helper.create_variable_for_type_inference(total.dtype)
        helper.append_op("sum", {"X": products}, {"Out": [total]})
    return helper.append_activation(helper.append_bias_op(total, dim_start=len(total.shape) - 1))


def embedding(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """The rows that ids name, of a table of ``size`` (height, width). ``is_sparse``: gradients list rows."""
    from paddle._program.writing.layer_helper import LayerHelper
    from paddle.nn.functional.input import padding_of

    _mode.need_static("paddle.static.nn.embedding")
    helper = LayerHelper("embedding", param_attr=param_attr)
    table = helper.create_parameter(helper.param_attr, list(size), dtype)
    out = helper.create_variable_for_type_inference(table.dtype)
    attrs = {
        "is_sparse": is_sparse,
        "is_distributed": is_distributed,
        "remote_prefetch": is_sparse and is_distributed,
        "padding_idx": padding_of(padding_idx, size[0]),
    }
    helper.append_op("lookup_table_v2", {"Ids": [input], "W": [table]}, {"Out": [out]}, attrs)
    return out


def sparse_embedding(
    input: Any,
    size: Any,
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: Any = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """``embedding`` in an open table: any int64 is an id, whose row is made when it is first asked for; see
    ``paddle._program.writing.sparse_embedding``."""
    from paddle._program.writing import sparse_embedding as written

    _mode.need_static("paddle.static.nn.sparse_embedding")
    return written.sparse_embedding(input, size, padding_idx, is_test, entry, param_attr, dtype)


def spectral_norm(
    weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """``weight`` over its largest singular value, as a matrix with ``dim`` first, which ``power_iters`` steps
    in each run come near."""
    from paddle.nn.layer.norm import SpectralNorm

    return SpectralNorm(list(weight.shape), dim, power_iters, eps)(weight)
