"""Arithmetic of layers: what is computed of the rows of one, two or more of them, row by row.

They must never know how they are computed. Guarantee: sizes fit, which is checked here, where the layer is
written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle.v2._config import ClipConfig
from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation, Identity
from paddle.v2.attr import ExtraLayerAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = [
    "clip",
    "conv_shift",
    "convex_comb",
    "cos_sim",
    "dot_prod",
    "interpolation",
    "l2_distance",
    "linear_comb",
    "multiplex",
    "out_prod",
    "power",
    "repeat",
    "resize",
    "row_l2_norm",
    "sampling_id",
    "scaling",
    "slope_intercept",
    "sum_to_one_norm",
    "trans",
]

Extra = ExtraLayerAttribute | None


def cos_sim(
    a: Layer,
    b: Layer,
    scale: float = 1,
    size: int = 1,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """``scale`` times the cosine of the angle between the rows of ``a`` and ``b``.

    With ``size`` more than 1 a row of ``b`` is so many vectors of the size of ``a``, with a cosine for each.
    """
    name = name or default_name("cos_sim")
    if a.size * size != b.size:
        raise WrongCall(f"layer {name!r} compares {a!r} with {size} of its size, which {b!r} does not have")
    type = "cos" if size == 1 else "cos_vm"
    return _of(type, name, [a, b], size, layer_attr, cos_scale=scale)


def interpolation(
    input: Sequence[Layer], weight: Layer, name: str | None = None, layer_attr: Extra = None
) -> Layer:
    """weight * first + (1 - weight) * second, of the two layers of ``input``; a row has one weight."""
    name = name or default_name("interpolation_layer")
    pair = listed(name, input)
    if len(pair) != 2 or pair[0].size != pair[1].size:
        raise WrongCall(f"layer {name!r} is between two layers of one size, not {pair}")
    return _of("interpolation", name, [_one(name, weight), *pair], pair[0].size, layer_attr)


def scaling(input: Layer, weight: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """weight * input; a row has one weight."""
    name = name or default_name("scaling_layer")
    return _of("scaling", name, [_one(name, weight), input], input.size, layer_attr)


def power(input: Layer, weight: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """input to the power of weight; a row has one weight."""
    name = name or default_name("power_layer")
    return _of("power", name, [_one(name, weight), input], input.size, layer_attr)


def sum_to_one_norm(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The input over the sum of its row."""
    name = name or default_name("sum_to_one_norm_layer")
    return _of("sum_to_one_norm", name, [input], input.size, layer_attr)


def row_l2_norm(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The input over the length of its row."""
    name = name or default_name("row_l2_norm_layer")
    return _of("row_l2_norm", name, [input], input.size, layer_attr)


def l2_distance(x: Layer, y: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The distance between the rows of two layers."""
    name = name or default_name("l2_distance_layer")
    return _of("l2_distance", name, _alike(name, x, y), 1, layer_attr)


def dot_prod(input1: Layer, input2: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The product of the rows of two layers, as vectors: one number."""
    name = name or default_name("dot_prod_layer")
    return _of("dot_prod", name, _alike(name, input1, input2), 1, layer_attr)


def out_prod(input1: Layer, input2: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The product of every column of the first with every one of the second, the first slowest."""
    name = name or default_name("out_prod_layer")
    return _of("out_prod", name, [input1, input2], input1.size * input2.size, layer_attr)


def conv_shift(a: Layer, b: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """Each column of ``a`` and its neighbours, around the ends, weighed by the columns of ``b``.

    The size of ``b`` is odd: its middle column is of the column itself.
    """
    name = name or default_name("conv_shift_layer")
    if b.size % 2 == 0:
        raise WrongCall(f"layer {name!r}: {b!r} is of the neighbours on either side and one: its size is odd")
    if b.size > a.size:
        raise WrongCall(f"layer {name!r}: {b!r} weighs more columns than {a!r} has")
    return _of("conv_shift", name, [a, b], a.size, layer_attr)


def linear_comb(
    weights: Layer, vectors: Layer, size: int | None = None, name: str | None = None, layer_attr: Extra = None
) -> Layer:
    """The sum of vectors, each times its weight: a row of ``vectors`` is as many as there are weights."""
    name = name or default_name("linear_comb_layer")
    width, rest = divmod(vectors.size, weights.size)
    if rest or size not in (None, width):
        raise WrongCall(f"layer {name!r}: {vectors!r} is not {weights.size} vectors of one size ({size})")
    return _of("convex_comb", name, [weights, vectors], width, layer_attr)


convex_comb = linear_comb


def slope_intercept(
    input: Layer,
    name: str | None = None,
    slope: float = 1.0,
    intercept: float = 0.0,
    layer_attr: Extra = None,
) -> Layer:
    """slope * input + intercept."""
    name = name or default_name("slope_intercept_layer")
    (source,) = listed(name, input)
    return _of("slope_intercept", name, [source], source.size, layer_attr, slope=slope, intercept=intercept)


def clip(input: Layer, min: float, max: float, name: str | None = None) -> Layer:
    """The input, held between ``min`` and ``max``."""
    name = name or default_name("clip")
    if not min < max:
        raise WrongCall(f"layer {name!r}: min={min} must be below max={max}")
    (source,) = listed(name, input)
    draft = Draft("clip", name, size=source.size)
    draft.read(dense(name, source))
    draft.config.inputs[0].clip_conf = ClipConfig(min=min, max=max)
    return draft.done()


def repeat(
    input: Layer,
    num_repeats: int,
    as_row_vector: bool = True,
    act: BaseActivation | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """All columns, ``num_repeats`` times; without ``as_row_vector`` the first so often, then the next."""
    name = name or default_name("repeat_layer")
    if num_repeats < 1:
        raise WrongCall(f"layer {name!r} repeats its input once or more, not {num_repeats} times")
    values = {} if as_row_vector else {"user_arg": "as_col_vec"}
    size = input.size * num_repeats
    return _of("featmap_expand", name, [input], size, layer_attr, act, num_filters=num_repeats, **values)


def trans(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """Rows become columns and columns rows: of a batch with as many rows as the input has columns."""
    return _of("trans", name or default_name("trans_layer"), [input], input.size, layer_attr)


def resize(input: Layer, size: int, name: str | None = None) -> Layer:
    """All numbers of a batch one after another, in rows of ``size``."""
    return _of("resize", name or default_name("resize"), [input], size, None)


def multiplex(input: Sequence[Layer], name: str | None = None, layer_attr: Extra = None) -> Layer:
    """Of each row that of one layer: the ids of the first layer say of which, from 0 on for the second."""
    name = name or default_name("multiplex_layer")
    which, *others = listed(name, input)
    if len(others) < 2 or not gives_ids(which) or len({each.size for each in others}) > 1:
        raise WrongCall(
            f"layer {name!r} takes ids, and then two layers or more of one size: {[which, *others]}"
        )
    draft = Draft("multiplex", name, size=others[0].size, layer_attr=layer_attr)
    draft.read(which)
    for each in others:
        draft.read(dense(name, each))
    return draft.done()


def sampling_id(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """A column of each row, drawn with the probabilities that stand in it."""
    return _of("sampling_id", name or default_name("sampling_id_layer"), [input], input.size, layer_attr)


def _of(
    type: str,
    name: str,
    inputs: Sequence[Layer],
    size: int,
    layer_attr: Extra,
    act: BaseActivation | None = None,
    **values: Any,
) -> Layer:
    draft = Draft(type, name, size=size, act=act or Identity(), layer_attr=layer_attr)
    for each in inputs:
        (source,) = listed(name, each)
        draft.read(dense(name, source))
    return draft.done(**values)


def _one(name: str, weight: Layer) -> Layer:
    (layer,) = listed(name, weight)
    if layer.size != 1:
        raise WrongCall(f"layer {name!r}: a row has one weight, and {layer!r} has size {layer.size}")
    return layer


def _alike(name: str, first: Layer, second: Layer) -> list[Layer]:
    if first.size != second.size:
        raise WrongCall(f"layer {name!r} takes two layers of one size, not {first!r} and {second!r}")
    return [first, second]
