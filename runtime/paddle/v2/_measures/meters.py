"""Meters: which measure an evaluator takes, and the operators that it needs at the end of the program.

It must never know how a measure adds up. Guarantee: one evaluator is one meter, in the order of the
configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._engine import chunks
from paddle._engine.program import Variable
from paddle.v2._config import EvaluatorConfig
from paddle.v2._lowering.sequences import merged
from paddle.v2._measures import confusion, edits, printers
from paddle.v2._measures.curve import Curve
from paddle.v2._measures.measure import Meter, Ratio
from paddle.v2._measures.objects import Objects
from paddle.v2._measures.pairs import Pairs

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

_ONE_EACH = ("fill_any_like", {"value": 1.0})
Values = Sequence[np.ndarray]


def meters(net: Network) -> list[Meter]:
    """Append the operators of all evaluators to the network's program."""
    measured = [each for each in net.config.evaluators if each.type != "gradient_printer"]
    return [*(_meter(net, evaluator) for evaluator in measured), *printed(net)]


def printed(net: Network) -> list[Meter]:
    """What layers print whenever a network is run."""
    layers = [layer for layer in net.config.layers if layer.type == "print"]
    return [
        Meter(
            layer.name,
            tuple(_read(net, each.input_layer_name) for each in layer.inputs),
            printers.layer_printer(layer.user_arg),
            (),
        )
        for layer in layers
    ]


def _meter(net: Network, evaluator: EvaluatorConfig) -> Meter:
    found = _METERS.get(evaluator.type)
    if found is None:
        raise NotInThisRelease(f"an evaluator of type {evaluator.type!r} is not in this release")
    return found(net, evaluator)


def _error(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, label, *weights = evaluator.input_layers
    if net.outputs[label].id is None:
        return _sides(net, evaluator)
    each = _wrong(net, source, label, evaluator.top_k)
    return _ratio(net, evaluator, each, weights)


def _wrong(net: Network, source: str, label: str, top_k: int) -> Variable:
    attrs = {"top_k": top_k}
    return net.builder.op("classification_error", attrs, X=net.value(source), Label=net.ids(label))


def _sides(net: Network, evaluator: EvaluatorConfig) -> Meter:
    """How many columns of two layers are not on the same side of a threshold; of a sparse label which share
    of them, and what is at the threshold is above it."""
    bound, is_sparse = evaluator.classification_threshold, net.outputs[evaluator.input_layers[1]].entries

    def measure(values: Values, samples: int) -> Ratio:
        found, label, *weights = values
        above = found >= bound if is_sparse else found > bound
        wrong = (above != (label > bound)).sum(1, keepdims=True) / (found.shape[1] if is_sparse else 1)
        each = weights[0] if weights else np.ones_like(found[:, :1])
        return Ratio(float((each * wrong).sum()), float(each.sum()))

    return Meter(evaluator.name, tuple(net.value(name) for name in evaluator.input_layers), measure)


def _sum(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, *weights = evaluator.input_layers
    return _ratio(net, evaluator, net.value(source), weights)


def _column_sum(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, *weights = evaluator.input_layers
    value = net.value(source)
    last = {"axes": (1,), "starts": (value.shape[1] - 1,), "ends": (value.shape[1],)}
    return _ratio(net, evaluator, net.builder.op("slice", last, X=value), weights)


def _ratio(net: Network, evaluator: EvaluatorConfig, each: Variable, weights: Sequence[str]) -> Meter:
    """The sum of a variable over the number of samples or, of sequences, of elements; or weighted."""
    op = net.builder.op

    def measure(values: Values, samples: int) -> Ratio:
        total, *count = (float(value[0]) for value in values)
        return Ratio(total, count[0] if count else float(samples))

    if weights:
        weight = net.value(weights[0])
        total = op("reduce_sum", X=op("elementwise_mul", X=each, Y=weight))
        return Meter(evaluator.name, (total, op("reduce_sum", X=weight)), measure)
    total = op("reduce_sum", X=each)
    if not net.outputs[evaluator.input_layers[0]].runs:
        return Meter(evaluator.name, (total,), measure)
    first = op("slice", {"axes": (1,), "starts": (0,), "ends": (1,)}, X=each) if each.shape[1] != 1 else each
    return Meter(evaluator.name, (total, op("reduce_sum", X=op(*_ONE_EACH, X=first))), measure)


def _read(net: Network, name: str) -> Variable:
    """What a layer gives: numbers, or else ids."""
    found = net.outputs[name]
    return found.id if found.value is None and found.id is not None else net.value(name)


def _auc(net: Network, evaluator: EvaluatorConfig) -> Meter:
    def measure(values: Values, samples: int) -> Curve:
        return Curve.of(values[0][:, -1], *values[1:])

    return Meter(evaluator.name, tuple(_read(net, name) for name in evaluator.input_layers), measure)


def _precision_recall(net: Network, evaluator: EvaluatorConfig) -> Meter:
    positive = evaluator.positive_label
    source, label, *weights = evaluator.input_layers

    def measure(values: Values, samples: int) -> confusion.Confusion:
        return confusion.Confusion.of(values[0], values[1], *values[2:], positive=positive)

    reads = (net.value(source), net.ids(label), *map(net.value, weights))
    return Meter(evaluator.name, reads, measure, confusion.endings(positive))


def _pnpair(net: Network, evaluator: EvaluatorConfig) -> Meter:
    reads = tuple(_read(net, name) for name in evaluator.input_layers)
    return Meter(evaluator.name, reads, lambda values, samples: Pairs.of(*values))


def _chunk(net: Network, evaluator: EvaluatorConfig) -> Meter:
    said, right = evaluator.input_layers
    scheme = chunks.Scheme(
        chunks.SCHEMES[evaluator.chunk_scheme],
        evaluator.num_chunk_types,
        frozenset(evaluator.excluded_chunk_types),
    )
    reads = (net.ids(said), net.ids(right), merged(net, right, evaluator.name))
    return Meter(evaluator.name, reads, lambda values, samples: scheme.compare(*values), chunks.ENDINGS)


def _ctc_error(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, label = evaluator.input_layers
    name = evaluator.name
    reads = (net.value(source), merged(net, source, name), net.ids(label), merged(net, label, name))
    return Meter(name, reads, lambda values, samples: edits.Edits.of(*values), edits.ENDINGS)


def _detection(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, label = evaluator.input_layers
    ends = net.outputs[source].filled
    assert ends is not None  # evaluator.py sees to it
    how = (evaluator.ap_type, evaluator.overlap_threshold, evaluator.evaluate_difficult)
    reads = (net.value(source), ends, net.value(label), merged(net, label, evaluator.name))
    return Meter(evaluator.name, reads, lambda values, samples: Objects.of(values, *how))


def _printed(show: Callable[..., Any], evaluator: EvaluatorConfig, reads: Sequence[Variable]) -> Meter:
    return Meter(evaluator.name, tuple(reads), show, ())


def _value_printer(net: Network, evaluator: EvaluatorConfig) -> Meter:
    layers = list(evaluator.input_layers)
    return _printed(printers.value_printer(layers), evaluator, [_read(net, name) for name in layers])


def _maxid_printer(net: Network, evaluator: EvaluatorConfig) -> Meter:
    layers = list(evaluator.input_layers)
    show = printers.maxid_printer(layers, evaluator.num_results)
    return _printed(show, evaluator, [net.value(name) for name in layers])


def _maxframe_printer(net: Network, evaluator: EvaluatorConfig) -> Meter:
    layers = list(evaluator.input_layers)
    reads = [v for name in layers for v in (net.value(name), merged(net, name, evaluator.name))]
    return _printed(printers.maxframe_printer(layers, evaluator.num_results), evaluator, reads)


def _error_printer(net: Network, evaluator: EvaluatorConfig) -> Meter:
    source, label = evaluator.input_layers
    return _printed(printers.error_printer(evaluator.name), evaluator, [_wrong(net, source, label, 1)])


def _text_printer(net: Network, evaluator: EvaluatorConfig) -> Meter:
    *numbers, text = evaluator.input_layers
    show = printers.text_printer(
        evaluator.result_file, evaluator.dict_file, evaluator.delimited, bool(numbers)
    )
    reads = [*map(net.ids, numbers), net.ids(text), merged(net, text, evaluator.name)]
    return _printed(show, evaluator, reads)


_METERS: Mapping[str, Callable[[Network, EvaluatorConfig], Meter]] = {
    "classification_error": _error,
    "sum": _sum,
    "last-column-sum": _column_sum,
    "last-column-auc": _auc,
    "precision_recall": _precision_recall,
    "pnpair": _pnpair,
    "chunk": _chunk,
    "ctc_edit_distance": _ctc_error,
    "detection_map": _detection,
    "value_printer": _value_printer,
    "max_id_printer": _maxid_printer,
    "max_frame_printer": _maxframe_printer,
    "classification_error_printer": _error_printer,
    "seq_text_printer": _text_printer,
}
