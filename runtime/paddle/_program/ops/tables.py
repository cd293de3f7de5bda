"""Rows of tables of which rows are looked up by ids."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.program import Variable as EngineVariable
from paddle._engine.row_initial import RowInitial
from paddle._program.description.counted_tables import counts_of
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
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
    found, runs = _found(low, op, ids), low.input(op, "Ids").runs
    if (table := op.input("W")[0]) in low.counted:
        found = _counted(low, op, found, counts_of(op.block.program, table), runs)
    low.give(op, "Out", found, runs)


def _counted(
    low: Lowering,
    op: Operator,
    rows: EngineVariable,
    named: tuple[str, str] | None,
    runs: Sequence[EngineVariable],
) -> EngineVariable:
    """What the program has of rows; back goes what counts of samples they are shown by, and slopes."""
    samples = runs[0] if runs else rows
    if named is None:
        counts = _counts(low, ())
    elif len(runs) > 1 or (not runs and any(size != 1 for size in rows.shape[1:-1])):
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}) looks up several ids of each sample, and its "
            "ShowClickEntry says counts of samples: feed ids as sequences of one level"
        )
    else:
        counts = _counts(low, [low.value(name).variable for name in named])
        if runs:
            flat = low.op("reshape", {"shape": (-1, rows.shape[-1])}, X=rows)
            counts = low.op("sequence_expand", X=counts, Offsets=runs[0], Like=flat)
    return low.op("pushed_rows", {"of_runs": bool(runs)}, X=rows, Counts=counts, Samples=samples)


def _counts(low: Lowering, told: Sequence[EngineVariable]) -> EngineVariable:
    """Shows and clicks as two columns, the same ones for all tables: of each sample, or those of any row."""
    key = tuple(each.name for each in told)
    if key not in low.counts:
        columns = [_column_of(low, each) for each in told] or [
            low.op("fill_constant", {"shape": (1, 1), "value": value, "dtype": "float32"})
            for value in (1.0, 0.0)
        ]
        low.counts[key] = low.op("concat", {"axis": 1}, X=columns)
    return low.counts[key]


def _column_of(low: Lowering, found: EngineVariable) -> EngineVariable:
    """Counts of samples, as float32 (n, 1)."""
    if found.dtype != "float32":
        found = low.op("cast", {"dtype": "float32"}, X=found)
    return low.op("reshape", {"shape": (-1, 1)}, X=found)


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
