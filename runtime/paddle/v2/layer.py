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
from typing import TYPE_CHECKING, Any

from paddle._absent import absent
from paddle.v2._costs import (
    classification_cost,
    cross_entropy_cost,
    mse_cost,
    multi_binary_label_cross_entropy_cost,
    regression_cost,
    square_error_cost,
    sum_cost,
)
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._images import batch_norm, img_conv, img_pool
from paddle.v2._later import IMAGE_LAYERS, OTHER_LAYERS, SEQUENCE_LAYERS
from paddle.v2._projection import (
    MixedLayer,
    Projection,
    context_projection,
    dotmul_projection,
    full_matrix_projection,
    identity_projection,
    table_projection,
)
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
from paddle.v2.activation import BaseActivation, Identity, Tanh
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
    "classification_cost",
    "concat",
    "context_projection",
    "cross_entropy_cost",
    "data",
    "dotmul_projection",
    "dropout",
    "embedding",
    "expand",
    "fc",
    "first_seq",
    "full_matrix_projection",
    "grumemory",
    "identity_projection",
    "img_conv",
    "img_pool",
    "last_seq",
    "lstmemory",
    "max_id",
    "mixed",
    "mse_cost",
    "multi_binary_label_cross_entropy_cost",
    "parse_network",
    "pooling",
    "regression_cost",
    "seq_concat",
    "slope_intercept",
    "square_error_cost",
    "sum_cost",
    "table_projection",
]

LayerOutput = Layer
Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None


def data(
    name: str,
    type: InputType,
    height: int | None = None,
    width: int | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A slot of the data that a reader yields, by name."""
    if not isinstance(type, InputType):
        raise TypeError(f"data layer {name!r}: type is one of paddle.data_type, such as dense_vector(13)")
    draft = Draft("data", name, size=type.dim, layer_attr=layer_attr)
    layer = draft.done(**{key: value for key, value in {"height": height, "width": width}.items() if value})
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
    for each, attr in zip(inputs, _attributes(name, param_attr, inputs), strict=True):
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
    input: Projection | Sequence[Projection] | None = None,
    name: str | None = None,
    act: BaseActivation | None = None,
    bias_attr: Bias = False,
    layer_attr: Extra = None,
) -> MixedLayer:
    """The sum of projections, then act. Without ``input``: ``with mixed(size=8) as m: m += a_projection``."""
    draft = Draft(
        "mixed", name or default_name("mixed"), size=size, act=act or Identity(), layer_attr=layer_attr
    )
    layer = MixedLayer(draft, bias_attr)
    if input is None:
        return layer
    with layer:
        for projection in [input] if isinstance(input, Projection) else input:
            layer += projection
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
        raise TypeError(f"layer {name!r}: concat takes layers or projections, not both at once")
    draft = Draft("concat2" if projections else "concat", name, act=act or Identity(), layer_attr=layer_attr)
    for projection in projections:
        draft.size += projection.add_to(draft, 0)
    for each in [] if projections else listed(name, inputs):
        draft.read(dense(name, each))
        draft.size += each.size
    draft.bias(bias_attr, by_default=False)
    return draft.done()


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
        raise ValueError(f"layer {name!r} adds layers of unequal sizes: {inputs}")
    draft = Draft("addto", name, size=inputs[0].size, act=act or Identity(), layer_attr=layer_attr)
    for each in inputs:
        draft.read(each)
    draft.bias(bias_attr, by_default=False)
    layer = draft.done(**{side: value for side in ("height", "width") if (value := _common(inputs, side))})
    layer.num_filters = next((each.num_filters for each in inputs if each.num_filters), None)
    return layer


def _common(inputs: Sequence[Layer], side: str) -> int:
    """The side that all images have, 0 where there is none."""
    sides = {int(getattr(each.config, side)) for each in inputs}
    return sides.pop() if len(sides) == 1 else 0


def dropout(input: Layer, dropout_rate: float, name: str | None = None) -> Layer:
    """The input, a share of it set to 0 in training, and times 1 - ``dropout_rate`` in a test."""
    attr = ExtraLayerAttribute(drop_rate=dropout_rate)
    return addto(input=input, name=name or default_name("dropout"), layer_attr=attr)


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
    draft = Draft("slope_intercept", name, size=source.size, layer_attr=layer_attr)
    draft.read(dense(name, source))
    return draft.done(slope=slope, intercept=intercept)


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


def _attributes(
    name: str, given: ParameterAttribute | Sequence[ParameterAttribute] | None, inputs: Sequence[Layer]
) -> Sequence[ParameterAttribute | None]:
    """One attribute for each input."""
    if given is None or isinstance(given, ParameterAttribute):
        if given is not None and given.name and len(inputs) > 1:
            raise ValueError(
                f"layer {name!r} has {len(inputs)} inputs: give param_attr as a list, a name for each (one "
                "name would make all their weights one)"
            )
        return [given] * len(inputs)
    if len(given) != len(inputs):
        raise ValueError(f"layer {name!r} has {len(inputs)} inputs and {len(given)} param_attr")
    return given


def _stand_ins() -> dict[str, Any]:
    needs = {
        "it comes in a later release": SEQUENCE_LAYERS,
        "images and convolution come in a later release": IMAGE_LAYERS,
        "its operator comes in a later release": OTHER_LAYERS,
    }
    return {name: absent(f"paddle.layer.{name}", need) for need, names in needs.items() for name in names}


globals().update(_stand_ins())
