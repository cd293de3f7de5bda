"""What it costs that moments say a label in some alignment: ``ctc_loss`` and ``rnnt_loss``.

It must never compute: the function appends operators to the default program. Guarantee: moments and tags
beyond the lengths that are told count for nothing.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor import math
from paddle.tensor._append import append_all
from paddle.tensor.manipulation import cast, squeeze
from paddle.tensor.stat import mean

__all__ = ["ctc_loss", "rnnt_loss"]


def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
) -> Any:
    """Of ``log_probs`` (moments, n, tags), unscaled, and ``labels`` (n, longest): one for each sample
    ("none"), their "sum", or the "mean" of each over the length of its label. ``norm_by_times``: gradients
    are divided by the number of moments."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"reduction of ctc_loss is 'none', 'sum' or 'mean', not {reduction!r}")
    inputs = {
        "Logits": log_probs,
        "Label": labels,
        "LogitsLength": input_lengths,
        "LabelLength": label_lengths,
    }
    told = {"blank": blank, "norm_by_times": norm_by_times}
    cost = append_all("warpctc", inputs, told, outputs=("Loss", "WarpCTCGrad"), dtype=log_probs.dtype)[0]
    each = squeeze(cost, -1)
    if reduction == "none":
        return each
    if reduction == "sum":
        return math.sum(each)
    return mean(math.divide(each, cast(label_lengths, each.dtype)))


def rnnt_loss(
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Of ``input`` (n, moments, tags + 1, classes), logarithms of probabilities, and ``label`` (n, longest):
    one for each sample ("none"), their "sum" or their "mean". Gradients of what says a tag are greater by the
    share ``fastemit_lambda``."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"reduction of rnnt_loss is 'none', 'sum' or 'mean', not {reduction!r}")
    inputs = {
        "input": input,
        "label": label,
        "input_lengths": input_lengths,
        "label_lengths": label_lengths,
    }
    told = {"blank": blank, "fastemit_lambda": float(fastemit_lambda)}
    each = append_all("warprnnt", inputs, told, outputs=("warprnntgrad", "loss"), dtype=input.dtype)[1]
    if reduction == "none":
        return each
    return math.sum(each, name=name) if reduction == "sum" else mean(each, name=name)
