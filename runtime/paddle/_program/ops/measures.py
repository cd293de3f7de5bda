"""Rows of what is reported of a step: accuracy, and the area under a curve that is counted over steps."""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.running.host import Host


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


def _of_mean_iou(op: Operator) -> None:
    count = int(op.attr("num_classes"))
    for slot, shape, dtype in (
        ("OutMeanIou", (), "float32"),
        ("OutWrong", (count,), "int32"),
        ("OutCorrect", (count,), "int32"),
    ):
        made = op.block._var_recursive(op.output(slot)[0])
        made.shape, made.dtype = shape or (1,), dtype


@hosts("mean_iou", infer=_of_mean_iou, num_classes=2)
def _mean_iou(host: Host, op: Operator) -> None:
    """Of each class that is said or is there: what is right, as a share of what is said or is there; and the
    mean of these."""
    count = int(op.attr("num_classes"))
    said, right = (np.asarray(host.input(op, slot)).reshape(-1) for slot in ("Predictions", "Labels"))
    if said.size and not 0 <= min(said.min(), right.min()) <= max(said.max(), right.max()) < count:
        raise BadProgram(
            f"operator 'mean_iou' (written at {op.where}): classes are 0 to {count - 1}, and "
            f"{min(said.min(), right.min())} to {max(said.max(), right.max())} are given"
        )
    is_right = said == right
    correct = np.bincount(right[is_right], minlength=count)
    wrong = np.bincount(said[~is_right], minlength=count) + np.bincount(right[~is_right], minlength=count)
    there = wrong + correct
    mean = (correct / np.maximum(there, 1)).sum() / max((there > 0).sum(), 1)
    host.give(op, "OutMeanIou", np.array(mean, np.float32).reshape(1))
    host.give(op, "OutWrong", wrong.astype(np.int32))
    host.give(op, "OutCorrect", correct.astype(np.int32))
