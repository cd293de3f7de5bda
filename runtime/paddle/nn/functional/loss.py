"""Losses: ``paddle.nn.functional.cross_entropy`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: ``reduction`` is
"mean", "sum" or "none" of what the docstring says of one element.
"""

from __future__ import annotations

from typing import Any

from paddle import _mode
from paddle._program.writing.layer_helper import LayerHelper
from paddle.tensor import math
from paddle.tensor._append import append, append_all, variable_of
from paddle.tensor.stat import mean

__all__ = [
    *("binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "hsigmoid_loss", "kl_div"),
    *("l1_loss", "log_loss", "margin_ranking_loss", "mse_loss", "nll_loss", "smooth_l1_loss"),
    *("softmax_with_cross_entropy", "square_error_cost"),
]


def reduced(loss: Any, reduction: str, name: str | None = None) -> Any:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    if reduction == "none":
        return loss
    return mean(loss, name=name) if reduction == "mean" else math.sum(loss, name=name)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon), of each element."""
    inputs = {"Predicted": input, "Labels": label}
    return append("log_loss", inputs, {"epsilon": epsilon}, outputs=("Loss",), name=name)


def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label) ** 2, of each element."""
    _mode.need_static("square_error_cost")
    helper = LayerHelper("square_error_cost")
    apart, squared = (helper.create_variable_for_type_inference(input.dtype) for _ in range(2))
    helper.append_op("elementwise_sub", {"X": input, "Y": label}, {"Out": [apart]}, {"axis": -1})
    helper.append_op("square", {"X": apart}, {"Out": [squared]})
    return squared


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """(input - label) ** 2."""
    return reduced(math.square(math.subtract(input, label)), reduction, name)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """abs(input - label)."""
    return reduced(math.abs(math.subtract(input, label)), reduction, name)


def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Any:
    """Huber's: d ** 2 / 2 where d = abs(input - label) is up to ``delta``, else delta * (d - delta / 2)."""
    slots = ("Out", "Residual")
    found = append_all("huber_loss", {"X": input, "Y": label}, {"delta": delta}, outputs=slots)
    return reduced(found[0], reduction, name)


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """-log(softmax(logits)[label]), (..., 1); with ``soft_label`` the mean of these by label's shares."""
    attrs = {
        "soft_label": soft_label,
        "ignore_index": ignore_index,
        "numeric_stable_mode": numeric_stable_mode,
        "axis": axis,
    }
    softmax, loss = append_all(
        "softmax_with_cross_entropy",
        {"Logits": logits, "Label": label},
        attrs,
        outputs=("Softmax", "Loss"),
    )
    return (loss, softmax) if return_softmax else loss


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """-log of what ``input`` says of the class ``label``: scores, or chances without ``use_softmax``.

    ``label``: int64, without the axis of classes or with 1 there. ``weight``: one number for each class; the
    mean is by them, and over labels other than ``ignore_index``. ``label_smoothing``: the part of a label
    that all classes share.
    """
    from paddle.tensor.manipulation import squeeze, unsqueeze

    if label_smoothing > 0.0:
        label, soft_label = _smoothed(input, label, axis, label_smoothing), True
    hard = not soft_label
    whole = unsqueeze(label, axis) if hard and len(label.shape) < len(input.shape) else label
    if use_softmax:
        loss = softmax_with_cross_entropy(input, whole, soft_label, ignore_index, axis=axis)
    else:
        attrs = {"soft_label": soft_label, "ignore_index": ignore_index}
        loss = append("cross_entropy", {"X": input, "Label": whole}, attrs, outputs=("Y",))
    if reduction == "none" and hard and len(label.shape) < len(input.shape):
        loss = squeeze(loss, axis)
        whole = squeeze(whole, axis)
    if weight is None and (soft_label or ignore_index < 0):
        return reduced(loss, reduction, name)
    weights = _of_shares(weight, whole, axis) if soft_label else _weights(weight, whole, ignore_index)
    weighed = math.multiply(loss, weights)
    if reduction != "mean":
        return reduced(weighed, reduction, name)
    return math.divide(math.sum(weighed), math.sum(weights), name=name)


def _smoothed(input: Any, label: Any, axis: int, part: float) -> Any:
    """Shares of classes, of which all have an even part; ``label`` may be such shares already."""
    from paddle.nn.functional.basics import label_smooth
    from paddle.nn.functional.input import one_hot
    from paddle.tensor.manipulation import squeeze

    is_thin = len(label.shape) == len(input.shape) and label.shape[axis] == 1 != input.shape[axis]
    if is_thin or len(label.shape) < len(input.shape):
        label = one_hot(squeeze(label, axis) if is_thin else label, input.shape[axis])
    return label_smooth(label, epsilon=part)


def _of_shares(weight: Any, label: Any, axis: int) -> Any:
    """What labels weigh that are shares of classes: the mean of their classes' weights."""
    from paddle.tensor.manipulation import reshape

    along = [1] * len(label.shape)
    along[axis] = -1
    return math.sum(math.multiply(label, reshape(weight, along)), axis, keepdim=True)


def _weights(weight: Any, label: Any, ignore_index: int) -> Any:
    """What each label weighs, in the label's shape."""
    from paddle.tensor.logic import not_equal
    from paddle.tensor.manipulation import cast, gather, reshape

    counts = cast(not_equal(label, ignore_index), "float32")
    if weight is None:
        return counts
    flat = reshape(math.multiply(label, cast(counts, label.dtype)), [-1])
    known = reshape(gather(weight, flat), [-1, *[int(size) for size in label.shape[1:]]])
    return math.multiply(known, counts)


def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-input[label], where ``input`` holds logarithms of chances, (n, classes) or (n, classes, ...).

    ``label``: (n) or (n, ...). With ``reduction`` "none" there is a loss for each label.
    """
    from paddle.nn.functional.input import one_hot
    from paddle.tensor.manipulation import reshape, transpose

    axes, classes = len(input.shape), input.shape[1]
    if axes > 2:
        input = reshape(transpose(input, [0, *range(2, axes), 1]), [-1, classes])
    column = reshape(label, [-1, 1])
    loss = math.neg(math.sum(math.multiply(input, one_hot(reshape(label, [-1]), classes)), 1, keepdim=True))
    weights = None
    if weight is not None or ignore_index >= 0:
        weights = _weights(weight, column, ignore_index)
        loss = math.multiply(loss, weights)
    if reduction == "none":
        return reshape(loss, [-1, *label.shape[1:]] if axes > 2 else [-1], name=name)
    if weights is None or reduction != "mean":
        return reduced(loss, reduction, name)
    return math.divide(math.sum(loss), math.sum(weights), name=name)


def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """-label * log(input) - (1 - label) * log(1 - input), times ``weight``."""
    loss = append("bce_loss", {"X": input, "Label": label})
    return reduced(loss if weight is None else math.multiply(loss, weight), reduction, name)


def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """``binary_cross_entropy`` of sigmoid(logit), computed so that nothing is too large.

    ``pos_weight``: what the part of label 1 is multiplied by.
    """
    attrs = {"ignore_index": -100, "normalize": False}
    loss = append("sigmoid_cross_entropy_with_logits", {"X": logit, "Label": label}, attrs)
    if pos_weight is not None:
        more = math.subtract(pos_weight, variable_of(1.0, pos_weight))
        loss = math.multiply(loss, math.scale(math.multiply(label, more), bias=1.0))
    return reduced(loss if weight is None else math.multiply(loss, weight), reduction, name)


def kl_div(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """label * (log(label) - input), where ``input`` holds logarithms; "batchmean" divides by the batch."""
    attrs = {"reduction": reduction}
    return append("kldiv_loss", {"X": input, "Target": label}, attrs, outputs=("Loss",), name=name)


def margin_ranking_loss(
    input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """max(0, -label * (input - other) + margin)."""
    apart = math.multiply(math.neg(label), math.subtract(input, other))
    return reduced(append("relu", {"X": math.scale(apart, bias=margin)}), reduction, name)


def hsigmoid_loss(
    input: Any,
    label: Any,
    num_classes: int,
    weight: Any,
    bias: Any = None,
    path_table: Any = None,
    path_code: Any = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The cost of a class as a path of yes and no through a tree of all classes, (n, 1)."""
    inputs = {"X": input, "W": weight, "Bias": bias, "Label": label}
    inputs |= {"PathTable": path_table, "PathCode": path_code}
    attrs = {"num_classes": num_classes, "is_sparse": is_sparse, "remote_prefetch": False}
    return append_all("hierarchical_sigmoid", inputs, attrs, outputs=("Out", "PreOut"), name=name)[0]
