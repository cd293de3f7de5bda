"""Layers as functions, which make their parameters: ``paddle.static.nn``.

It must never compute: each function appends operators to the default program. Guarantee: what did not change
since fluid is fluid's very function.
"""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

from paddle import _mode
from paddle._homes import FILES
from paddle._public_names import missing
from paddle.tensor.creation import create_parameter

_OF_FLUID = frozenset(
    """
    StaticRNN batch_norm bilinear_tensor_product case cond continuous_value_model conv2d
    conv2d_transpose conv3d conv3d_transpose crf_decoding
    data_norm group_norm layer_norm multi_box_head nce py_func row_conv sequence_concat
    sequence_conv sequence_enumerate sequence_expand sequence_expand_as sequence_first_step
    sequence_last_step sequence_pad sequence_pool sequence_reshape sequence_reverse sequence_scatter
    sequence_slice sequence_softmax sequence_unpad switch_case while_loop
    """.split()  # noqa: SIM905  read in columns
)

__all__ = [
    "create_parameter",
    *("deform_conv2d", "embedding", "fc", "instance_norm", "prelu", "sparse_embedding", "spectral_norm"),
    *sorted(_OF_FLUID),
]


__path__: list[str] = []  # programs import it by the original's files, such as static.nn.sequence_lod


def __getattr__(name: str) -> Any:
    if f"static.nn.{name}" in FILES:
        return import_module(f"{__name__}.{name}")
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
    table_class: str = "MemorySparseTable",
    param_attr: Any = None,
    dtype: Any = "float32",
    slot: int | None = None,
) -> Any:
    """``embedding`` in an open table: any int64 is an id, whose row is made when it is first asked for; see
    ``paddle._program.writing.sparse_embedding``."""
    from paddle._program.writing import sparse_embedding as written

    _mode.need_static("paddle.static.nn.sparse_embedding")
    given = (input, size, padding_idx, is_test, entry, param_attr, dtype, table_class, slot)
    return written.sparse_embedding(*given)


def instance_norm(
    input: Any, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Any:
    """Each channel of each sample; with a scale and a bias where attributes of both are given."""
    from paddle.fluid.layers.normalizing import instance_norm as of_fluid

    attrs = (param_attr, bias_attr) if param_attr and bias_attr else (False, False)
    return of_fluid(input, epsilon, *attrs, name)


def prelu(
    x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """x above 0, and below it x times what is learned: for all, each channel or each element."""
    from paddle.fluid.layers.nn import prelu as of_fluid

    return of_fluid(x, mode, param_attr, name, data_format)


def spectral_norm(
    weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """``weight`` over its largest singular value, as a matrix with ``dim`` first, which ``power_iters`` steps
    in each run come near."""
    from paddle.nn.layer.norm import SpectralNorm

    return SpectralNorm(list(weight.shape), dim, power_iters, eps)(weight)


def deform_conv2d(
    x: Any,
    offset: Any,
    mask: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Any:
    """See ``fluid.layers.deformable_conv``; without ``mask`` all pixels count."""
    from paddle.fluid.layers.detection import deformable_conv

    moved = (stride, padding, dilation, groups, deformable_groups, im2col_step)
    given = (num_filters, filter_size, *moved, weight_attr, bias_attr, mask is not None, name)
    return deformable_conv(x, offset, mask, *given)
