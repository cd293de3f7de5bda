"""Measures within a program: ``paddle.static.accuracy`` and ``auc``.

It must never know a run. Guarantee: what they count over runs lies in variables that outlive these, and that
anybody may set to zeros.
"""

from __future__ import annotations

import warnings
from typing import Any

from paddle import _mode
from paddle._program.description.dtypes import VarType
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle.tensor.search import topk

__all__ = ["accuracy", "auc"]


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the ``k`` largest of ``input``."""
    values, indices = topk(input, k)
    helper = LayerHelper("accuracy")
    share = helper.create_variable_for_type_inference(VarType.FP32)
    share.stop_gradient = True
    counts = [
        helper.create_variable_for_type_inference(VarType.INT32) if given is None else given
        for given in (correct, total)
    ]
    helper.append_op(
        "accuracy",
        inputs={"Out": [values], "Indices": [indices], "Label": [label]},
        outputs={"Accuracy": [share], "Correct": [counts[0]], "Total": [counts[1]]},
    )
    return share


def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> Any:
    """How often a row of label 1 has a higher chance than one of label 0; ``input`` is (n, 2).

    Gives the area over all runs, that over the last ``slide_steps`` runs, and the variables that hold the
    counts of both: [batch_stat_pos, batch_stat_neg, stat_pos, stat_neg]. ``ins_tag_weight`` changes nothing,
    as in the original, and a warning says so.
    """
    _mode.need_static("paddle.static.auc")
    if ins_tag_weight is not None:
        warnings.warn("auc: by ins_tag_weight no sample is weighed, as in the original", stacklevel=2)
    helper = LayerHelper("auc")
    length = num_thresholds + 1
    ring = [(slide_steps + 1) * length + 1] if slide_steps else [1, length]
    whole, last = (
        helper.create_variable_for_type_inference(VarType.FP64, stop_gradient=True) for _ in range(2)
    )
    of_last = _counted(helper, last, input, label, curve, num_thresholds, slide_steps, ring)
    of_all = _counted(helper, whole, input, label, curve, num_thresholds, 0, [1, length])
    return whole, last, [*of_last, *of_all]


def _counted(
    helper: Any, area: Any, input: Any, label: Any, curve: str, thresholds: int, steps: int, shape: list[int]
) -> list[Any]:
    counts = []
    for _ in range(2):
        made = helper.create_global_variable(persistable=True, dtype=VarType.INT64, shape=shape)
        helper.set_variable_initializer(made, Constant(0.0))
        counts.append(made)
    positive, negative = counts
    helper.append_op(
        "auc",
        inputs={
            "Predict": [input],
            "Label": [label],
            "StatPos": [positive],
            "StatNeg": [negative],
        },
        outputs={"AUC": [area], "StatPosOut": [positive], "StatNegOut": [negative]},
        attrs={"curve": curve, "num_thresholds": thresholds, "slide_steps": steps},
    )
    return counts
