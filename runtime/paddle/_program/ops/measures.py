"""Rows of what is reported of a step: accuracy, and the area under a curve that is counted over steps."""

from __future__ import annotations

from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers


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
    """Of all samples so far; with ``slide_steps``, of so many last steps. They are counted where the counts
    lie: under the names of both slots."""
    if op.attr("curve") != "ROC":
        raise BadProgram("operator 'auc': only the curve 'ROC' is in this release")
    predict, label = low.input(op, "Predict").variable, low.input(op, "Label").variable
    if len(label.shape) == 1:
        label = low.op("unsqueeze", {"axes": (1,)}, X=label)
    for slot in ("StatPos", "StatNeg"):
        if op.output(f"{slot}Out") not in ([], op.input(slot)):
            raise BadProgram(f"operator 'auc': {slot}Out has the variable of {slot}, and no other")
    told = {name: int(op.attr(name)) for name in ("num_thresholds", "slide_steps")}
    counts = {"Positive": low.state(op, "StatPos"), "Negative": low.state(op, "StatNeg")}
    low.give(op, "AUC", low.op("auc", told, Predict=predict, Label=label, **counts), ())
