"""Losses of what is near and what is not, and of chances: ``triplet_margin_loss`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: ``reduction`` is
"mean", "sum" or "none" of what the docstring says of one element, or of one row.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from paddle.nn.functional.activation import log_sigmoid, sigmoid
from paddle.nn.functional.input import one_hot
from paddle.nn.functional.loss import binary_cross_entropy_with_logits, reduced, softmax_with_cross_entropy
from paddle.tensor import math
from paddle.tensor._append import floats_alone
from paddle.tensor.creation import full_like, zeros_like
from paddle.tensor.einsum import einsum
from paddle.tensor.linalg import matmul, norm
from paddle.tensor.logic import equal, greater_than
from paddle.tensor.manipulation import cast, reshape, squeeze, transpose
from paddle.tensor.search import where
from paddle.tensor.stat import mean

__all__ = [
    *("bilinear", "cosine_embedding_loss", "dice_loss", "gaussian_nll_loss", "hinge_embedding_loss"),
    *("multi_label_soft_margin_loss", "multi_margin_loss", "npair_loss", "pairwise_distance"),
    *("poisson_nll_loss", "sigmoid_focal_loss", "soft_margin_loss", "triplet_margin_loss"),
    *("triplet_margin_with_distance_loss",),
]


def _above_zero(x: Any) -> Any:
    return math.maximum(x, zeros_like(x))


def pairwise_distance(
    x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Any:
    """The ``p`` norm of x - y + epsilon along the last axis."""
    apart = math.scale(math.subtract(x, y), 1.0, epsilon)
    return norm(apart, p, -1, keepdim, name)


def cosine_embedding_loss(
    input1: Any, input2: Any, label: Any, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Any:
    """Of each row 1 - cos where the label is 1, max(0, cos - margin) where it is -1."""
    product = math.sum(math.multiply(input1, input2), -1)
    sizes = [math.scale(math.sum(math.square(each), -1), 1.0, 1e-12) for each in (input1, input2)]
    cosine = math.divide(product, math.sqrt(math.multiply(*sizes)))
    far = _above_zero(math.scale(cosine, 1.0, -float(margin)))
    near = math.scale(cosine, -1.0, 1.0)
    none = zeros_like(cosine)
    ones = full_like(label, 1.0)
    loss = where(equal(label, ones), near, where(equal(label, math.scale(ones, -1.0)), far, none))
    return reduced(loss, reduction, name)


def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Of each row max(0, margin + the distance to ``positive`` - that to ``negative``).

    ``swap``: where ``positive`` is nearer to ``negative`` than ``input`` is, its distance counts.
    """

    def distance(x: Any, y: Any) -> Any:
        return pairwise_distance(x, y, p, epsilon)

    return triplet_margin_with_distance_loss(
        input, positive, negative, distance, margin, swap, reduction, name
    )


def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """``triplet_margin_loss`` with a distance of one's own."""
    distance = distance_function or pairwise_distance
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = math.minimum(far, distance(positive, negative))
    return reduced(_above_zero(math.scale(math.subtract(near, far), 1.0, float(margin))), reduction, name)


def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """input where the label is 1, max(0, margin - input) where it is -1."""
    ones, none = full_like(label, 1.0), zeros_like(input)
    far = _above_zero(math.scale(input, -1.0, float(margin)))
    loss = math.add(
        where(equal(label, ones), input, none),
        where(equal(label, math.scale(ones, -1.0)), far, none),
    )
    return reduced(loss, reduction, name)


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """log(1 + exp(-label * input))."""
    inner = math.multiply(cast(label, input.dtype), input)
    return reduced(math.neg(log_sigmoid(inner)), reduction, name)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """Of each row the mean over classes of -label * log(s) - (1 - label) * log(1 - s), s = sigmoid(input)."""
    wrong = math.multiply(math.scale(label, -1.0, 1.0), log_sigmoid(math.neg(input)))
    loss = math.neg(math.add(math.multiply(label, log_sigmoid(input)), wrong))
    loss = loss if weight is None else math.multiply(loss, weight)
    return reduced(mean(loss, -1), reduction, name)


def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Of each row the mean over the other classes of max(0, margin - its score + the class's) ** p."""
    classes = input.shape[-1]
    is_it = one_hot(reshape(label, [-1]), classes)
    its = math.sum(math.multiply(input, is_it), -1, keepdim=True)
    above = math.scale(math.subtract(input, its), 1.0, float(margin))
    if weight is not None:
        its_weight = math.sum(math.multiply(is_it, weight), -1, keepdim=True)
        above = math.multiply(above, its_weight)
    cost = math.multiply(math.pow(_above_zero(above), p), math.scale(is_it, -1.0, 1.0))
    return reduced(mean(cost, -1), reduction, name)


def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """exp(input) - label * input, or input - label * log(input + epsilon) unless ``log_input``; where
    ``full``, and Stirling's log(label!) of labels above 1."""
    if log_input:
        loss = math.subtract(math.exp(input), math.multiply(label, input))
    else:
        loss = math.subtract(input, math.multiply(label, math.log(math.scale(input, 1.0, epsilon))))
    if full:
        ones = full_like(label, 1.0)
        large = math.maximum(label, ones)
        rest = math.scale(math.log(math.scale(large, 2 * pi)), 0.5)
        stirling = math.add(math.subtract(math.multiply(large, math.log(large)), large), rest)
        loss = math.add(loss, where(greater_than(label, ones), stirling, zeros_like(label)))
    return reduced(loss, reduction, name)


def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """(log(variance) + (input - label) ** 2 / variance) / 2, and log(2 pi) / 2 where ``full``. A variance
    counts as ``epsilon`` at least, and its gradient goes on as if it had not been raised."""
    floats_alone("nn.functional.gaussian_nll_loss", input=input, label=label, variance=variance)
    raised = math.subtract(math.maximum(variance, full_like(variance, epsilon)), variance)
    raised.stop_gradient = True
    spread = math.add(variance, raised)
    share = math.divide(math.square(math.subtract(input, label)), spread)
    loss = math.scale(math.add(math.log(spread), share), 0.5, 0.5 * log(2 * pi) if full else 0.0)
    return reduced(loss, reduction, name)


def dice_loss(input: Any, label: Any, epsilon: float = 0.00001, name: str | None = None) -> Any:
    """The mean over rows of 1 - 2 * sum(input * label) / (sum(input) + sum(label) + epsilon); labels are
    classes, (..., 1)."""
    is_it = one_hot(squeeze(label, [-1]), input.shape[-1])
    axes = list(range(1, len(input.shape)))
    both = math.sum(math.multiply(input, is_it), axes)
    either = math.add(math.sum(input, axes), math.sum(is_it, axes))
    score = math.divide(math.scale(both, 2.0), math.scale(either, 1.0, epsilon))
    return mean(math.scale(score, -1.0, 1.0), name=name)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """The cross entropy of the products of all anchors with all positives, whose true classes are those of
    equal labels, and l2_reg / 4 times the mean squares of both."""
    rows = reshape(labels, [-1, 1])
    same = cast(
        equal(math.add(rows, zeros_like(transpose(rows, [1, 0]))), transpose(rows, [1, 0])), "float32"
    )
    shares = math.divide(same, math.sum(same, 1, keepdim=True))
    shares.stop_gradient = True
    squares = [mean(math.sum(math.square(each), 1)) for each in (anchor, positive)]
    penalty = math.scale(math.add(*squares), 0.25 * l2_reg)
    products = matmul(anchor, positive, transpose_y=True)
    costs = softmax_with_cross_entropy(products, shares, soft_label=True)
    found = mean(math.sum(math.multiply(shares, costs), 0))
    return math.add(penalty, found)


def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """The cross entropy of a sigmoid times alpha_t * (1 - p_t) ** gamma, divided by ``normalizer``."""
    cost = binary_cross_entropy_with_logits(logit, label, reduction="none")
    chance, other = sigmoid(logit), math.scale(label, -1.0, 1.0)
    right = math.add(math.multiply(chance, label), math.multiply(math.scale(chance, -1.0, 1.0), other))
    weight = math.add(math.scale(label, alpha), math.scale(other, 1 - alpha))
    cost = math.multiply(math.multiply(weight, cost), math.pow(math.scale(right, -1.0, 1.0), gamma))
    return reduced(cost if normalizer is None else math.divide(cost, normalizer), reduction, name)


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """Of each row and each of the matrices of ``weight`` x1 @ matrix @ x2, + bias."""
    found = einsum("bi,oij,bj->bo", x1, weight, x2)
    return found if bias is None else math.add(found, bias, name)
