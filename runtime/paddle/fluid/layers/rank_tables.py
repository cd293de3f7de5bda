"""Sequences in the order of their lengths: what loops walk along that were written before DynamicRNN."""

from __future__ import annotations

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.sequence_lod import appended

__all__ = [
    "array_to_lod_tensor",
    "lod_rank_table",
    "lod_tensor_to_array",
    "max_sequence_len",
    "reorder_lod_tensor_by_rank",
    "shrink_memory",
]


def lod_rank_table(x: Variable, level: int = 0) -> Variable:
    """The numbers and lengths of the sequences of ``x`` at a level, the longest first."""
    helper = LayerHelper("lod_rank_table", input=x)
    table = helper.create_variable(name=helper.name, type=VarType.LOD_RANK_TABLE)
    helper.append_op("lod_rank_table", {"X": x}, {"Out": table}, {"level": level})
    return table


def max_sequence_len(rank_table: Variable) -> Variable:
    """The length of the longest sequence."""
    helper = LayerHelper("max_sequence_len")
    return appended(helper, "max_sequence_len", {"RankTable": rank_table}, dtype="int64")


def reorder_lod_tensor_by_rank(x: Variable, rank_table: Variable) -> Variable:
    """The sequences of ``x``, or its rows, in the order of the table."""
    helper = LayerHelper("reorder_lod_tensor_by_rank", input=x)
    return appended(helper, "reorder_lod_tensor_by_rank", {"X": x, "RankTable": rank_table})


def lod_tensor_to_array(x: Variable, table: Variable) -> Variable:
    """An array with the rows of each moment, of the sequences that are not over."""
    helper = LayerHelper("lod_tensor_to_array", input=x)
    array = helper.create_variable(name=helper.name, type=VarType.LOD_TENSOR_ARRAY, dtype=x.dtype)
    helper.append_op("lod_tensor_to_array", {"X": x, "RankTable": table}, {"Out": array})
    return array


def array_to_lod_tensor(x: Variable, table: Variable) -> Variable:
    """The sequences whose moments an array has."""
    helper = LayerHelper("array_to_lod_tensor", input=x)
    return appended(helper, "array_to_lod_tensor", {"X": x, "RankTable": table})


def shrink_memory(x: Variable, i: Variable, table: Variable) -> Variable:
    """The rows of ``x`` of the sequences that are not over at the moment ``i``."""
    helper = LayerHelper("shrink_memory", input=x)
    return appended(helper, "shrink_rnn_memory", {"X": x, "I": i, "RankTable": table})
