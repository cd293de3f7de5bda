"""Make the gradient of what several slices were cut out of in one array: each slice made one as large, of
which all but its piece is 0, and they were added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import GRAD, Operator


def gather_pieces(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Of each sum those parts that are gradients of slices, where nobody else wants them, as one."""
    uses, replaced = Uses(operators, setting.keep), Replaced()
    for total in operators:
        if total.type == "sum":
            replaced |= _gathered(total, uses)
    return replaced_in(operators, replaced)


def _gathered(total: Operator, uses: Uses) -> Replaced:
    cuts = {
        name: cut
        for name in total.inputs["X"]
        if (cut := uses.writer(name)) is not None
        and cut.type == "slice_grad"
        and uses.only_reader(name) is total
    }
    if len(cuts) < 2:
        return {}
    others = tuple(name for name in total.inputs["X"] if name not in cuts)
    whole = (next(iter(cuts)),) if others else total.outputs["Out"]
    made = Operator(
        "slices_grad",
        {"Out" + GRAD: tuple(name for cut in cuts.values() for name in cut.inputs["Out" + GRAD])},
        {"X" + GRAD: whole},
        {"pieces": tuple(cut.attrs for cut in cuts.values())},
        "backward",
    )
    rest = (replace(total, inputs={"X": (*whole, *others)}),) if others else ()
    return {id(cut): () for cut in cuts.values()} | {id(total): (made, *rest)}
