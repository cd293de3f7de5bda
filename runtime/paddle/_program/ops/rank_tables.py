"""Rows of rank tables: sequences in the order of their lengths, the longest first, and what is done in it.

Loops that people wrote before DynamicRNN walk along these: the elements of one moment are those of the first
sequences. All of it is computed on the host (array_slopes.py says how gradients go back). It must never know
a loop.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, LoDTensorArray, offsets

Table = list[tuple[int, int]]
"""(number, length) of each sequence, the longest first."""


def _like_x(op: Operator) -> None:
    source, made = (op.block._var_recursive(names[0]) for names in (op.input("X"), op.output("Out")))
    made.shape, made.dtype, made.lod_level = (-1, *source.shape[1:]), source.dtype, source.lod_level


def _rows_of_array(op: Operator) -> None:
    _like_x(op)
    op.block._var_recursive(op.output("Out")[0]).lod_level = 1


def _moments(op: Operator) -> None:
    _like_x(op)
    op.block._var_recursive(op.output("Out")[0]).lod_level = 0


def _table_of(op: Operator) -> None:
    op.block._var_recursive(op.output("Out")[0]).type = VarType.LOD_RANK_TABLE


def _one_number(op: Operator) -> None:
    made = op.block._var_recursive(op.output("Out")[0])
    made.shape, made.dtype = (1,), VarType.INT64


def _flat(op: Operator, value: Any) -> Any:
    """What is walked along a table: rows, or sequences of rows, and not sequences of sequences."""
    if isinstance(value, LoDTensor) and len(value.lod()) > 1:
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}) reads {op.input('X')[0]!r}, which is sequences in "
            f"{len(value.lod())} levels; rank tables are of one in this release: DynamicRNN walks nested ones"
        )
    return value


@hosts("lod_rank_table", infer=_table_of, level=0)
def _lod_rank_table(host: Host, op: Operator) -> None:
    lengths = tensor_of(host, op, "X").recursive_sequence_lengths()
    if not 0 <= op.attr("level") < len(lengths):
        raise BadProgram(f"lod_rank_table has level {op.attr('level')}, and X has {len(lengths)} levels")
    table = sorted(enumerate(lengths[op.attr("level")]), key=lambda each: -each[1])
    host.give(op, "Out", table)


@hosts("max_sequence_len", infer=_one_number)
def _max_sequence_len(host: Host, op: Operator) -> None:
    table: Table = host.input(op, "RankTable")
    host.give(op, "Out", np.array([table[0][1] if table else 0], np.int64))


@hosts("reorder_lod_tensor_by_rank", infer=_like_x)
def _reorder(host: Host, op: Operator) -> None:
    """Sequences, or rows where there are none, in the order of the table."""
    value, table = _flat(op, host.input(op, "X")), host.input(op, "RankTable")
    order, rows = [number for number, _ in table], np.asarray(value)
    if not (isinstance(value, LoDTensor) and value.lod()):
        host.give(op, "Out", rows[order])
        return
    spans = list(pairwise(value.lod()[0]))
    parts = [rows[slice(*spans[number])] for number in order]
    host.give(op, "Out", LoDTensor(np.concatenate(parts), [offsets(map(len, parts))]))


@hosts("lod_tensor_to_array", infer=_moments)
def _lod_tensor_to_array(host: Host, op: Operator) -> None:
    """The rows of each moment, of the sequences that are not over, in the order of the table."""
    x, table = _flat(op, tensor_of(host, op, "X")), host.input(op, "RankTable")
    rows, begins, moments = x.array(), x.lod()[-1], LoDTensorArray()
    for moment in range(table[0][1] if table else 0):
        moments.append(rows[[begins[number] + moment for number, length in table if length > moment]])
    host.give(op, "Out", moments)


@hosts("array_to_lod_tensor", infer=_rows_of_array)
def _array_to_lod_tensor(host: Host, op: Operator) -> None:
    """The sequences whose moments these are, in the order in which they were."""
    moments, table = [np.asarray(each) for each in host.input(op, "X")], host.input(op, "RankTable")
    parts = {
        number: [moments[t][place] for t in range(length)] for place, (number, length) in enumerate(table)
    }
    lengths = [len(parts[number]) for number in sorted(parts)]
    rows = [row for number in sorted(parts) for row in parts[number]]
    shape = (0, *moments[0].shape[1:]) if moments else (0, 1)
    found = np.stack(rows) if rows else np.zeros(shape, np.float32)
    host.give(op, "Out", LoDTensor(found, [offsets(lengths)]))


@hosts("shrink_rnn_memory", infer=_like_x)
def _shrink(host: Host, op: Operator) -> None:
    """The rows, or the sequences, of those that are not over at the moment ``I``."""
    moment = int(np.asarray(host.input(op, "I")).reshape(-1)[0])
    left, value = sum(length > moment for _, length in host.input(op, "RankTable")), host.input(op, "X")
    if isinstance(value, LoDTensor) and value.lod():
        ends = value.lod()[-1][: left + 1]
        host.give(op, "Out", LoDTensor(value.array()[: ends[-1]], [ends]))
        return
    host.give(op, "Out", np.asarray(value)[:left])
