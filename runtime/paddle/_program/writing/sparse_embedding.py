"""Rows of an open table, as both generations write them.

It must never know a server. Guarantee: all that says that a table is open stands in the program, in the
original's words.
"""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

from paddle._program.description.dtypes import dtype_of, is_float
from paddle._program.description.open_tables import open_tables
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import RowsInitializer, Xavier, global_initializer
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr

_OPEN = {"is_sparse": True, "is_distributed": True, "remote_prefetch": True}
_COUNTS = "show_click_entry:"
_CLASSES = ("CommonSparseTable", "SSDSparseTable", "MemorySparseTable")


def sparse_embedding(
    input: Any,
    size: Any,
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: Any = None,
    param_attr: Any = None,
    dtype: Any = "float32",
    table_class: str = "MemorySparseTable",
    slot: int | None = None,
) -> Variable:
    """Rows of a table in which any int64 is an id. A row is made when it is first asked for, and begins as
    the table's initializer says, by the startup program's ``random_seed`` and the id: wherever it is kept.

    The height in ``size`` limits nothing; an initializer that goes by a table's sizes goes by it. As the
    original's it takes the last size of ids for their own where that is 1: the rows of [n, 1] ids are
    [n, width]. ``entry``: which ids get a row, a ``CountFilterEntry`` or ``ProbabilityEntry`` of
    ``paddle.distributed``; until one has, it reads zeros and learns nothing. A ``ShowClickEntry`` lets all
    in, and a warning says that nothing is counted by it. ``is_test``: the layer's rows learn nothing; a
    program without an optimizer makes none anyway. ``table_class`` and ``slot`` say how the original's
    servers hold a table, and change no number: rows are in memory here.
    """
    _check(table_class, entry, dtype)
    sizes = [int(each) for each in size]
    if len(sizes) != 2 or min(sizes) < 1:
        raise BadArgument(f"size of sparse_embedding is [height, width], and not {size!r}")
    if padding_idx is not None and not -sizes[0] <= padding_idx < sizes[0]:
        raise BadArgument(f"padding_idx is within [-{sizes[0]}, {sizes[0]}), not {padding_idx}")
    helper = LayerHelper("sparse_embedding", param_attr=param_attr)
    attr = copy(ParamAttr._to_attr(param_attr))
    attr._set_default_initializer(global_initializer(False) or Xavier())
    attr.initializer = RowsInitializer(attr.initializer)
    table = helper.create_parameter(attr, sizes, dtype)
    out = helper.create_variable_for_type_inference(table.dtype, stop_gradient=is_test)
    padding = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else sizes[0] + padding_idx
    said = "none" if entry is None else str(entry._to_attr())
    attrs = {**_OPEN, "padding_idx": padding, "is_test": is_test, "entry": said}
    kind = "lookup_table" if input.shape[-1:] == (1,) else "lookup_table_v2"
    helper.append_op(kind, {"Ids": [input], "W": [table]}, {"Out": [out]}, attrs)
    if said.startswith(_COUNTS):
        _warn_of_counts(table.name, said)
    open_tables(helper.main_program)  # what is said of one table has to agree
    return out


def _check(table_class: str, entry: Any, dtype: Any) -> None:
    """Raises of the three what cannot be."""
    if table_class not in _CLASSES:
        raise BadArgument(f"table_class is one of {', '.join(_CLASSES)}, and not {table_class!r}")
    if entry is not None and not hasattr(entry, "_to_attr"):
        raise BadArgument(
            "entry is a CountFilterEntry, ProbabilityEntry or ShowClickEntry of paddle.distributed, not "
            f"{entry!r}"
        )
    if not is_float(dtype_of(dtype)):
        raise BadArgument(
            f"dtype of sparse_embedding is 'float32' or 'float64', for rows learn, not {dtype!r}"
        )


def _warn_of_counts(table: str, entry: str) -> None:
    _, shows, clicks = entry.split(":", 2)
    warnings.warn(
        f"table {table!r}: what {shows!r} and {clicks!r} say is not counted, unless fleet's strategy gives "
        "the table a rule of its own (sparse_table_configs). Each id gets a row, and fleet.shrink(days) "
        "forgets those that nobody has used; by the original's defaults, too, no row is learned, forgotten "
        "or held back by its shows and clicks",
        stacklevel=4,
    )
