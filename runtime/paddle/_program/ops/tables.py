"""Rows of tables of which rows are looked up by ids."""

from __future__ import annotations

from paddle._engine.program import Variable as EngineVariable
from paddle._engine.row_initial import RowInitial
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.running.host import Host
from paddle._program.running.open_table import OpenTable, begin

_TOLD = {
    "is_sparse": False,
    "is_distributed": False,
    "padding_idx": -1,
    "remote_prefetch": False,
}


@lowers("lookup_table", **_TOLD)
def _lookup_table(low: Lowering, op: Operator) -> None:
    """The last axis of the ids has size 1; where it has another, all are looked up."""
    ids = low.input(op, "Ids").variable
    column = ids if ids.shape[-1:] == (1,) and len(ids.shape) > 1 else _column(low, ids)
    _look_up(low, op, column)


@lowers("lookup_table_v2", **_TOLD)
def _lookup_table_v2(low: Lowering, op: Operator) -> None:
    ids = low.input(op, "Ids").variable
    if not ids.shape:  # the row of one id has no axis of ids
        row = _found(low, op, low.op("reshape", {"shape": (1,)}, X=ids))
        low.give(op, "Out", low.op("squeeze", {"axes": (0,)}, X=row), ())
        return
    _look_up(low, op, _column(low, ids))


def _column(low: Lowering, ids: EngineVariable) -> EngineVariable:
    if len(ids.shape) == 1:
        return ids
    return low.op("unsqueeze", {"axes": (len(ids.shape),)}, X=ids)


def _look_up(low: Lowering, op: Operator, ids: EngineVariable) -> None:
    low.give(op, "Out", _found(low, op, ids), low.input(op, "Ids").runs)


def _found(low: Lowering, op: Operator, ids: EngineVariable) -> EngineVariable:
    """Rows of the table; of ``padding_idx``, zeros, through which nothing comes back."""
    table, padding = low.input(op, "W").variable, int(op.attr("padding_idx"))
    out = low.op("lookup_table", {"is_sparse": bool(op.attr("is_sparse"))}, W=table, Ids=ids)
    if padding >= 0:
        own = low.op("fill_constant", {"shape": (1,), "value": padding, "dtype": "int64"})
        kept = low.op("cast", {"dtype": "float32"}, X=low.op("not_equal", X=ids, Y=own))
        if len(ids.shape) == 1:
            kept = low.op("unsqueeze", {"axes": (1,)}, X=kept)
        out = low.op("elementwise_mul", X=out, Y=kept)
    return out


def _described(op: Operator) -> None:
    described = op.block._var_recursive(op.output("Out")[0])
    described.shape, described.dtype = op.attr("shape"), op.attr("dtype")


_ROWS = {"kind": "constant", "one": 0.0, "other": 0.0, "seed": 0}


@hosts("fake_init", infer=_described, shape=(1,), dtype=int(VarType.FP32), **_ROWS)
def _fake_init(host: Host, op: Operator) -> None:
    """A table begins, anew where there was one, and has no rows; or what is remembered of its rows."""
    initial = RowInitial(op.attr("kind"), float(op.attr("one")), float(op.attr("other")))
    seed = int(op.attr("seed")) or op.block.program.random_seed
    made = OpenTable(int(op.attr("shape")[-1]), initial, seed)
    begin(host.scope, op.output("Out")[0], made)
