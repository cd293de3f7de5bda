"""Look up a column of ids as rows: where ids have an axis of size 1 and what they name is made flat, as 2.x's
embeddings of columns are, the axis is neither made nor taken away; where rows are made flat that are so, as
those of ``sparse_embedding`` are, nothing is. Other passes know the lookup then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import GRAD, Operator


def look_up_rows(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each lookup of a column [n, 1] whose result, [n, 1, width] or [n, width], is read as [n, width] alone
    gives that."""
    uses, replaced = Uses(operators, setting.keep), Replaced()
    for operator in operators:
        if operator.type == "lookup_table":
            replaced |= _as_rows(operator, uses, setting)
    return replaced_in(operators, replaced)


def _as_rows(lookup: Operator, uses: Uses, setting: Setting) -> Replaced:
    (out,), (ids,), (table,) = lookup.outputs["Out"], lookup.inputs["Ids"], lookup.inputs["W"]
    column, flat = _column(ids, uses, setting), uses.only_reader(out)
    width = setting.variables[table].shape[-1]
    if column is None or flat is None or flat.type != "reshape" or tuple(flat.attrs["shape"]) != (-1, width):
        return {}
    made = {"Ids": (column,)}, flat.outputs["Out"]
    replaced: Replaced = {
        id(lookup): (replace(lookup, inputs={**lookup.inputs, **made[0]}, outputs={"Out": made[1]}),),
        id(flat): (),
    }
    readers = [each for each in uses.readers(ids) if each is not lookup]
    flattened, back = uses.writer(out + GRAD), uses.only_reader(out + GRAD)
    if flattened is not None:
        if flattened.type != "reshape_grad" or back is None or back.type != "lookup_table_grad":
            return {}
        given = {**back.inputs, **made[0], "Out" + GRAD: flattened.inputs["Out" + GRAD]}
        replaced |= {id(flattened): (), id(back): (replace(back, inputs=given),)}
        readers = [each for each in readers if each is not back]
    lengthened = uses.writer(ids)
    if column != ids and lengthened is not None and not readers and ids not in setting.keep:
        replaced[id(lengthened)] = ()
    return replaced


def _column(ids: str, uses: Uses, setting: Setting) -> str | None:
    """What to look up in the place of ``ids``, that rows of two axes are found: they themselves, or the
    column to which an axis was added; None where neither is."""
    lengthened, axes = uses.writer(ids), len(setting.variables[ids].shape)
    if axes <= 2:
        return ids
    if axes > 3 or lengthened is None or lengthened.type != "unsqueeze":
        return None
    (column,) = lengthened.inputs["X"]
    return column if setting.variables[column].shape[1:] == (1,) else None
