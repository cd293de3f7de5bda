"""Lowering of layers that cut pieces out of sequences: rows are looked up by their numbers.

It must never know how sequences are fed. Guarantee: as of all lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _picked(net: Network, source: str, rows: Variable, runs: tuple[Variable, ...]) -> Output:
    return Output(net.builder.op("lookup_table", W=net.value(source), Ids=rows), runs=runs)


def _slices(net: Network, layer: LayerConfig) -> Output:
    source, *bounds = (each.input_layer_name for each in layer.inputs)
    runs = net.runs(source, layer.name)
    has = {"has_starts": len(bounds) == 2 or layer.select_first}
    has["has_ends"] = len(bounds) == 2 or not layer.select_first
    values = [net.value(each) for each in bounds]
    made = net.builder.ops("sequence_slices", has, Offsets=runs[-1], Bounds=values)
    if len(runs) == 1:
        return _picked(net, source, made["Rows"], (made["Out"],))
    outer = net.builder.op("sequence_merge", X=made["Outer"], Outer=runs[0])
    return _picked(net, source, made["Rows"], (outer, made["Out"]))


def _parts(net: Network, layer: LayerConfig) -> Output:
    source, begins, sizes = (each.input_layer_name for each in layer.inputs)
    (offsets, *_) = net.runs(source, layer.name)
    made = net.builder.ops("sequence_parts", Offsets=offsets, Begins=net.ids(begins), Sizes=net.ids(sizes))
    return _picked(net, source, made["Rows"], (made["Out"],))


def _chosen(net: Network, layer: LayerConfig) -> Output:
    source, chosen = (each.input_layer_name for each in layer.inputs)
    runs = net.runs(source, layer.name)
    if len(runs) < 2:
        raise WrongCall(f"layer {layer.name!r} chooses inner sequences, and {source!r} has none")
    made = net.builder.ops("sequence_chosen", Outer=runs[0], Offsets=runs[1], Chosen=net.value(chosen))
    return _picked(net, source, made["Rows"], (made["Kept"], made["Out"]))


def _best(net: Network, layer: LayerConfig) -> Output:
    (source,) = (each.input_layer_name for each in layer.inputs)
    runs = net.runs(source, layer.name)
    best = {"k": layer.beam_size}
    return Output(
        net.builder.op("sequence_best", best, X=net.value(source), Offsets=runs[-1]), runs=runs[:-1]
    )


def _reshaped(net: Network, layer: LayerConfig) -> Output:
    (source,) = (each.input_layer_name for each in layer.inputs)
    value, runs = net.value(source), net.runs(source, layer.name)
    sizes = {"width": value.shape[1], "into": layer.size}
    ends = net.builder.op("sequence_resize", sizes, Offsets=runs[0])
    return Output(net.builder.op("reshape", {"shape": (-1, layer.size)}, X=value), runs=(ends,))


PIECE_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "seq_slice": _slices,
    "subseq": _parts,
    "sub_nested_seq": _chosen,
    "kmax_seq_score": _best,
    "seqreshape": _reshaped,
}
"""What gets bias, activation and so on from the network as other layers do."""
