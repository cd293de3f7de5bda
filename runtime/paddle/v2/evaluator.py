"""Evaluators: metrics over layers, reported as ``event.metrics`` by name.

They must never know how they are computed. Guarantee: an evaluator is part of every network that holds all
its layers; what it reads fits, which is checked here, where it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._absent import NotInThisRelease, absent
from paddle.v2._config import EvaluatorConfig
from paddle.v2._draft import dense, gives_ids
from paddle.v2.config_base import Layer, default_name

_LATER = (
    *("auc", "chunk", "classification_error_printer", "column_sum", "ctc_error", "detection_map"),
    *("gradient_printer", "maxframe_printer", "maxid_printer", "pnpair", "precision_recall"),
    *("seqtext_printer", "value_printer"),
)

__all__ = ["classification_error", "sum", *_LATER]


def classification_error(
    input: Layer,
    label: Layer,
    name: str | None = None,
    weight: Layer | None = None,
    top_k: int | None = None,
    threshold: float | None = None,
) -> None:
    """The share of samples whose greatest column is not the label; with ``weight``, of their weights."""
    if top_k not in (None, 1) or threshold is not None:
        raise NotInThisRelease("classification_error with top_k or threshold is not in this release")
    _check_layers("classification_error", [input, label])
    if not gives_ids(label):
        raise ValueError(
            f"evaluator 'classification_error': its label is a data layer of type "
            f"integer_value({input.size}), not {label!r}"
        )
    if input.size == 1:
        raise NotInThisRelease(
            f"classification_error of the one column of {input!r} is not in this release, which compares "
            "columns: use a layer of size 2 with Softmax, a column for each label"
        )
    if input.size < label.size:
        raise ValueError(
            f"evaluator 'classification_error': its input has size {input.size}, its label {label.size}"
        )
    _attach("classification_error", name, [input, label], weight)


def sum(input: Layer, name: str | None = None, weight: Layer | None = None) -> None:
    """The sum of the input over its columns, per sample; with ``weight``, weighted."""
    _attach("sum", name, [input], weight)


def _attach(type: str, name: str | None, layers: Sequence[Layer], weight: Layer | None) -> None:
    reads = [*layers, weight] if weight is not None else list(layers)
    _check_layers(type, reads)
    dense(f"{type}_evaluator", reads[0])
    if weight is not None and weight.size != 1:
        raise ValueError(f"evaluator {type!r}: its weight has size {weight.size}, a sample has one weight")
    name = name or default_name(f"{type}_evaluator")
    config = EvaluatorConfig(name=name, type=type, input_layers=[each.name for each in reads])
    reads[0].evaluators.append(config)


def _check_layers(type: str, reads: Sequence[Layer]) -> None:
    for each in reads:
        if not isinstance(each, Layer):
            raise TypeError(f"evaluator {type!r} reads layers, not {each!r}")


globals().update(
    {name: absent(f"paddle.evaluator.{name}", "its metric comes in a later release") for name in _LATER}
)
