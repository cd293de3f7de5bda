"""Cost layers: one number for each sample, the sum of which training makes smaller.

They must never know how they are computed. Guarantee: an input and its label are of kinds that fit, which is
checked here, where the layer is written; ids that pick a column are checked as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paddle.v2 import evaluator as _evaluator
from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2.attr import ExtraLayerAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = [
    "classification_cost",
    "cross_entropy_cost",
    "cross_entropy_with_selfnorm_cost",
    "huber_classification_cost",
    "huber_cost",
    "huber_regression_cost",
    "lambda_cost",
    "mse_cost",
    "multi_binary_label_cross_entropy_cost",
    "rank_cost",
    "regression_cost",
    "smooth_l1_cost",
    "square_error_cost",
    "sum_cost",
]

Extra = ExtraLayerAttribute | None


def classification_cost(
    input: Layer,
    label: Layer,
    weight: Layer | None = None,
    name: str | None = None,
    evaluator: Callable[..., None] | Sequence[Callable[..., None]] = _evaluator.classification_error,
    layer_attr: Extra = None,
    coeff: float = 1.0,
    top_k: int | None = None,
) -> Layer:
    """-log of the label's probability; ``input`` is a layer with Softmax.

    ``evaluator``: metrics to report with it, the classification error where none is given; of the second
    such cost of a network it is called ``classification_error_evaluator_1``. ``weight``: of each sample.
    ``coeff`` multiplies the gradient, not the cost. ``top_k``: of the evaluators, as 0.10 has it.
    """
    name = name or default_name("cost")
    (source,) = listed(name, input)
    if source.activation is None or source.activation.name != "softmax":
        raise WrongCall(
            f"layer {name!r}: classification_cost needs an input with act=Softmax(), not {source!r}"
        )
    layer = _cost("multi-class-cross-entropy", name, source, label, weight, layer_attr, coeff)
    for each in [evaluator] if callable(evaluator) else evaluator:
        told = {} if top_k is None else {"top_k": top_k}
        each(name=f"{each.__name__}_evaluator", input=input, label=label, weight=weight, **told)
    return layer


def cross_entropy_cost(
    input: Layer,
    label: Layer,
    name: str | None = None,
    coeff: float = 1.0,
    weight: Layer | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """-log of the label's probability."""
    name = name or default_name("cross_entropy")
    return _cost("multi-class-cross-entropy", name, input, label, weight, layer_attr, coeff)


def square_error_cost(
    input: Layer,
    label: Layer,
    weight: Layer | None = None,
    name: str | None = None,
    coeff: float = 1.0,
    layer_attr: Extra = None,
) -> Layer:
    """The sum of the squares of input - label over a sample's columns."""
    name = name or default_name("square_error_cost")
    return _cost("square_error", name, input, label, weight, layer_attr, coeff)


regression_cost = mse_cost = square_error_cost


def multi_binary_label_cross_entropy_cost(
    input: Layer, label: Layer, name: str | None = None, coeff: float = 1.0, layer_attr: Extra = None
) -> Layer:
    """The cross entropies of all columns, summed; ``input`` has act=Sigmoid(), ``label`` is of 0 and 1."""
    name = name or default_name("multi_binary_label_cross_entropy")
    return _cost("multi_binary_label_cross_entropy", name, input, label, None, layer_attr, coeff)


def huber_regression_cost(
    input: Layer,
    label: Layer,
    name: str | None = None,
    delta: float = 1.0,
    coeff: float = 1.0,
    layer_attr: Extra = None,
) -> Layer:
    """Half the square of input - label, and beyond ``delta`` a straight line; summed over the columns."""
    name = name or default_name("huber_regression_cost")
    return _cost("huber_regression", name, input, label, None, layer_attr, coeff, delta=delta)


def smooth_l1_cost(
    input: Layer, label: Layer, name: str | None = None, coeff: float = 1.0, layer_attr: Extra = None
) -> Layer:
    """``huber_regression_cost`` with delta 1."""
    name = name or default_name("smooth_l1_cost")
    return _cost("smooth_l1", name, input, label, None, layer_attr, coeff)


def huber_classification_cost(
    input: Layer, label: Layer, name: str | None = None, coeff: float = 1.0, layer_attr: Extra = None
) -> Layer:
    """Of one column that is above 0 for class 1 and below for class 0: the square of what it lacks to 1.

    Farther than 1 on the wrong side it is a straight line. ``label`` is 0 or 1.
    """
    name = name or default_name("huber_classification_cost")
    (source,) = listed(name, input)
    if source.size != 1 or not gives_ids(label):
        raise WrongCall(f"layer {name!r} takes one column and a label of integer_value(2), not {source!r}")
    draft = Draft("huber_classification", name, size=1, layer_attr=layer_attr)
    draft.read(dense(name, source))
    draft.read(label)
    return draft.done(coeff=coeff)


huber_cost = huber_classification_cost
"""Its name of before there was ``huber_regression_cost``."""


def cross_entropy_with_selfnorm_cost(
    input: Layer,
    label: Layer,
    name: str | None = None,
    coeff: float = 1.0,
    softmax_selfnorm_alpha: float = 0.1,
    layer_attr: Extra = None,
) -> Layer:
    """-log of the label's share of a row's sum z, plus ``softmax_selfnorm_alpha`` times the square of log z.

    So what ``input`` gives, without Softmax but above 0, comes to be probabilities by itself.
    """
    name = name or default_name("cross_entropy_with_selfnorm")
    type = "multi_class_cross_entropy_with_selfnorm"
    alpha = softmax_selfnorm_alpha
    return _cost(type, name, input, label, None, layer_attr, coeff, softmax_selfnorm_alpha=alpha)


def rank_cost(
    left: Layer,
    right: Layer,
    label: Layer,
    weight: Layer | None = None,
    name: str | None = None,
    coeff: float = 1.0,
    layer_attr: Extra = None,
) -> Layer:
    """The cross entropy of sigmoid(left - right) and ``label``: 1 where left belongs before right, or 0, or
    between.
    """
    name = name or default_name("rank_cost")
    draft = Draft("rank-cost", name, size=1, layer_attr=layer_attr)
    for each in (left, right):
        draft.read(dense(name, *listed(name, each)))
    draft.read(label)
    if weight is not None:
        draft.read(dense(name, *listed(name, weight)))
    others = [each for each in (left, right, weight) if each is not None and each.size != 1]
    if others or (label.size != 1 and not gives_ids(label)):
        raise WrongCall(f"layer {name!r} ranks by one column each, not by {others or label!r}")
    return draft.done(coeff=coeff)


def lambda_cost(
    input: Layer,
    score: Layer,
    name: str | None = None,
    NDCG_num: int = 5,
    max_sort_size: int = -1,
    layer_attr: Extra = None,
) -> Layer:
    """The elements of a sequence, by falling ``input``, are to stand in the order of falling ``score``.

    What it reports is how good the first ``NDCG_num`` are: 1 at best, so it rises. ``max_sort_size``: only
    so many of the best elements are told from each other by their places; -1 for all.
    """
    name = name or default_name("lambda_cost")
    if max_sort_size != -1 and max_sort_size < NDCG_num:
        raise WrongCall(f"layer {name!r}: max_sort_size={max_sort_size} is below NDCG_num={NDCG_num}")
    draft = Draft("lambda_cost", name, size=1, layer_attr=layer_attr)
    for each in (input, score):
        (source,) = listed(name, each)
        if source.size != 1:
            raise WrongCall(f"layer {name!r} ranks by one column, not by {source!r}")
        draft.read(dense(name, source))
    return draft.done(NDCG_num=NDCG_num, max_sort_size=max_sort_size)


def sum_cost(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The sum of the input's columns."""
    return _cost("sum_cost", name or default_name("sum_cost"), input, None, None, layer_attr, 1.0)


def _cost(
    type: str,
    name: str,
    input: Layer,
    label: Layer | None,
    weight: Layer | None,
    layer_attr: Extra,
    coeff: float,
    **values: float,
) -> Layer:
    draft = Draft(type, name, size=1, layer_attr=layer_attr)
    (source,) = listed(name, input)
    draft.read(dense(name, source))
    if label is not None:
        _check_label(type, name, source, *listed(name, label))
        draft.read(label)
    if weight is not None:
        if weight.size != 1:
            raise WrongCall(f"layer {name!r}: its weight has size {weight.size}, a sample has one weight")
        draft.read(dense(name, weight))
    return draft.done(coeff=coeff, **values)


def _check_label(type: str, name: str, source: Layer, label: Layer) -> None:
    wants_ids = "class" in type
    if wants_ids != gives_ids(label):
        kind = "integer_value" if wants_ids else "dense_vector"
        raise WrongCall(
            f"layer {name!r}: its label is a data layer of type {kind}({source.size}), not {label!r}"
        )
    if not wants_ids and label.size != source.size:
        raise WrongCall(f"layer {name!r}: its input has size {source.size}, its label {label.size}")
