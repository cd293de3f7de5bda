"""Rows of branches and loops.

A branch whose operators are all lowered is lowered: both sides are computed, and each value is chosen by the
condition, so gradients go through. A loop goes round on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.block import Block
from paddle._program.host import Host
from paddle._program.lowering import Lowering, Value
from paddle._program.op_rows import hosts, lowers
from paddle._program.operator import Operator


def _nothing(op: Operator) -> None:
    """What it gives has been declared."""


@hosts("while", infer=_nothing, is_test=False)
def _while(host: Host, op: Operator) -> None:
    (condition,) = op.input("Condition")
    while is_true(host.get(condition)):
        host.run_block(op.attr("sub_block"))


@lowers("conditional_block", is_scalar_condition=True)
def _conditional_block(low: Lowering, op: Operator) -> None:
    block: Block = op.attr("sub_block")
    condition = low.inputs(op, "Cond")[0].variable
    written = {name for each in block.ops for name in each.output_arg_names if name not in block.vars}
    before = {name: low.value(name) for name in sorted(written) if _is_known(low, name)}
    low.here(block)
    for name, was in before.items():
        now = low.env[name]
        low.env[name] = Value(_chosen(low, condition, now.variable, was.variable), now.runs)


@hosts("conditional_block", infer=_nothing)
def _conditional_block_here(host: Host, op: Operator) -> None:
    given = [host.get(name) for name in op.input("Cond")]
    scalar = op.attr("is_scalar_condition")
    if is_true(given[0]) if scalar else all(np.asarray(each).size for each in given):
        host.run_block(op.attr("sub_block"))


@lowers("split_lod_tensor", level=0)
def _split(low: Lowering, op: Operator) -> None:
    """Both sides have all rows: of each, those are taken in the end that the mask says."""
    given = low.input(op, "X")
    for slot in ("OutTrue", "OutFalse"):
        low.give(op, slot, given.variable, given.runs)


@lowers("merge_lod_tensor", level=0)
def _merge(low: Lowering, op: Operator) -> None:
    mask = low.input(op, "Mask").variable
    yes, no = low.input(op, "InTrue"), low.input(op, "InFalse")
    extra = len(yes.variable.shape) - len(mask.shape)
    if extra > 0:
        mask = low.op("reshape", {"shape": (-1, *(1,) * (len(yes.variable.shape) - 1))}, X=mask)
    low.give(op, "Out", _chosen(low, mask, yes.variable, no.variable), yes.runs)


@lowers("select_input")
def _select_input(low: Lowering, op: Operator) -> None:
    no, yes = low.inputs(op, "X")
    mask = low.input(op, "Mask").variable
    low.give(op, "Out", _chosen(low, mask, yes.variable, no.variable), yes.runs)


def is_true(value: Any) -> bool:
    """Whether a condition of one element holds."""
    return bool(np.asarray(value).reshape(-1)[0])


def _chosen(
    low: Lowering, condition: EngineVariable, yes: EngineVariable, no: EngineVariable
) -> EngineVariable:
    return low.op("select", Condition=condition, X=yes, Y=no)


def _is_known(low: Lowering, name: str) -> bool:
    if name in low.env:
        return True
    described = low.block._find_var_recursive(name)
    return described is not None and (described.persistable or described.is_data)
