"""Fuse a lookup with the pooling of its rows over sequences: rows are summed as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import GRAD, Operator, Slots


def fuse_pooled_lookups(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each lookup whose rows only a pooling by sum reads, with it; and their gradients."""
    uses, replaced = Uses(operators, setting.keep), Replaced()
    for operator in operators:
        if operator.type == "lookup_table" and len(setting.variables[operator.inputs["Ids"][0]].shape) <= 2:
            replaced |= _fused(operator, uses)
    return replaced_in(operators, replaced)


def _fused(lookup: Operator, uses: Uses) -> Replaced:
    (rows,) = lookup.outputs["Out"]
    pool = uses.only_reader(rows)
    if pool is None or pool.type != "sequence_pool" or uses.has_other_gradients(rows):
        return {}
    attrs = {**lookup.attrs, "pooltype": pool.attrs["pooltype"]}
    pointing: Slots = {"Ids": lookup.inputs["Ids"], "Offsets": pool.inputs["Offsets"]}
    made = Operator("lookup_pool", {"W": lookup.inputs["W"], **pointing}, pool.outputs, attrs)
    forward: Replaced = {id(lookup): (), id(pool): (made,)}
    pool_grad = uses.writer(rows + GRAD)
    if pool_grad is None:
        return forward
    lookup_grad = uses.only_reader(rows + GRAD)
    if (
        pool_grad.type != "sequence_pool_grad"
        or lookup_grad is None
        or lookup_grad.type != "lookup_table_grad"
    ):
        return {}
    inputs: Slots = {**pointing, "Out" + GRAD: pool_grad.inputs["Out" + GRAD]}
    backward = Operator("lookup_pool_grad", inputs, lookup_grad.outputs, attrs, "backward")
    return forward | {id(pool_grad): (), id(lookup_grad): (backward,)}
