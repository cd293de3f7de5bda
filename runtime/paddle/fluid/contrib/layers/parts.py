"""Columns of several variables, and rows of a table added up. They must never compute themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.param_attr import ParamAttr
from paddle.fluid.layers.nn import embedding
from paddle.fluid.layers.sequence_lod import sequence_pool
from paddle.fluid.layers.shaping import slice as sliced
from paddle.fluid.layers.tensor import concat, sums

__all__ = ["fused_embedding_seq_pool", "partial_concat", "partial_sum"]


def partial_concat(input: Variable | Sequence[Variable], start_index: int = 0, length: int = -1) -> Variable:
    """Of each matrix the columns from ``start_index`` on, ``length`` of them or all (-1), side by side."""
    return concat(_columns("partial_concat", input, start_index, length), axis=1)


def partial_sum(input: Variable | Sequence[Variable], start_index: int = 0, length: int = -1) -> Variable:
    """Of each matrix the columns from ``start_index`` on, ``length`` of them or all (-1), added up."""
    return sums(_columns("partial_sum", input, start_index, length))


def _columns(layer: str, input: Any, start: int, length: int) -> list[Variable]:
    several = list(input) if isinstance(input, list | tuple) else [input]
    widths = {int(each.shape[-1]) for each in several}
    if len(widths) != 1 or any(len(each.shape) != 2 for each in several):
        raise BadArgument(
            f"{layer} takes matrices of one width, not {[list(each.shape) for each in several]}"
        )
    (width,) = widths
    first = start + width if start < 0 else start
    last = width if length < 0 else first + length
    if not 0 <= first < last <= width:
        raise BadArgument(f"{layer}: {length} columns from {start} on are not among {width}")
    return [sliced(each, axes=[1], starts=[first], ends=[last]) for each in several]


def fused_embedding_seq_pool(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    padding_idx: int | None = None,
    combiner: str = "sum",
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Variable:
    """Of each sequence of integers the rows of a table that they name, added up."""
    if combiner != "sum":
        raise BadArgument(f"fused_embedding_seq_pool: combiner is 'sum', not {combiner!r}")
    attr = ParamAttr._to_attr(param_attr)
    if attr.name is None:
        attr.name = f"{unique_name.generate('fused_embedding_seq_pool')}.w_0"
    rows = embedding(input, size, is_sparse, padding_idx=padding_idx, param_attr=attr, dtype=dtype)
    return sequence_pool(rows, "sum")
