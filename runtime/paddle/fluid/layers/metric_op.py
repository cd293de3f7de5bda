"""Measures of a step: accuracy, and the area under the curve of all steps."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import several

__all__ = ["accuracy", "auc", "mean_iou"]


def accuracy(
    input: Variable,
    label: Variable,
    k: int = 1,
    correct: Variable | None = None,
    total: Variable | None = None,
) -> Variable:
    """The share of samples whose label is among the ``k`` greatest of their row."""
    helper, first = LayerHelper("accuracy"), LayerHelper("top_k")
    best = first.create_variable_for_type_inference(input.dtype)
    indices = first.create_variable_for_type_inference("int64")
    helper.append_op("top_k", {"X": [input]}, {"Out": [best], "Indices": [indices]}, {"k": k})
    share = helper.create_variable_for_type_inference("float32")
    correct = helper.create_variable_for_type_inference("int32") if correct is None else correct
    total = helper.create_variable_for_type_inference("int32") if total is None else total
    helper.append_op(
        "accuracy",
        {"Out": [best], "Indices": [indices], "Label": [label]},
        {"Accuracy": [share], "Correct": [correct], "Total": [total]},
    )
    return share


def auc(
    input: Variable,
    label: Variable,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
) -> tuple[Variable, Variable, list[Variable]]:
    """The area under the curve of all samples since the startup program was run, that of the last
    ``slide_steps`` steps, and the four variables in which samples are counted: for these steps, for all;
    positive ones, negative ones."""
    helper, width = LayerHelper("auc"), num_thresholds + 1
    ring = [(slide_steps + 1) * width + 1] if slide_steps else [1, width]
    counts = {
        which: [_count(helper, shape) for _ in ("positive", "negative")]
        for which, shape in {"batch": ring, "all": [1, width]}.items()
    }
    areas = {which: helper.create_variable_for_type_inference("float64") for which in ("all", "batch")}
    for which, steps in (("batch", slide_steps), ("all", 0)):
        positive, negative = counts[which]
        helper.append_op(
            "auc",
            {"Predict": [input], "Label": [label], "StatPos": [positive], "StatNeg": [negative]},
            {"AUC": [areas[which]], "StatPosOut": [positive], "StatNegOut": [negative]},
            {"curve": curve, "num_thresholds": num_thresholds, "slide_steps": steps},
        )
    return areas["all"], areas["batch"], [*counts["batch"], *counts["all"]]


def _count(helper: LayerHelper, shape: list[int]) -> Variable:
    made = helper.create_global_variable(True, dtype="int64", shape=shape)
    return helper.set_variable_initializer(made, Constant(0.0))


def mean_iou(input: Variable, label: Variable, num_classes: int) -> tuple[Variable, Variable, Variable]:
    """The mean over classes of what is right as a share of what is said or is there; and of each class how
    often it was wrong, and how often right. Both are whole numbers, of one shape."""
    outs = {"OutMeanIou": "float32", "OutWrong": "int32", "OutCorrect": "int32"}
    inputs = {"Predictions": input, "Labels": label}
    mean, wrong, correct = several("mean_iou", inputs, outs, {"num_classes": num_classes})
    mean.stop_gradient = wrong.stop_gradient = correct.stop_gradient = True
    return mean, wrong, correct


__getattr__ = of_layers(__name__)
