"""Lowering of mixed layers: projections and operators, which are added up or stand side by side.

It must never know other layers. Guarantee: as of all lowering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig, LayerInputConfig, OperatorConfig
from paddle.v2._lowering.entries import product
from paddle.v2._lowering.images import convolved, seen_by_own_filters
from paddle.v2._lowering.sequences import context

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def mixed(net: Network, layer: LayerConfig) -> Variable:
    """The sum of all projections and operators."""
    return net.summed(_parts(net, layer))


def side_by_side(net: Network, layer: LayerConfig) -> Variable:
    """All projections, one beside the other."""
    return net.builder.op("concat", X=_parts(net, layer))


def _parts(net: Network, layer: LayerConfig) -> list[Variable]:
    """What has a projection of its own contributes that; the others are read by operators."""
    seen = [each for each in layer.inputs if each.HasField("proj_conf")]
    parts = [_projected(net, each, layer.name) for each in seen]
    return parts + [_combined(net, each, layer) for each in layer.operator_confs]


def _combined(net: Network, operator: OperatorConfig, layer: LayerConfig) -> Variable:
    """What an operator makes of two inputs."""
    names = [layer.inputs[index].input_layer_name for index in operator.input_indices]
    if operator.type in ("conv", "convt"):
        return seen_by_own_filters(net, net.value(names[0]), net.value(names[1]), operator)
    if operator.type != "dot_mul":
        raise NotInThisRelease(f"an operator of type {operator.type!r} is not in this release")
    product = net.builder.op("elementwise_mul", X=net.value(names[0]), Y=net.value(names[1]))
    if operator.dotmul_scale == 1.0:
        return product
    return net.builder.op("scale", {"scale": operator.dotmul_scale}, X=product)


def _projected(net: Network, each: LayerInputConfig, reader: str) -> Variable:
    """What one input contributes."""
    kind, op, conf = each.proj_conf.type, net.builder.op, each.proj_conf
    if kind == "context":
        return context(net, each, reader)
    if kind == "identity":
        return net.value(each.input_layer_name)
    if kind == "identity_offset":
        return _columns(net, each, [(conf.offset, conf.offset + conf.output_size)])
    if kind == "slice":
        return _columns(net, each, [(part.start, part.end) for part in conf.slices])
    if kind == "fc":
        return product(net, each.input_layer_name, each.input_parameter_name)
    parameter = net.parameter(each.input_parameter_name)
    if kind == "table":
        ids = net.ids(each.input_layer_name)
        return op("lookup_table", {"is_sparse": parameter.spec.sparse}, W=parameter, Ids=ids)
    value = net.value(each.input_layer_name)
    if kind == "trans_fc":
        return op("mul", X=value, Y=op("transpose", {"axis": (1, 0)}, X=parameter))
    if kind in ("dot_mul", "scaling"):
        return op("elementwise_mul", X=value, Y=parameter)
    if kind in ("conv", "convt"):
        return convolved(net, value, parameter, conf)
    raise NotInThisRelease(f"a projection of type {kind!r} is not in this release")


def _columns(net: Network, each: LayerInputConfig, pieces: list[tuple[int, int]]) -> Variable:
    value = net.value(each.input_layer_name)
    cut = [
        net.builder.op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=value)
        for start, end in pieces
    ]
    return cut[0] if len(cut) == 1 else net.builder.op("concat", X=cut)
