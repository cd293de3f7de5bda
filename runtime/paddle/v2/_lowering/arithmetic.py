"""Lowering of arithmetic of rows, and of layers with weights of a shape of their own.

It must never know sequences, but for ``row_conv``, which looks behind each element. Guarantee: as of all
lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig
from paddle.v2._lowering.entries import product
from paddle.v2._lowering.sequences import merged

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

_ROW = {"dim": 1, "keep_dim": True}


def _values(net: Network, layer: LayerConfig) -> list[Variable]:
    return [net.value(each.input_layer_name) for each in layer.inputs]


def _cos(net: Network, layer: LayerConfig) -> Variable:
    x, y = _values(net, layer)
    return net.builder.op("cos_sim", {"scale": layer.cos_scale}, X=x, Y=y)


def _interpolation(net: Network, layer: LayerConfig) -> Variable:
    """second + weight * (first - second)."""
    (weight, first, second), op = _values(net, layer), net.builder.op
    apart = op("elementwise_sub", X=first, Y=second)
    return op("elementwise_add", X=op("elementwise_mul", X=apart, Y=weight), Y=second)


def _by_weight(type: str) -> Callable[[Network, LayerConfig], Variable]:
    def rule(net: Network, layer: LayerConfig) -> Variable:
        weight, source = _values(net, layer)
        return net.builder.op(type, X=source, Y=weight)

    return rule


def _sum_to_one(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = _values(net, layer), net.builder.op
    return op("elementwise_div", X=source, Y=op("reduce_sum", _ROW, X=source))


def _length(net: Network, source: Variable) -> Variable:
    op = net.builder.op
    return op("sqrt", X=op("reduce_sum", _ROW, X=op("square", X=source)))


def _row_l2_norm(net: Network, layer: LayerConfig) -> Variable:
    (source,) = _values(net, layer)
    return net.builder.op("elementwise_div", X=source, Y=_length(net, source))


def _l2_distance(net: Network, layer: LayerConfig) -> Variable:
    x, y = _values(net, layer)
    return _length(net, net.builder.op("elementwise_sub", X=x, Y=y))


def _dot_prod(net: Network, layer: LayerConfig) -> Variable:
    (x, y), op = _values(net, layer), net.builder.op
    return op("reduce_sum", _ROW, X=op("elementwise_mul", X=x, Y=y))


def _out_prod(net: Network, layer: LayerConfig) -> Variable:
    x, y = _values(net, layer)
    return _flat(net, net.builder.op("outer_product", X=x, Y=y), layer.size)


def _conv_shift(net: Network, layer: LayerConfig) -> Variable:
    """What lies to the left of the first column is the last, and to the right of the last the first."""
    (source, weights), op = _values(net, layer), net.builder.op
    width, beside = source.shape[1], weights.shape[1] // 2

    def columns(of: Variable, start: int, end: int) -> Variable:
        return op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=of)

    around = source
    if beside:
        around = op("concat", X=[columns(source, width - beside, width), source, columns(source, 0, beside)])
    seen = (
        op("elementwise_mul", X=columns(around, at, at + width), Y=columns(weights, at, at + 1))
        for at in range(weights.shape[1])
    )
    return net.summed(list(seen))


def _linear_comb(net: Network, layer: LayerConfig) -> Variable:
    (weights, vectors), op = _values(net, layer), net.builder.op
    count = vectors.shape[1] // layer.size
    each = op("reshape", {"shape": (-1, count, layer.size)}, X=vectors)
    weight = op("reshape", {"shape": (-1, count, 1)}, X=weights)
    return op("reduce_sum", {"dim": 1}, X=op("elementwise_mul", X=each, Y=weight))


def _flat(net: Network, value: Variable, size: int) -> Variable:
    return net.builder.op("reshape", {"shape": (-1, size)}, X=value)


def _slope_intercept(net: Network, layer: LayerConfig) -> Variable:
    (source,) = _values(net, layer)
    return net.builder.op("scale", {"scale": layer.slope, "bias": layer.intercept}, X=source)


def _clip(net: Network, layer: LayerConfig) -> Variable:
    (source,), bounds = _values(net, layer), layer.inputs[0].clip_conf
    return net.builder.op("brelu", {"t_min": bounds.min, "t_max": bounds.max}, X=source)


def _repeat(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = _values(net, layer), net.builder.op
    width, times = source.shape[1], layer.num_filters
    axis, shape = (2, (-1, width, 1)) if layer.user_arg == "as_col_vec" else (1, (-1, 1, width))
    once = op("reshape", {"shape": shape}, X=source)
    return _flat(net, op("repeat", {"axis": axis, "times": times}, X=once), layer.size)


def _trans(net: Network, layer: LayerConfig) -> Variable:
    (source,) = _values(net, layer)
    return net.builder.op("transpose", {"axis": (1, 0)}, X=source)


def _resize(net: Network, layer: LayerConfig) -> Variable:
    (source,) = _values(net, layer)
    return _flat(net, source, layer.size)


def _multiplex(net: Network, layer: LayerConfig) -> Variable:
    """All layers below each other, of which the row is looked up that is in one line with the id."""
    names, op = [each.input_layer_name for each in layer.inputs], net.builder.op
    return op("multiplex", Ids=net.ids(names[0]), X=[net.value(name) for name in names[1:]])


def _factorization_machine(net: Network, layer: LayerConfig) -> Variable:
    """Half of the sum over factors of (x V)**2 - x**2 V**2. Sparse rows name a column once, and stay so."""
    op, (each,) = net.builder.op, layer.inputs
    factors = net.parameter(each.input_parameter_name)
    entries, squared = net.outputs[each.input_layer_name].entries, op("square", X=factors)
    whole = op("square", X=product(net, each.input_layer_name, each.input_parameter_name))
    if entries is None:
        alone = op("mul", X=op("square", X=net.value(each.input_layer_name)), Y=squared)
    else:
        amounts = op("square", X=entries.amounts)
        alone = op("sparse_mul", W=squared, Ids=entries.columns, Amounts=amounts, Starts=entries.starts)
    total = op("reduce_sum", _ROW, X=op("elementwise_sub", X=whole, Y=alone))
    return op("scale", {"scale": 0.5}, X=total)


def _scale_shift(net: Network, layer: LayerConfig) -> Variable:
    (source,) = _values(net, layer)
    weight = net.parameter(layer.inputs[0].input_parameter_name)
    return net.builder.op("elementwise_mul", X=source, Y=weight)


def _prelu(net: Network, layer: LayerConfig) -> Variable:
    """relu(x) + a * (x - relu(x))."""
    (source,), op = _values(net, layer), net.builder.op
    shares = net.parameter(layer.inputs[0].input_parameter_name)
    parts = op("reshape", {"shape": (-1, layer.size // layer.partial_sum, layer.partial_sum)}, X=source)
    above = op("relu", X=parts)
    below = op("elementwise_sub", X=parts, Y=above)
    share = op("reshape", {"shape": (layer.size // layer.partial_sum, 1)}, X=shares)
    bent = op("elementwise_add", X=above, Y=op("elementwise_mul", X=below, Y=share))
    return _flat(net, bent, layer.size)


def _tensor(net: Network, layer: LayerConfig) -> Variable:
    """a x W_i for all i at once, which are one behind the other in memory, times b."""
    (a, b), op = _values(net, layer), net.builder.op
    weights = net.parameter(layer.inputs[0].input_parameter_name)
    first, second = a.shape[1], b.shape[1]
    each = op("reshape", {"shape": (layer.size, first, second)}, X=weights)
    beside = op(
        "reshape", {"shape": (first, layer.size * second)}, X=op("transpose", {"axis": (1, 0, 2)}, X=each)
    )
    found = op("reshape", {"shape": (-1, layer.size, second)}, X=op("mul", X=a, Y=beside))
    other = op("reshape", {"shape": (-1, 1, second)}, X=b)
    return op("reduce_sum", {"dim": 2}, X=op("elementwise_mul", X=found, Y=other))


def _row_conv(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = layer.inputs, net.builder.op
    length, size = source.row_conv_conf.context_length, layer.size
    window: Mapping[str, Any] = {"start": 0, "length": length}
    offsets = merged(net, source.input_layer_name, layer.name)
    seen = op("sequence_window", window, X=net.value(source.input_layer_name), Offsets=offsets)
    weights = op("reshape", {"shape": (1, length * size)}, X=net.parameter(source.input_parameter_name))
    weighed = op("elementwise_mul", X=seen, Y=weights)
    return op("reduce_sum", {"dim": 1}, X=op("reshape", {"shape": (-1, length, size)}, X=weighed))


def _selective(net: Network, layer: LayerConfig) -> Variable:
    """Only the columns that each row of the last input names, if it names any."""
    op, parts = net.builder.op, []
    read = layer.inputs[:-1] if layer.has_selected_colums else layer.inputs
    weighted = [(net.value(e.input_layer_name), net.parameter(e.input_parameter_name)) for e in read]
    bias = net.parameter(layer.bias_parameter_name) if layer.bias_parameter_name else None
    if not layer.has_selected_colums:
        parts = [op("mul", X=x, Y=op("transpose", {"axis": (1, 0)}, X=weight)) for x, weight in weighted]
        total = net.summed(parts)
        return total if bias is None else op("elementwise_add", X=total, Y=bias)
    if bias is not None:
        first = op("slice", {"axes": (1,), "starts": (0,), "ends": (1,)}, X=weighted[0][0])
        ones = op("fill_any_like", {"value": 1.0}, X=first)
        weighted.append((ones, op("reshape", {"shape": (layer.size, 1)}, X=bias)))
    asked = net.outputs[layer.inputs[-1].input_layer_name].entries
    assert asked is not None  # learned.py sees to it
    where = {"Ids": asked.columns, "Starts": asked.starts}
    return net.summed([op("selected_mul", X=x, W=weight, **where) for x, weight in weighted])


ARITHMETIC_RULES: Mapping[str, Callable[[Network, LayerConfig], Variable]] = {
    "cos": _cos,
    "cos_vm": _cos,
    "interpolation": _interpolation,
    "scaling": _by_weight("elementwise_mul"),
    "power": _by_weight("elementwise_pow"),
    "sum_to_one_norm": _sum_to_one,
    "row_l2_norm": _row_l2_norm,
    "l2_distance": _l2_distance,
    "dot_prod": _dot_prod,
    "out_prod": _out_prod,
    "conv_shift": _conv_shift,
    "convex_comb": _linear_comb,
    "slope_intercept": _slope_intercept,
    "clip": _clip,
    "featmap_expand": _repeat,
    "trans": _trans,
    "resize": _resize,
    "multiplex": _multiplex,
    "factorization_machine": _factorization_machine,
    "scale_shift": _scale_shift,
    "prelu": _prelu,
    "tensor": _tensor,
    "row_conv": _row_conv,
    "selective_fc": _selective,
}
