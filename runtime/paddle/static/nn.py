"""Layers as functions, which make their parameters: ``paddle.static.nn``.

It must never compute: each function appends operators to the default program. Guarantee: what did not change
since fluid is fluid's very function.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from math import prod
from typing import Any

from paddle import _absent, _mode

_OF_FLUID = frozenset(
    """
    batch_norm bilinear_tensor_product case cond conv2d conv2d_transpose conv3d conv3d_transpose crf_decoding
    data_norm group_norm instance_norm layer_norm nce prelu py_func row_conv sequence_concat
    sequence_conv sequence_enumerate sequence_expand sequence_expand_as sequence_first_step
    sequence_last_step sequence_pad sequence_pool sequence_reshape sequence_reverse sequence_scatter
    sequence_slice sequence_softmax sequence_unpad spectral_norm switch_case while_loop
    """.split()  # noqa: SIM905  read in columns
)

__all__ = ["embedding", "fc", "sparse_embedding", *sorted(_OF_FLUID)]


def __getattr__(name: str) -> Any:
    if name not in _OF_FLUID:
        raise AttributeError(f"paddle.static.nn.{name} does not exist", name=name, obj=sys.modules[__name__])
    try:
        return getattr(import_module("paddle.fluid.layers"), name)
    except AttributeError:
        raise _absent.AbsentName(f"paddle.static.nn.{name} is not in this release") from None


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
    from paddle._program.layer_helper import LayerHelper

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
    from paddle._program.layer_helper import LayerHelper

    _mode.need_static("paddle.static.nn.embedding")
    helper = LayerHelper("embedding", param_attr=param_attr)
    return _looked_up(helper, input, list(size), padding_idx, dtype, is_sparse, is_distributed)


def sparse_embedding(
    input: Any,
    size: Any,
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: Any = None,
    param_attr: Any = None,
    dtype: Any = "float32",
    **others: Any,
) -> Any:
    """``embedding`` in a table that the parameter servers keep; the height of ``size`` is of no account
    there. As upstream's it takes the last size of ids for their own where that is 1: the rows of [n, 1]
    ids are [n, width].

    ``entry``: which ids get a row: a ``CountFilterEntry`` or ``ProbabilityEntry`` of ``paddle.distributed``.
    It is noted in the program and told of in a warning: here all rows of ``size`` are there from the start.
    """
    from paddle._program.layer_helper import LayerHelper

    _mode.need_static("paddle.static.nn.sparse_embedding")
    if entry is not None and not hasattr(entry, "_to_attr"):
        raise ValueError(
            f"entry is a CountFilterEntry or a ProbabilityEntry of paddle.distributed, not {entry!r}"
        )
    if entry is not None:
        warnings.warn(
            f"sparse_embedding: entry {entry._to_attr()} has no effect in this release: every id has its row "
            "from the start",
            stacklevel=2,
        )
    helper = LayerHelper("embedding", param_attr=param_attr)
    said = "none" if entry is None else entry._to_attr()
    more = {"remote_prefetch": True, "is_test": is_test, "entry": said}
    return _looked_up(helper, input, list(size), padding_idx, dtype, True, True, **more)


def _looked_up(
    helper: Any,
    ids: Any,
    size: list[int],
    padding_idx: int | None,
    dtype: Any,
    is_sparse: bool,
    is_distributed: bool,
    **more: Any,
) -> Any:
    from paddle.nn.functional.input import padding_of

    table = helper.create_parameter(helper.param_attr, size, dtype)
    out = helper.create_variable_for_type_inference(table.dtype)
    attrs = {
        "is_sparse": is_sparse,
        "is_distributed": is_distributed,
        "remote_prefetch": is_sparse and is_distributed,
        "padding_idx": padding_of(padding_idx, size[0]),
        **more,
    }
    kind = "lookup_table" if "entry" in more and ids.shape[-1:] == (1,) else "lookup_table_v2"
    helper.append_op(kind, {"Ids": [ids], "W": [table]}, {"Out": [out]}, attrs)
    return out
