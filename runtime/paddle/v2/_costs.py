"""Cost layers: one number for each sample, the sum of which training makes smaller.

They must never know how they are computed. Guarantee: an input and its label fit each other, which is checked
here, where the layer is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paddle.v2 import evaluator as _evaluator
from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2.attr import ExtraLayerAttribute
from paddle.v2.config_base import Layer, default_name

Extra = ExtraLayerAttribute | None


def classification_cost(
    input: Layer,
    label: Layer,
    weight: Layer | None = None,
    name: str | None = None,
    evaluator: Callable[..., None] | Sequence[Callable[..., None]] = _evaluator.classification_error,
    layer_attr: Extra = None,
    coeff: float = 1.0,
) -> Layer:
    """-log of the label's probability; ``input`` is a layer with Softmax.

    ``evaluator``: metrics to report with it, the classification error where none is given; of the second
    such cost of a network it is called ``classification_error_evaluator_1``. ``weight``: of each sample.
    ``coeff`` multiplies the gradient, not the cost.
    """
    name = name or default_name("cost")
    (source,) = listed(name, input)
    if source.activation is None or source.activation.name != "softmax":
        raise ValueError(
            f"layer {name!r}: classification_cost needs an input with act=Softmax(), not {source!r}"
        )
    layer = _cost("multi-class-cross-entropy", name, source, label, weight, layer_attr, coeff)
    for each in [evaluator] if callable(evaluator) else evaluator:
        each(name=f"{each.__name__}_evaluator", input=input, label=label, weight=weight)
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
) -> Layer:
    draft = Draft(type, name, size=1, layer_attr=layer_attr)
    (source,) = listed(name, input)
    draft.read(dense(name, source))
    if label is not None:
        _check_label(type, name, source, *listed(name, label))
        draft.read(label)
    if weight is not None:
        if weight.size != 1:
            raise ValueError(f"layer {name!r}: its weight has size {weight.size}, a sample has one weight")
        draft.read(dense(name, weight))
    return draft.done(coeff=coeff)


def _check_label(type: str, name: str, source: Layer, label: Layer) -> None:
    wants_ids = type == "multi-class-cross-entropy"
    if wants_ids != gives_ids(label):
        kind = "integer_value" if wants_ids else "dense_vector"
        raise ValueError(
            f"layer {name!r}: its label is a data layer of type {kind}({source.size}), not {label!r}"
        )
    if source.size != label.size:
        raise ValueError(f"layer {name!r}: its input has size {source.size}, its label {label.size}")
