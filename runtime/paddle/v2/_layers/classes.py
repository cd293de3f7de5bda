"""Costs over so many classes that a training computes only some of them.

They must never know how they are computed. Guarantee: weights are a row for each class, or for each turn on
the way to one, as in the original.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.learned import Bias, Extra, Param, each_attribute
from paddle.v2.activation import BaseActivation, Sigmoid
from paddle.v2.config_base import Layer, default_name

__all__ = ["hsigmoid", "nce"]


def nce(
    input: Layer | Sequence[Layer],
    label: Layer,
    num_classes: int | None = None,
    param_attr: Param | Sequence[Param] = None,
    weight: Layer | None = None,
    num_neg_samples: int = 10,
    neg_distribution: Sequence[float] | None = None,
    name: str | None = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
    act: BaseActivation | None = None,
) -> Layer:
    """A cost that tells the label from ``num_neg_samples`` classes drawn for each sample: noise contrast.

    They are drawn evenly, or by ``neg_distribution``, in training and in tests. To say how probable classes
    are, ``fc`` with Softmax takes the same parameters (weights transposed: ``trans_full_matrix_projection``).
    """
    name = name or default_name("nce_layer")
    if act is not None and not isinstance(act, Sigmoid):
        raise WrongCall(f"layer {name!r}: noise contrast has Sigmoid for its activation, not {act!r}")
    classes = num_classes or label.size
    draft = Draft("nce", name, size=1, act=Sigmoid(), layer_attr=layer_attr)
    _read(draft, input, param_attr, _label(name, label), classes)
    if weight is not None:
        draft.read(dense(name, *listed(name, weight)))
    draft.bias(bias_attr, by_default=True, dims=[1, classes])
    distribution = [float(each) for each in neg_distribution or ()]
    if distribution and (len(distribution) != classes or abs(sum(distribution) - 1) > 1e-5):
        raise WrongCall(f"layer {name!r}: neg_distribution is {classes} numbers whose sum is 1")
    return draft.done(num_classes=classes, num_neg_samples=num_neg_samples, neg_sampling_dist=distribution)


def hsigmoid(
    input: Layer | Sequence[Layer],
    label: Layer,
    num_classes: int | None = None,
    name: str | None = None,
    bias_attr: Bias = None,
    param_attr: Param | Sequence[Param] = None,
    layer_attr: Extra = None,
) -> Layer:
    """-log of the label's probability, where classes are leaves of a tree: as many turns as log2 of them."""
    name = name or default_name("hsigmoid")
    classes = num_classes or label.size
    if classes <= 2:
        raise WrongCall(f"layer {name!r}: a tree has more than 2 classes, not {classes}")
    draft = Draft("hsigmoid", name, size=1, layer_attr=layer_attr)
    _read(draft, input, param_attr, _label(name, label), classes - 1)
    draft.bias(bias_attr, by_default=True, dims=[1, classes - 1])
    return draft.done(num_classes=classes)


def _read(
    draft: Draft, input: Layer | Sequence[Layer], param_attr: Param | Sequence[Param], label: Layer, rows: int
) -> None:
    """Inputs with weights of so many rows each, and the label."""
    name = draft.config.name
    inputs = listed(name, input)
    for each, attr in zip(inputs, each_attribute(name, param_attr, inputs), strict=True):
        draft.read(dense(name, each), attr, [rows, each.size])
    draft.read(label)


def _label(name: str, label: Layer) -> Layer:
    (layer,) = listed(name, label)
    if not gives_ids(layer):
        raise WrongCall(f"layer {name!r}: its label is a data layer of type integer_value, not {layer!r}")
    return layer
