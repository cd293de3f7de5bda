"""Layers with weights of a shape of their own: products of columns, slopes, gates and selections.

They must never know how they are computed. Guarantee: shapes of parameters are the original's.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._absent import NotInThisRelease
from paddle.v2._config import RowConvConfig
from paddle.v2._draft import Draft, dense, is_sparse, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import channels_of
from paddle.v2.activation import BaseActivation, Linear, Tanh
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["factorization_machine", "prelu", "row_conv", "scale_shift", "selective_fc", "tensor"]

Param = ParameterAttribute | None
Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None


def factorization_machine(
    input: Layer,
    factor_size: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    param_attr: Param = None,
    layer_attr: Extra = None,
) -> Layer:
    """The sum over every two columns of their product, times that of the vectors learned for the two.

    These are of ``factor_size``, a row of the parameter for each column.
    """
    name = name or default_name("factorization_machine")
    (source,) = listed(name, input)
    draft = Draft("factorization_machine", name, size=1, act=act or Linear(), layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [source.size, factor_size])
    return draft.done(factor_size=factor_size)


def selective_fc(
    input: Layer | Sequence[Layer],
    size: int,
    select: Layer | None = None,
    act: BaseActivation | None = None,
    name: str | None = None,
    pass_generation: bool = False,
    has_selected_colums: bool = True,
    mul_ratio: float = 0.02,
    param_attr: Param | Sequence[Param] = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
) -> Layer:
    """``fc`` of which each sample computes the columns alone that its row of ``select`` names.

    What comes out has these columns, one beside the other: every sample names as many, and a label is the
    number of the right one among them. Without ``select``, or with ``has_selected_colums=False``, it has all.
    A weight has a row for each column. ``mul_ratio`` is the original's: nothing depends on it.
    """
    name = name or default_name("selective_fc_layer")
    if pass_generation:
        raise NotInThisRelease(
            f"layer {name!r}: pass_generation, sparse rows for a search, is not in this release: search over "
            "an fc layer with the same parameter (trans_full_matrix_projection)"
        )
    inputs = listed(name, input)
    draft = Draft("selective_fc", name, size=size, act=act or Tanh(), layer_attr=layer_attr)
    for each, attr in zip(inputs, each_attribute(name, param_attr, inputs), strict=True):
        draft.read(dense(name, each), attr, [draft.size, each.size])
    selects = select is not None and has_selected_colums
    if select is not None and selects:
        (chosen,) = listed(name, select)
        if not is_sparse(chosen) or chosen.size != draft.size:
            raise WrongCall(
                f"layer {name!r}: select is a data layer of type sparse_binary_vector({size}), not {chosen!r}"
            )
        draft.read(chosen)
    draft.bias(bias_attr, by_default=True)
    return draft.done(has_selected_colums=selects)


def scale_shift(
    input: Layer, name: str | None = None, param_attr: Param = None, bias_attr: Bias = None
) -> Layer:
    """w * input + b, where w and b are one learned number each."""
    name = name or default_name("scale_shift")
    (source,) = listed(name, input)
    draft = Draft("scale_shift", name, size=source.size)
    draft.read(dense(name, source), param_attr, [1, 1])
    draft.bias(bias_attr, by_default=True, dims=[1, 1])
    return draft.done()


def prelu(
    input: Layer,
    name: str | None = None,
    partial_sum: int = 1,
    channel_shared: bool | None = None,
    num_channels: int | None = None,
    param_attr: Param = None,
    layer_attr: Extra = None,
) -> Layer:
    """The input where it is greater than 0, and where it is less a learned share of it, 0.25 at first.

    ``partial_sum`` columns that are neighbours share one; ``channel_shared``: all columns, or those of each
    channel of an image.
    """
    name = name or default_name("prelu_layer")
    (source,) = listed(name, input)
    channels = num_channels or source.num_filters
    if channel_shared is not None:
        channels = channels_of(name, source, num_channels)
        partial_sum = source.size if channel_shared else source.size // channels
    if partial_sum < 1 or source.size % partial_sum:
        raise WrongCall(f"layer {name!r}: {source.size} columns, not a multiple of partial_sum={partial_sum}")
    draft = Draft("prelu", name, size=source.size, layer_attr=layer_attr)
    attr = param_attr or ParameterAttribute(initial_mean=0.25, initial_std=0.0)
    draft.read(dense(name, source), attr, [1, source.size // partial_sum])
    layer = draft.done(partial_sum=partial_sum)
    layer.num_filters = channels
    layer.config.height, layer.config.width = source.config.height, source.config.width
    return layer


def tensor(
    a: Layer,
    b: Layer,
    size: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    param_attr: Param = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
) -> Layer:
    """a x W_i x b for each column i: a matrix of its own between the two, plus a bias; then act."""
    name = name or default_name("tensor_layer")
    (first,), (second,) = listed(name, a), listed(name, b)
    draft = Draft("tensor", name, size=size, act=act or Linear(), layer_attr=layer_attr)
    draft.read(dense(name, first), param_attr, [first.size, second.size, draft.size])
    draft.read(dense(name, second))
    draft.bias(bias_attr, by_default=True)
    return draft.done()


def row_conv(
    input: Layer,
    context_len: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    param_attr: Param = None,
    layer_attr: Extra = None,
) -> Layer:
    """Each element of a sequence and those behind it, ``context_len`` in all, times a weight per column."""
    name = name or default_name("row_conv_layer")
    if context_len < 1:
        raise WrongCall(f"layer {name!r} looks at one element or more, not at {context_len}")
    (source,) = listed(name, input)
    draft = Draft("row_conv", name, size=source.size, act=act or Linear(), layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [context_len, source.size])
    draft.config.inputs[0].row_conv_conf = RowConvConfig(context_length=context_len)
    return draft.done()


def each_attribute(
    name: str, given: Param | Sequence[Param], inputs: Sequence[Layer]
) -> Sequence[ParameterAttribute | None]:
    """One attribute for each input."""
    if given is None or isinstance(given, ParameterAttribute):
        if given is not None and given.name and len(inputs) > 1:
            raise WrongCall(
                f"layer {name!r} has {len(inputs)} inputs: give param_attr as a list, a name for each (one "
                "name would make all their weights one)"
            )
        return [given] * len(inputs)
    if len(given) != len(inputs):
        raise WrongCall(f"layer {name!r} has {len(inputs)} inputs and {len(given)} param_attr")
    return given
