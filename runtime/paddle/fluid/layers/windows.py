"""What layers of images and of volumes have in common: windows that move over all axes but two, those of the
samples and the channels.

It must never know how many axes there are. Guarantee: what is wrong is a BadArgument by the argument's name,
before anything is appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Normal
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.paddings import paddings_of

__all__: list[str] = []

Sides = int | Sequence[int]


def channel_axis(layer: str, data_format: str, first: str, last: str) -> int:
    """Where the channels are. ``first`` and ``last``: the two formats that there are."""
    if data_format not in (first, last):
        raise BadArgument(f"{layer}: data_format is {first!r} or {last!r}, not {data_format!r}")
    return 1 if data_format == first else len(last) - 1


def around(layer: str, given: Any, data_format: str) -> dict[str, Any]:
    """Attributes of a padding: numbers of zeros, or the name of a way to find them."""
    sides, way = paddings_of(layer, given, data_format)
    return {"paddings": sides, "padding_algorithm": way}


def convolved(
    helper: LayerHelper,
    type: str,
    input: Variable,
    axis: int,
    num_filters: int,
    window: Sequence[int],
    attrs: dict[str, Any],
) -> Variable:
    """Append a convolution with new filters, (filters, channels of a group, *window), and a bias for each.
    ``axis``: of the channels."""
    channels, parts = int(input.shape[axis]), attrs["groups"]
    if channels % parts or num_filters % parts:
        layer = type.removeprefix("depthwise_")
        raise BadArgument(
            f"{layer}: {channels} channels and {num_filters} filters are not {parts} equal groups"
        )
    # as many numbers as reach one output, whatever the group
    spread = Normal(0.0, (2.0 / (prod(window) * channels)) ** 0.5, 0)
    shape = [num_filters, channels // parts, *window]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype, default_initializer=spread)
    return _appended(helper, type, input, weights, attrs, axis)


def convolved_back(
    helper: LayerHelper,
    type: str,
    input: Variable,
    axis: int,
    num_filters: int,
    window: Sequence[int] | None,
    attrs: dict[str, Any],
) -> Variable:
    """The same of a transposed convolution: filters are (channels, filters of a group, *window). Without
    ``window`` it is the one that gives the ``output_size`` of ``attrs``."""
    sides = _window_for(type.removeprefix("depthwise_"), input, axis, attrs) if window is None else window
    shape = [int(input.shape[axis]), num_filters // attrs["groups"], *sides]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype)
    return _appended(helper, type, input, weights, attrs, axis)


def check_pooling(layer: str, pool_type: str) -> None:
    """Refuse what is no way to pool."""
    if pool_type not in ("max", "avg"):
        raise BadArgument(f"{layer}: pool_type is 'max' or 'avg', not {pool_type!r}")


def check_moving(
    layer: str, pool_size: Sides, pool_type: str, padding: Any, is_global: bool, sticks_out: bool
) -> None:
    """Refuse what does not go together where a window pools. ``sticks_out``: where nothing but a part of it
    is left, as ceil_mode has it."""
    if pool_size == -1 and not is_global:
        raise BadArgument(f"{layer}: pool_size is told unless global_pooling")
    check_pooling(layer, pool_type)
    if sticks_out and isinstance(padding, str) and padding.upper() == "VALID":
        raise BadArgument(
            f"{layer}: ceil_mode has windows stick out, which the padding 'VALID' does not: tell one"
        )


def _window_for(layer: str, input: Variable, axis: int, attrs: dict[str, Any]) -> list[int]:
    wanted, zeros = attrs["output_size"], attrs["paddings"]
    if not wanted:
        raise BadArgument(f"{layer}: tell output_size or filter_size")
    known = [size for at, size in enumerate(input.shape) if at not in (0, axis)]
    is_each = len(zeros) == 2 * len(known)
    both = (
        [sum(zeros[at : at + 2]) for at in range(0, len(zeros), 2)]
        if is_each
        else [2 * each for each in zeros]
    )
    sides = zip(wanted, known, attrs["strides"], both, attrs["dilations"], strict=True)
    return [(out - (size - 1) * step + pads - 1) // apart + 1 for out, size, step, pads, apart in sides]


def _appended(
    helper: LayerHelper, type: str, input: Variable, weights: Variable, attrs: dict[str, Any], axis: int
) -> Variable:
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(type, {"Input": [input], "Filter": [weights]}, {"Output": [out]}, attrs)
    return helper.append_activation(helper.append_bias_op(out, dim_start=axis, dim_end=axis + 1))
