"""Rows of branches and loops.

A branch is lowered where nobody can tell whether it was taken: its operators are finite wherever what they
read is, their slopes are, too, they give what has the same sizes either way, and they change and show
nothing. Then it is computed in any case, and each value is chosen by the condition. All other branches, and
loops, are taken on the host. Branches that write one name are all of one kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.block import Block, blocks_of
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowered_if, lowers
from paddle._program.lowering.value import Value
from paddle._program.running.host import Host


def _nothing(op: Operator) -> None:
    """What it gives has been declared."""


@hosts("while", infer=_nothing, is_test=False)
def _while(host: Host, op: Operator) -> None:
    (condition,) = op.input("Condition")
    while is_true(host.get(condition)):
        host.run_block(op.attr("sub_block"))


_HARMLESS = frozenset(
    """
    abs assign assign_value cast clip concat conditional_block elementwise_add elementwise_max
    elementwise_min elementwise_mul elementwise_sub equal expand fill_any_like fill_constant
    fill_constant_batch_size_like fill_zeros_like flatten flatten2 greater_equal greater_than increment
    leaky_relu less_equal less_than logical_and logical_not logical_or logical_xor matmul matmul_v2 mean
    minus mul not_equal reduce_max reduce_mean reduce_min reduce_sum relu relu6 reshape reshape2 scale
    select_input shape sigmoid sign slice softmax softplus split square squeeze squeeze2 stack sum tanh
    transpose transpose2 unsqueeze unsqueeze2 unstack
    """.split()  # noqa: SIM905  read in columns
)
"""Operators that may be computed though nobody asked for it."""


@lowered_if("conditional_block")
def _is_harmless(op: Operator) -> bool:
    """Also one that stands in the step of a recurrence, which has no host."""
    if not _has_host(op.block):
        return True
    blocks = [each.attr("sub_block") for each in (op, *_beside(op))]
    if not all(map(_gives_as_declared, blocks)):
        return False
    for block in blocks:
        blocks += [inner for each in block.ops for inner in blocks_of(each)]
    return all(each.type in _HARMLESS for block in blocks for each in block.ops)


def _gives_as_declared(block: Block) -> bool:
    """Whether what it gives the outside is of the sizes and dtypes that are declared there: of branches that
    differ in them nobody can choose number by number."""
    for op in block.ops:
        for name in op.output("Out") if op.type == "assign" else ():
            (source,) = map(block._find_var_recursive, op.input("X"))
            target = None if name in block.vars else block._find_var_recursive(name)
            if source is None or target is None or not (source.has_shape and target.has_shape):
                continue
            if tuple(source.shape) != tuple(target.shape) or source.dtype != target.dtype:
                return False
    return True


def _beside(op: Operator) -> list[Operator]:
    """The other branches that write a name that it writes."""
    names = {*op.output("Out"), *op.input("Out")}  # of a branch, or of its gradient
    found: list[Operator] = []
    left = [each for each in op.block.ops if each.type == "conditional_block"]
    while shared := [each for each in left if not names.isdisjoint(each.output("Out"))]:
        names.update(name for each in shared for name in each.output("Out"))
        left = [each for each in left if names.isdisjoint(each.output("Out"))]
        found += shared
    return found


def _has_host(block: Block) -> bool:
    """Whether all blocks around it are run by the host, or by themselves."""
    while block.parent is not None:
        around = block.parent
        owner = next((each for each in around.ops if any(b is block for b in blocks_of(each))), None)
        if owner is not None and owner.type not in ("while", "conditional_block"):
            return False
        block = around
    return True


@lowers("conditional_block", is_scalar_condition=True)
def _conditional_block(low: Lowering, op: Operator) -> None:
    block: Block = op.attr("sub_block")
    condition = low.inputs(op, "Cond")[0].variable
    written = {name for each in block.ops for name in each.output_arg_names if name not in block.vars}
    before = {name: low.value(name) for name in sorted(written) if _is_known(low, op, name)}
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


def _is_known(low: Lowering, op: Operator, name: str) -> bool:
    """Whether a name stands for something before a branch that writes it."""
    if name in low.env:
        return True
    described = low.block._find_var_recursive(name)
    if described is None or not described.has_shape:
        return False
    return described.persistable or described.is_data or _is_written_before(op, name)


def _is_written_before(op: Operator, name: str) -> bool:
    """Whether an operator before it writes a name, in its block or in those around."""
    for each in op.block.ops:
        if each is op:
            break
        if name in each.output_arg_names:
            return True
    around = op.block.parent
    owners = (each for each in around.ops if any(b is op.block for b in blocks_of(each))) if around else ()
    owner = next(iter(owners), None)
    return owner is not None and _is_written_before(owner, name)
