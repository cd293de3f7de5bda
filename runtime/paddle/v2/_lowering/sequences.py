"""Lowering of layers over sequences to the operators of the engine.

It must never know how sequences are fed. Guarantee: what a layer gives says itself which of its rows are one
sequence, so that layers behind it need not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig, LayerInputConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _reduced(net: Network, layer: LayerConfig) -> tuple[Variable, Variable, tuple[Variable, ...]]:
    """What a layer reduces, the sequences that become a row each, and the sequences of these rows."""
    source = layer.inputs[0].input_layer_name
    runs = net.runs(source, layer.name)
    if layer.seq_pool_stride > 0:
        if len(runs) > 1:
            raise WrongCall(
                f"layer {layer.name!r}: sequences of sequences, as {source!r} has, have no stride"
            )
        attrs = {"stride": layer.seq_pool_stride, "from_end": layer.select_first}
        windows = net.builder.ops("sequence_strides", attrs, Offsets=runs[0])
        return net.value(source), windows["Out"], (windows["Outer"],)
    if layer.trans_type == "non-seq":
        return net.value(source), merged(net, source, layer.name), ()
    if len(runs) < 2:
        raise WrongCall(
            f"layer {layer.name!r}: agg_level=TO_SEQUENCE makes a sequence of one whose elements are "
            f"sequences, and {source!r} gives a plain one"
        )
    return net.value(source), runs[-1], runs[:-1]


def merged(net: Network, source: str, reader: str) -> Variable:
    """The offsets of the samples in a layer, also where they consist of inner sequences."""
    runs = net.runs(source, reader)
    return runs[0] if len(runs) == 1 else net.builder.op("sequence_merge", X=runs[1], Outer=runs[0])


def _pooled(net: Network, layer: LayerConfig) -> Output:
    value, offsets, runs = _reduced(net, layer)
    if layer.type == "max":
        made = net.builder.ops("sequence_max", X=value, Offsets=offsets)
        if not layer.output_max_index:
            return Output(made["Out"], runs=runs)
        if any(layer.name in each.layer_names for each in net.config.sub_models[1:]):
            raise NotInThisRelease(
                f"layer {layer.name!r}: output_max_index is not in this release inside of recurrent groups, "
                "where it would number the rows of a moment: pool before or behind the group"
            )
        return Output(net.builder.op("cast", {"dtype": "float32"}, X=made["Places"]), runs=runs)
    by = {"pooltype": {"squarerootn": "sqrt"}.get(layer.average_strategy, layer.average_strategy)}
    return Output(net.builder.op("sequence_pool", by, X=value, Offsets=offsets), runs=runs)


def _end(net: Network, layer: LayerConfig) -> Output:
    value, offsets, runs = _reduced(net, layer)
    which = {"which": "first" if layer.select_first else "last"}
    return Output(net.builder.op("sequence_end", which, X=value, Offsets=offsets), runs=runs)


def _expand(net: Network, layer: LayerConfig) -> Output:
    source, like = (each.input_layer_name for each in layer.inputs)
    runs = net.runs(like, layer.name)
    offsets = runs[-1] if layer.trans_type == "seq" else merged(net, like, layer.name)
    rows = net.outputs[like].id or net.value(like)
    expanded = net.builder.op("sequence_expand", X=net.value(source), Offsets=offsets, Like=rows)
    return Output(expanded, runs=runs)


def _concat(net: Network, layer: LayerConfig) -> Output:
    first, second = (each.input_layer_name for each in layer.inputs)
    joined = net.builder.ops(
        "sequence_concat",
        X=net.value(first),
        Offsets=merged(net, first, layer.name),
        Y=net.value(second),
        YOffsets=merged(net, second, layer.name),
    )
    return Output(joined["Out"], runs=(joined["OutOffsets"],))


def context(net: Network, each: LayerInputConfig, reader: str) -> Variable:
    """Beside each element of a sequence those around it."""
    source, window = net.value(each.input_layer_name), each.proj_conf
    attrs = {"start": window.context_start, "length": window.context_length}
    offsets = merged(net, each.input_layer_name, reader)
    if not each.input_parameter_name:
        return net.builder.op("sequence_window", attrs, X=source, Offsets=offsets)
    padding = net.parameter(each.input_parameter_name)
    return net.builder.op("sequence_window_padded", attrs, X=source, Offsets=offsets, Padding=padding)


def _blocks(net: Network, layer: LayerConfig) -> Output:
    """Windows of images; behind an image are as many zeros as its last place needs."""
    conf, source = layer.inputs[0].block_expand_conf, layer.inputs[0].input_layer_name
    image = net.image(source, conf.channels, conf.img_size_y, conf.img_size_x)
    attrs = {
        "kernels": (conf.block_y, conf.block_x),
        "strides": (conf.stride_y, conf.stride_x),
        "paddings": (conf.padding_y, conf.padding_x),
    }
    rows = net.builder.op("image_windows", attrs, X=image)
    return Output(rows, runs=(net.builder.op("even_offsets", X=rows, Of=image),))


SEQUENCE_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "max": _pooled,
    "average": _pooled,
    "seqlastins": _end,
    "expand": _expand,
    "seqconcat": _concat,
    "blockexpand": _blocks,
}
"""What gets bias, activation and so on from the network as other layers do."""
