"""Lowering of costs.

It must never know what they are summed over. Guarantee: a cost is one number for each row or, of tags, for
each sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.output import Output
from paddle.v2._lowering.sequences import merged

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

_ROW = {"dim": 1, "keep_dim": True}
# Of what a sigmoid is taken: the original never gives 0 or 1, so that the cross entropy of it stays finite.
LIMITS = {"x_min": -40.0, "x_max": 13.0}


def _weighted(net: Network, layer: LayerConfig, cost: Variable, place: int = 2) -> Variable:
    """A cost times the weight of its sample, which is the input in that place, if there is one."""
    if len(layer.inputs) <= place:
        return cost
    return net.builder.op("elementwise_mul", X=cost, Y=net.value(layer.inputs[place].input_layer_name))


def _cross_entropy(net: Network, layer: LayerConfig) -> Variable:
    source, label = (each.input_layer_name for each in layer.inputs[:2])
    return _weighted(net, layer, net.builder.op("cross_entropy", X=net.value(source), Label=net.ids(label)))


def _square_error(net: Network, layer: LayerConfig) -> Variable:
    source, label = (each.input_layer_name for each in layer.inputs[:2])
    return _weighted(
        net, layer, net.builder.op("square_error_cost", X=net.value(source), Label=net.value(label))
    )


def _sum_cost(net: Network, layer: LayerConfig) -> Variable:
    return net.builder.op("reduce_sum", _ROW, X=net.value(layer.inputs[0].input_layer_name))


def _multi_binary(net: Network, layer: LayerConfig) -> Variable:
    """-sum(y log p + (1 - y) log(1 - p)) over the columns."""
    op = net.builder.op
    probability, label = (net.value(each.input_layer_name) for each in layer.inputs)
    against = {"scale": -1.0, "bias": 1.0}
    hit = op("elementwise_mul", X=op("log", X=probability), Y=label)
    miss = op(
        "elementwise_mul", X=op("log", X=op("scale", against, X=probability)), Y=op("scale", against, X=label)
    )
    total = op("reduce_sum", _ROW, X=op("elementwise_add", X=hit, Y=miss))
    return op("scale", {"scale": -1.0}, X=total)


def _huber(net: Network, layer: LayerConfig) -> Variable:
    source, label = (net.value(each.input_layer_name) for each in layer.inputs)
    return net.builder.op("huber_loss", {"delta": layer.delta}, X=source, Label=label)


def _huber_classification(net: Network, layer: LayerConfig) -> Variable:
    source, label = (each.input_layer_name for each in layer.inputs)
    return net.builder.op("modified_huber_loss", X=net.value(source), Label=net.ids(label))


def _selfnorm(net: Network, layer: LayerConfig) -> Variable:
    """-log(p / z) + alpha * (log z)**2, with z the sum of a row."""
    op, (source, label) = net.builder.op, (each.input_layer_name for each in layer.inputs)
    value = net.value(source)
    logarithm = op("log", X=op("reduce_sum", _ROW, X=value))
    penalty = op("scale", {"scale": layer.softmax_selfnorm_alpha}, X=op("square", X=logarithm))
    return net.summed([op("cross_entropy", X=value, Label=net.ids(label)), logarithm, penalty])


def _rank(net: Network, layer: LayerConfig) -> Variable:
    """log(1 + exp(o)) - label * o, with o = left - right."""
    op, names = net.builder.op, [each.input_layer_name for each in layer.inputs]
    apart = op("elementwise_sub", X=net.value(names[0]), Y=net.value(names[1]))
    given = net.outputs[names[2]]
    label = op("cast", {"dtype": "float32"}, X=net.ids(names[2])) if given.value is None else given.value
    hit = op("elementwise_mul", X=apart, Y=label)
    return _weighted(net, layer, op("elementwise_sub", X=op("soft_relu", X=apart), Y=hit), place=3)


def _lambda(net: Network, layer: LayerConfig) -> Variable:
    source, score = (each.input_layer_name for each in layer.inputs)
    attrs = {"ndcg_num": layer.NDCG_num, "max_sort_size": layer.max_sort_size}
    offsets = merged(net, source, layer.name)
    return net.builder.op("lambda_rank", attrs, X=net.value(source), Score=net.value(score), Offsets=offsets)


def _scores(net: Network, layer: LayerConfig, rows: Variable, count: int) -> Variable:
    """(n, count): of each sample the scores of those rows of the weights that it is told by; a bias too."""
    op, size = net.builder.op, rows.shape[1]
    flat, found = op("reshape", {"shape": (-1, 1)}, X=rows), []
    for each in layer.inputs[:count]:
        weights = net.parameter(each.input_parameter_name)
        picked = op("lookup_table", W=weights, Ids=flat)
        width = weights.shape[1]
        beside = op("reshape", {"shape": (-1, size, width)}, X=picked)
        value = op("reshape", {"shape": (-1, 1, width)}, X=net.value(each.input_layer_name))
        found.append(op("reduce_sum", {"dim": 2}, X=op("elementwise_mul", X=beside, Y=value)))
    if layer.bias_parameter_name:
        bias = net.parameter(layer.bias_parameter_name)
        column = op("reshape", {"shape": (bias.shape[1], 1)}, X=bias)
        found.append(op("reshape", {"shape": (-1, size)}, X=op("lookup_table", W=column, Ids=flat)))
    return net.summed(found)


def _nce(net: Network, layer: LayerConfig) -> Variable:
    op, weighted = net.builder.op, [each for each in layer.inputs if each.input_parameter_name]
    distribution = {"num_classes": layer.num_classes, "distribution": tuple(layer.neg_sampling_dist)}
    label = net.ids(layer.inputs[len(weighted)].input_layer_name)
    samples = op("sample_classes", {**distribution, "num_neg_samples": layer.num_neg_samples}, Label=label)
    scores = op("sigmoid", LIMITS, X=_scores(net, layer, samples, len(weighted)))
    return _weighted(net, layer, op("nce_cost", distribution, X=scores, Samples=samples), len(weighted) + 1)


def _hsigmoid(net: Network, layer: LayerConfig) -> Variable:
    op, classes = net.builder.op, {"num_classes": layer.num_classes}
    label = net.ids(layer.inputs[-1].input_layer_name)
    path = op("class_path", classes, Label=label)
    return op("path_cost", classes, X=_scores(net, layer, path, len(layer.inputs) - 1), Label=label)


def _crf(net: Network, layer: LayerConfig) -> Output:
    source, label = (each.input_layer_name for each in layer.inputs[:2])
    cost = net.builder.op(
        "linear_chain_crf",
        X=net.value(source),
        Label=net.ids(label),
        Transition=net.parameter(layer.inputs[0].input_parameter_name),
        Offsets=merged(net, label, layer.name),
    )
    return Output(_weighted(net, layer, cost))


def _crf_decoding(net: Network, layer: LayerConfig) -> Output:
    op, source = net.builder.op, layer.inputs[0]
    best = op(
        "crf_decoding",
        X=net.value(source.input_layer_name),
        Transition=net.parameter(source.input_parameter_name),
        Offsets=merged(net, source.input_layer_name, layer.name),
    )
    runs = net.runs(source.input_layer_name, layer.name)
    if len(layer.inputs) == 1:
        return Output(id=best, runs=runs)
    label = net.ids(layer.inputs[1].input_layer_name)
    return Output(op("differs", X=best, Y=label), id=best, runs=runs)


def _ctc(net: Network, layer: LayerConfig) -> Output:
    op, (source, label) = net.builder.op, (each.input_layer_name for each in layer.inputs)
    value = net.value(source)
    cost = op(
        "ctc",
        {"blank": layer.blank, "norm_by_times": layer.norm_by_times},
        X=op("softmax", X=value) if layer.type == "warp_ctc" else value,
        Offsets=merged(net, source, layer.name),
        Label=net.ids(label),
        LabelOffsets=merged(net, label, layer.name),
    )
    return Output(cost)


def _over_beam(net: Network, layer: LayerConfig) -> Output:
    names = [each.input_layer_name for each in layer.inputs]
    steps = list(zip(names[::3], names[1::3], names[2::3], strict=True))
    ends: list[Variable] = []
    for number, (scores, _, _) in enumerate(steps):
        runs = net.runs(scores, layer.name)
        if len(runs) != (1 if number == 0 else 2):
            kind = "a plain sequence" if number == 0 else "a sequence of sequences"
            raise WrongCall(f"layer {layer.name!r}: the scores of step {number}, {scores!r}, are {kind}")
        ends += runs
    cost = net.builder.op(
        "beam_cost",
        X=[net.value(scores) for scores, _, _ in steps],
        Chosen=[net.value(chosen) for _, chosen, _ in steps],
        Gold=[net.ids(gold) for _, _, gold in steps],
        Ends=ends,
    )
    return Output(cost)


COST_RULES: Mapping[str, Callable[[Network, LayerConfig], Variable]] = {
    "multi-class-cross-entropy": _cross_entropy,
    "square_error": _square_error,
    "sum_cost": _sum_cost,
    "multi_binary_label_cross_entropy": _multi_binary,
    "huber_regression": _huber,
    "smooth_l1": _huber,
    "huber_classification": _huber_classification,
    "multi_class_cross_entropy_with_selfnorm": _selfnorm,
    "rank-cost": _rank,
    "lambda_cost": _lambda,
    "nce": _nce,
    "hsigmoid": _hsigmoid,
}
"""A cost of each row."""

TAG_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "crf": _crf,
    "crf_decoding": _crf_decoding,
    "ctc": _ctc,
    "warp_ctc": _ctc,
    "cross_entropy_over_beam": _over_beam,
}
"""What is of whole sequences."""

COSTS = frozenset({*COST_RULES, *TAG_RULES, "multibox_loss"} - {"crf_decoding"})
"""The types of layers that are learned from."""
