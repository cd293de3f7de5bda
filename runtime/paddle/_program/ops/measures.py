"""Rows of what is reported of a step: accuracy, and the area under a curve that is counted over steps."""

from __future__ import annotations

from paddle._engine.program import Variable as EngineVariable
from paddle._program.dtypes import VarType
from paddle._program.errors import BadProgram
from paddle._program.lowering import Lowering
from paddle._program.op_rows import lowers
from paddle._program.operator import Operator


@lowers("accuracy")
def _accuracy(low: Lowering, op: Operator) -> None:
    slots = {slot: low.input(op, slot).variable for slot in ("Out", "Indices", "Label")}
    if len(slots["Label"].shape) == 1:
        slots["Label"] = low.op("unsqueeze", {"axes": (1,)}, X=slots["Label"])
    found = low.builder.ops("accuracy", None, **slots)
    low.give(op, "Accuracy", found["Accuracy"], ())
    low.give(op, "Correct", found["Correct"], (), dtype=VarType.INT32)
    low.give(op, "Total", found["Total"], (), dtype=VarType.INT32)


@lowers("auc", curve="ROC", num_thresholds=4095, slide_steps=0)
def _auc(low: Lowering, op: Operator) -> None:
    """Of all samples so far; with ``slide_steps``, of so many last steps, each with a row in the counts."""
    if op.attr("curve") != "ROC":
        raise BadProgram("operator 'auc': only the curve 'ROC' is in this release")
    predict, label = low.input(op, "Predict").variable, low.input(op, "Label").variable
    if len(label.shape) == 1:
        label = low.op("unsqueeze", {"axes": (1,)}, X=label)
    before = {slot: low.input(op, f"Stat{name}").variable for slot, name in _COUNTS.items()}
    steps = int(op.attr("slide_steps"))
    if not steps:
        found = low.builder.ops("auc", None, Predict=predict, Label=label, **before)
        kept = {slot: found[f"{slot}Out"] for slot in _COUNTS}
    else:
        sums = {slot: _later(low, each, steps) for slot, each in before.items()}
        found = low.builder.ops("auc", None, Predict=predict, Label=label, **sums)
        kept = {slot: _moved(low, before[slot], found[f"{slot}Out"], sums[slot], steps) for slot in _COUNTS}
    low.give(op, "AUC", found["AUC"], ())
    for slot, name in _COUNTS.items():
        low.give(op, f"Stat{name}Out", kept[slot], (), dtype=VarType.INT64)


_COUNTS = {"Positive": "Pos", "Negative": "Neg"}


def _later(low: Lowering, counts: EngineVariable, steps: int) -> EngineVariable:
    """The sum of the counts of all steps but the first, which is forgotten now."""
    if steps == 1:
        return low.op(
            "elementwise_mul",
            X=counts,
            Y=low.op("fill_constant", {"shape": (1,), "value": 0, "dtype": "int64"}),
        )
    rest = low.op("slice", {"axes": (0,), "starts": (1,), "ends": (steps,)}, X=counts)
    return low.op("reduce_sum", {"dim": 0, "keep_dim": True}, X=rest)


def _moved(
    low: Lowering, counts: EngineVariable, total: EngineVariable, before: EngineVariable, steps: int
) -> EngineVariable:
    own = low.op("elementwise_sub", X=total, Y=before)
    if steps == 1:
        return own
    rest = low.op("slice", {"axes": (0,), "starts": (1,), "ends": (steps,)}, X=counts)
    return low.op("concat", {"axis": 0}, X=[rest, own])
