"""What comes into a program from outside, as fluid 1.6 to 1.8 spell it: every size is told, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended, size_of
from paddle.fluid.layers.io import data as _data
from paddle.fluid.layers.kinds import taking

__all__ = ["data", "embedding", "one_hot"]


@taking
def data(name: str, shape: Sequence[int | None], dtype: Any = "float32", lod_level: int = 0) -> Variable:
    """A variable that every run is fed; None or -1 stands for a size that the feed decides."""
    sizes = [-1 if size is None else size for size in shape]
    made = _data(name, sizes, append_batch_size=False, dtype=dtype, lod_level=lod_level)
    made.need_check_feed = True
    return made


@taking
def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Variable:
    """The rows of a table that integers name, of any shape: each becomes a row behind their axes."""
    helper = LayerHelper("embedding", param_attr=param_attr)
    rows = [int(each) for each in size]
    table = helper.create_parameter(helper.param_attr, rows, dtype)
    padding = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else rows[0] + padding_idx
    attrs = {"is_sparse": is_sparse, "is_distributed": is_distributed, "padding_idx": padding}
    out = helper.create_variable_for_type_inference(dtype)
    helper.append_op("lookup_table_v2", {"W": table, "Ids": input}, {"Out": [out]}, attrs)
    return out


@taking
def one_hot(input: Variable, depth: int | Variable, allow_out_of_range: bool = False) -> Variable:
    """1 in the place that an integer names, along a new last axis."""
    told, size = size_of(depth, "depth_tensor")
    attrs = {"depth": size, "allow_out_of_range": allow_out_of_range}
    return appended("one_hot_v2", {"X": input, **told}, attrs, dtype="float32")
