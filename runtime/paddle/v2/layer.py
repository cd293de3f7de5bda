"""Layers: how a program writes down a network.

    words = paddle.layer.data(name="words", type=paddle.data_type.dense_vector(1000))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(10))
    hidden = paddle.layer.fc(input=words, size=200)
    predicted = paddle.layer.fc(input=hidden, size=10, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=predicted, label=label)

Calling a layer function computes nothing: it returns a :class:`Layer` that says what it reads. It must never
know values or programs. Guarantee: sizes are checked here, where the layer is written, and names are those of
the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle.v2._draft import Draft, attribute_alone, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers import arithmetic as _arithmetic
from paddle.v2._layers import beams as _beams
from paddle.v2._layers import boxes as _boxes
from paddle.v2._layers import classes as _classes
from paddle.v2._layers import convolutions as _convolutions
from paddle.v2._layers import costs as _costs
from paddle.v2._layers import generation as _generation
from paddle.v2._layers import groups as _groups
from paddle.v2._layers import learned as _learned
from paddle.v2._layers import maps as _maps
from paddle.v2._layers import moments as _moments
from paddle.v2._layers import pieces as _pieces
from paddle.v2._layers import pixels as _pixels
from paddle.v2._layers import printing as _printing
from paddle.v2._layers import projections as _projections
from paddle.v2._layers import tags as _tags
from paddle.v2._layers import volumes as _volumes
from paddle.v2._layers.arithmetic import *  # noqa: F403
from paddle.v2._layers.beams import *  # noqa: F403
from paddle.v2._layers.boxes import *  # noqa: F403
from paddle.v2._layers.classes import *  # noqa: F403
from paddle.v2._layers.convolutions import *  # noqa: F403
from paddle.v2._layers.costs import *  # noqa: F403
from paddle.v2._layers.generation import *  # noqa: F403
from paddle.v2._layers.groups import *  # noqa: F403
from paddle.v2._layers.images import batch_norm, img_pool
from paddle.v2._layers.learned import *  # noqa: F403
from paddle.v2._layers.learned import each_attribute
from paddle.v2._layers.maps import *  # noqa: F403
from paddle.v2._layers.moments import *  # noqa: F403
from paddle.v2._layers.pieces import *  # noqa: F403
from paddle.v2._layers.pixels import *  # noqa: F403
from paddle.v2._layers.printing import *  # noqa: F403
from paddle.v2._layers.projections import *  # noqa: F403
from paddle.v2._layers.projections import MixedLayer, Operator, Projection, table_projection
from paddle.v2._layers.tags import *  # noqa: F403
from paddle.v2._layers.volumes import *  # noqa: F403
from paddle.v2._sequences import (
    AggregateLevel,
    ExpandLevel,
    expand,
    first_seq,
    grumemory,
    last_seq,
    lstmemory,
    pooling,
    seq_concat,
)
from paddle.v2.activation import BaseActivation, Identity, Sigmoid, Tanh
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.data_type import InputType

if TYPE_CHECKING:
    from paddle.v2._config import ModelConfig

__all__ = [
    "AggregateLevel",
    "ExpandLevel",
    "LayerOutput",
    "addto",
    "batch_norm",
    "concat",
    "data",
    "dropout",
    "embedding",
    "expand",
    "fc",
    "first_seq",
    "gated_unit",
    "grumemory",
    "img_pool",
    "last_seq",
    "lstmemory",
    "max_id",
    "mixed",
    "parse_network",
    "pooling",
    "seq_concat",
]
__all__ += _arithmetic.__all__
__all__ += _beams.__all__
__all__ += _boxes.__all__
__all__ += _classes.__all__
__all__ += _convolutions.__all__
__all__ += _costs.__all__
__all__ += _generation.__all__
__all__ += _groups.__all__
__all__ += _learned.__all__
__all__ += _maps.__all__
__all__ += _moments.__all__
__all__ += _pieces.__all__
__all__ += _pixels.__all__
__all__ += _printing.__all__
__all__ += _projections.__all__
__all__ += _tags.__all__
__all__ += _volumes.__all__

LayerOutput = Layer
Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None


def data(
    name: str,
    type: InputType,
    height: int | None = None,
    width: int | None = None,
    layer_attr: Extra = None,
    depth: int | None = None,
) -> Layer:
    """A slot of the data that a reader yields, by name."""
    if not isinstance(type, InputType):
        raise WrongCall(f"data layer {name!r}: type is one of paddle.data_type, such as dense_vector(13)")
    draft = Draft("data", name, size=type.dim, layer_attr=layer_attr)
    sides = {"height": height, "width": width, "depth": depth}
    layer = draft.done(**{key: value for key, value in sides.items() if value})
    layer.data_type = type
    return layer


def fc(
    input: Layer | Sequence[Layer],
    size: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    param_attr: ParameterAttribute | Sequence[ParameterAttribute] | None = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
) -> Layer:
    """Fully connected: act(sum of input x weight, plus bias); act is Tanh where none is given.

    Several inputs have a weight each, with one ``param_attr`` for all or a list of one for each. The weight
    of a data layer of a sparse type may have ``sparse_update``: of it a batch then updates the rows that it
    names. ``bias_attr=False`` leaves the bias out.
    """
    name = name or default_name("fc_layer")
    inputs = listed(name, input)
    draft = Draft("fc", name, size=size, act=act or Tanh(), layer_attr=layer_attr)
    for each, attr in zip(inputs, each_attribute(name, param_attr, inputs), strict=True):
        draft.read(dense(name, each), attr, [each.size, draft.size])
    draft.bias(bias_attr, by_default=True)
    return draft.done()


def embedding(
    input: Layer,
    size: int,
    name: str | None = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A vector of ``size`` for each integer of the input, out of a table that is learned."""
    projection = table_projection(input=input, size=size, param_attr=param_attr)
    return mixed(size=size, input=projection, name=name or default_name("embedding"), layer_attr=layer_attr)


def mixed(
    size: int = 0,
    input: Projection | Operator | Sequence[Projection | Operator] | None = None,
    name: str | None = None,
    act: BaseActivation | None = None,
    bias_attr: Bias = False,
    layer_attr: Extra = None,
) -> MixedLayer:
    """The sum of projections and operators, then act.

    Without ``input``: ``with mixed(size=8) as m: m += a_projection``.
    """
    draft = Draft(
        "mixed", name or default_name("mixed"), size=size, act=act or Identity(), layer_attr=layer_attr
    )
    layer = MixedLayer(draft, bias_attr)
    if input is None:
        return layer
    with layer:
        for part in [input] if isinstance(input, Projection | Operator) else input:
            layer += part
    return layer


def concat(
    input: Layer | Projection | Sequence[Layer] | Sequence[Projection],
    act: BaseActivation | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
    bias_attr: Bias = None,
) -> Layer:
    """The inputs' columns, or those of projections, side by side; then act."""
    name = name or default_name("concat")
    inputs = [input] if isinstance(input, Layer | Projection) else list(input)
    projections = [each for each in inputs if isinstance(each, Projection)]
    if projections and len(projections) < len(inputs):
        raise WrongCall(f"layer {name!r}: concat takes layers or projections, not both at once")
    draft = Draft("concat2" if projections else "concat", name, act=act or Identity(), layer_attr=layer_attr)
    for projection in projections:
        draft.size += projection.add_to(draft, 0)
    for each in [] if projections else listed(name, inputs):
        draft.read(dense(name, each))
        draft.size += each.size
    bias = attribute_alone(bias_attr)
    if projections:
        return draft.done(**_projections.add_bias(draft, bias, projections))
    draft.bias(bias, by_default=False)
    return draft.done(**_sides(listed(name, inputs)))


def addto(
    input: Layer | Sequence[Layer],
    act: BaseActivation | None = None,
    name: str | None = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
) -> Layer:
    """The sum of inputs of one size, then act; a bias only where ``bias_attr`` asks for it."""
    name = name or default_name("addto")
    inputs = [dense(name, each) for each in listed(name, input)]
    if len({each.size for each in inputs}) > 1:
        raise WrongCall(f"layer {name!r} adds layers of unequal sizes: {inputs}")
    draft = Draft("addto", name, size=inputs[0].size, act=act or Identity(), layer_attr=layer_attr)
    for each in inputs:
        draft.read(each)
    draft.bias(bias_attr, by_default=False)
    layer = draft.done(**_sides(inputs))
    layer.num_filters = next((each.num_filters for each in inputs if each.num_filters), None)
    return layer


def _sides(inputs: Sequence[Layer]) -> dict[str, int]:
    """The sides that all images have."""
    found = {side: {int(getattr(each.config, side)) for each in inputs} for side in ("height", "width")}
    return {side: min(sides) for side, sides in found.items() if len(sides) == 1 and min(sides)}


def dropout(input: Layer, dropout_rate: float, name: str | None = None) -> Layer:
    """The input, a share of it set to 0 in training, and times 1 - ``dropout_rate`` in a test."""
    attr = ExtraLayerAttribute(drop_rate=dropout_rate)
    return addto(input=input, name=name or default_name("dropout"), layer_attr=attr)


def gated_unit(
    input: Layer,
    size: int,
    act: BaseActivation | None = None,
    name: str | None = None,
    gate_attr: Extra = None,
    gate_param_attr: ParameterAttribute | None = None,
    gate_bias_attr: Bias = True,
    inproj_attr: Extra = None,
    inproj_param_attr: ParameterAttribute | None = None,
    inproj_bias_attr: Bias = True,
    layer_attr: Extra = None,
) -> Layer:
    """A layer of the input, and beside it one with Sigmoid that says how much of each column goes on."""
    name = name or default_name("gated_unit_layer")
    seen = fc(
        input=input,
        size=size,
        act=act or Identity(),
        name=f"{name}_input_proj",
        param_attr=inproj_param_attr,
        bias_attr=inproj_bias_attr,
        layer_attr=inproj_attr,
    )
    gate = fc(
        input=input,
        size=size,
        act=Sigmoid(),
        name=f"{name}_gate",
        param_attr=gate_param_attr,
        bias_attr=gate_bias_attr,
        layer_attr=gate_attr,
    )
    product = _projections.dotmul_operator(seen, gate)
    return mixed(name=f"{name}_gated_act", input=product, layer_attr=layer_attr)


def max_id(input: Layer, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """The column with the greatest value: ``infer(field="id")`` gives it, ``field="prob"`` its value."""
    name = name or default_name("maxid_layer")
    (source,) = listed(name, input)
    draft = Draft("maxid", name, size=source.size, layer_attr=layer_attr)
    draft.read(dense(name, source))
    return draft.done()


def parse_network(
    output_layers: Layer | Sequence[Layer], extra_layers: Layer | Sequence[Layer] | None = None
) -> ModelConfig:
    """The configuration of the network that leads to these layers."""
    from paddle.v2.topology import Topology  # it is made of layers

    return Topology(output_layers, extra_layers=extra_layers).proto()
