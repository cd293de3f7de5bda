"""Lowering: from layers to the operators of the engine.

It must never know where a configuration came from (a program just written, or a file) nor run anything.
Guarantee: one configuration always gives one program, whose parameters are the configuration's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._engine.builder import Builder
from paddle._engine.initial import Constant, Normal, Uniform
from paddle._engine.program import Parameter, Program, Variable
from paddle.v2._config import LayerConfig, ModelConfig, ParameterConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.arithmetic import ARITHMETIC_RULES
from paddle.v2._lowering.boxes import BOX_RULES
from paddle.v2._lowering.costs import COST_RULES, COSTS, LIMITS, TAG_RULES
from paddle.v2._lowering.entries import entries_fed, product, spread
from paddle.v2._lowering.groups import lower_group
from paddle.v2._lowering.images import IMAGE_RULES, with_shared_bias
from paddle.v2._lowering.maps import MAP_RULES
from paddle.v2._lowering.moments import MOMENT_RULES
from paddle.v2._lowering.output import OFFSETS, OUTER, Output
from paddle.v2._lowering.pieces import PIECE_RULES
from paddle.v2._lowering.pixels import PIXEL_RULES
from paddle.v2._lowering.projections import mixed, side_by_side
from paddle.v2._lowering.sequences import SEQUENCE_RULES
from paddle.v2._lowering.volumes import VOLUME_RULES
from paddle.v2.data_type import DataType, InputType, SequenceType

Array = np.ndarray
_UNIFORM = 1
_OF_IMAGES = 4
"""The axes of images as they are fed: (n, channels, height, width)."""
_ACTIVATIONS = {
    **{name: name for name in ("tanh", "sigmoid", "softmax", "relu", "brelu", "stanh", "abs", "square")},
    **{name: name for name in ("log", "sqrt", "reciprocal", "softsign")},
    "exponential": "exp",
    "softrelu": "soft_relu",
}


class Network:
    """The program of a configuration. ``outputs``: what each layer gives, by name.

    ``open``: the data layers that are fed images as large as a batch has them, with the channels of each;
    ``images``: those that are read as images, with channels, height and width.
    """

    def __init__(
        self, config: ModelConfig, data_types: Mapping[str, InputType], open: Mapping[str, int] = {}
    ) -> None:
        self.config = config
        self.builder = Builder()
        self.outputs: dict[str, Output] = {}
        self.data_types = data_types
        self.images: dict[str, tuple[int, int, int]] = {}
        self._open = open
        self._configs: dict[str, ParameterConfig] = {each.name: each for each in config.parameters}
        self._layers: dict[str, LayerConfig] = {each.name: each for each in config.layers}
        inside = {name for each in config.sub_models[1:] for name in each.layer_names}
        for layer in config.layers:
            if layer.name not in inside:
                self.lower(layer)

    def inside(self, builder: Builder) -> Network:
        """A network of the same layers, of which a group's own are lowered in ``builder``."""
        inner = Network.__new__(Network)
        vars(inner).update(vars(self), builder=builder, outputs={})
        return inner

    def layer(self, name: str) -> LayerConfig:
        """The configuration of the layer of that name."""
        return self._layers[name]

    def has(self, name: str) -> bool:
        """Whether there is a layer of that name."""
        return name in self._layers

    def lower(self, layer: LayerConfig) -> None:
        """Append what a layer computes."""
        if layer.type == "recurrent_layer_group":
            lower_group(self, layer)
        elif layer.type not in ("gather_agent", "print"):  # its output came with its group's; it has none
            made = self._lower(layer)
            if layer.type in COSTS and layer.coeff != 1 and layer.name not in self.config.output_layer_names:
                made = replace(made, value=self._returning(made.value, layer.coeff))
            self.outputs[layer.name] = made

    @property
    def program(self) -> Program:
        """The program, so far."""
        return self.builder.program

    def value(self, layer: str) -> Variable:
        """What the layer of that name gives to compute with."""
        output = self.outputs[layer]
        if output.value is None and output.entries is not None:
            output = self.outputs[layer] = replace(output, value=spread(self, output.entries))
        if (found := output.value) is None:
            raise WrongCall(f"layer {layer!r} gives integer ids, where numbers to compute with are needed")
        return found

    def opened(self, feed: Mapping[str, Array]) -> Network:
        """The network of these layers for the images that are fed: itself, where they are of its sizes."""
        found = {name: feed[name].shape[1] for name in self.images if feed[name].ndim == _OF_IMAGES}
        if found.keys() <= self._open.keys():
            return self
        return Network(self.config, self.data_types, {**self._open, **found})

    def fitted(self, feed: Mapping[str, Array]) -> Mapping[str, Array]:
        """A feed of which images of declared sizes are images, too, where these are open."""
        rows = [name for name in self._open if feed[name].ndim != _OF_IMAGES]
        return (
            {**feed, **{name: feed[name].reshape(-1, *self.images[name]) for name in rows}} if rows else feed
        )

    def image(self, layer: str, channels: int, height: int, width: int) -> Variable:
        """What a layer gives as images, (n, channels, height, width), of these sizes or of those that a feed
        has decided."""
        value, frame = self.value(layer), self.outputs[layer].frame
        type = self.data_types.get(layer)
        if type and type.seq_type == SequenceType.NO_SEQUENCE and type.type == DataType.Dense:
            self.images.setdefault(layer, (channels, height, width))
        if frame is None:
            return self.builder.op("reshape", {"shape": (-1, channels, height, width)}, X=value)
        return self.builder.op("reshape_by", {"sizes": (-1, channels, (0, 2), (0, 3))}, X=value, Like=[frame])

    def check_closed(self, layer: LayerConfig) -> None:
        """Refuse images of other sizes than declared: windows or boxes of the layer follow from these."""
        for each in layer.inputs:
            if self.outputs[each.input_layer_name].frame is not None:
                raise NotInThisRelease(
                    f"layer {layer.name!r} ({layer.type}) sees images of the size that their data layer "
                    f"declares, and {each.input_layer_name!r} has others: resize them before they are fed "
                    "(paddle.image), or declare the height and width that they have"
                )

    def pictured(self, layer: LayerConfig, found: Variable, **others: Variable) -> Output:
        """Images that a layer gives, (n, channels, height, width), as rows."""
        runs = self.runs_read(layer)
        if -1 in found.shape[2:]:
            flat = self.builder.op("flatten", {"start": 1, "stop": _OF_IMAGES}, X=found)
            return Output(flat, runs=runs, others=others, frame=found)
        flat = self.builder.op("reshape", {"shape": (-1, layer.size)}, X=found)
        return Output(flat, runs=runs, others=others)

    def ids(self, layer: str) -> Variable:
        """The integers that the layer of that name gives."""
        found = self.outputs[layer].id
        if found is None:
            raise WrongCall(f"layer {layer!r} gives numbers, where integer ids are needed")
        return found

    def runs(self, layer: str, reader: str) -> tuple[Variable, ...]:
        """Which rows of a layer are one sequence, of which ``reader`` needs them."""
        found = self.outputs[layer].runs
        if not found:
            raise WrongCall(
                f"layer {reader!r} works on sequences, and {layer!r} gives none: data layers of sequences "
                "have a type such as integer_value_sequence"
            )
        return found

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name."""
        config = self._configs[name]
        return self.builder.parameter(
            name,
            config.dims,
            initializer(config),
            is_static=config.is_static,
            sparse=config.sparse_update,
            learning_rate=config.learning_rate,
            momentum=_own(config, "momentum"),
            l1_rate=_own(config, "decay_rate_l1"),
            l2_rate=_own(config, "decay_rate"),
            gradient_clipping_threshold=_own(config, "gradient_clipping_threshold"),
        )

    def sparsity_ratios(self) -> dict[str, float]:
        """Of the parameters that are pruned which share goes."""
        return {
            name: float(config.update_hooks[0].sparsity_ratio)
            for name, config in self._configs.items()
            if config.update_hooks
        }

    def _lower(self, layer: LayerConfig) -> Output:
        if layer.type == "data":
            return self._data(layer)
        if layer.type == "maxid":
            best = self.builder.ops("top_k", {"k": 1}, X=self.value(layer.inputs[0].input_layer_name))
            return Output(id=best["Indices"], prob=best["Out"], runs=self.runs_read(layer))
        if layer.type == "sampling_id":
            drawn = self.builder.op("sampling_id", X=self.value(layer.inputs[0].input_layer_name))
            return Output(id=drawn, runs=self.runs_read(layer))
        if layer.type in TAG_RULES:
            return TAG_RULES[layer.type](self, layer)
        if layer.type in MOMENT_RULES:
            made = MOMENT_RULES[layer.type](self, layer)
            return made if made.value is None else replace(made, value=self._bounded(layer, made.value))
        if layer.type in _WITH_RUNS:
            made = _WITH_RUNS[layer.type](self, layer)
            assert made.value is not None
            return replace(made, value=self._finished(layer, made.value, made.runs))
        rule = _LAYERS.get(layer.type)
        if rule is None:
            raise NotInThisRelease(
                f"layer {layer.name!r} is of type {layer.type!r}, which this release does not have"
            )
        runs = self.runs_read(layer)
        return Output(value=self._finished(layer, rule(self, layer), runs), runs=runs)

    def runs_read(self, layer: LayerConfig) -> tuple[Variable, ...]:
        """The sequences of what works on each row by itself: those of the first input that has any."""
        found = (self.outputs[each.input_layer_name].runs for each in layer.inputs)
        return next((runs for runs in found if runs), ())

    def _data(self, layer: LayerConfig) -> Output:
        type = self.data_types[layer.name]
        names = {
            SequenceType.NO_SEQUENCE: (),
            SequenceType.SEQUENCE: (layer.name + OFFSETS,),
            SequenceType.SUB_SEQUENCE: (layer.name + OUTER, layer.name + OFFSETS),
        }[type.seq_type]
        if type.type == DataType.Index:
            made = Output(id=self.builder.data(layer.name, (-1, 1), "int64"))
        elif layer.name in self._open:
            fed = self.builder.data(layer.name, (-1, self._open[layer.name], -1, -1))
            made = Output(self.builder.op("flatten", {"start": 1, "stop": _OF_IMAGES}, X=fed), frame=fed)
        elif type.type == DataType.Dense:
            made = Output(value=self.builder.data(layer.name, (-1, layer.size)))
        else:
            made = Output(entries=entries_fed(self, layer.name, layer.size))
        return replace(made, runs=tuple(self.builder.data(name, (-1,), "int64") for name in names))

    def _finished(self, layer: LayerConfig, value: Variable, runs: tuple[Variable, ...]) -> Variable:
        """Bias, activation, dropout and a bound on what comes back, which most layers may have."""
        op = self.builder.op
        if layer.bias_parameter_name and layer.type not in _WITH_BIAS_INSIDE:
            value = self._biased(layer, value)
        if layer.active_type == "sequence_softmax":
            if not runs:
                raise WrongCall(f"layer {layer.name!r}: SequenceSoftmax is over the rows of a sequence")
            value = op("sequence_softmax", X=value, Offsets=runs[-1])
        elif layer.active_type and layer.type != "nce":  # which has it inside, too
            value = self.activated(layer.name, layer.active_type, value)
        return self._bounded(layer, value)

    def _bounded(self, layer: LayerConfig, value: Variable) -> Variable:
        """Dropout, and a bound on what comes back."""
        op = self.builder.op
        if layer.drop_rate:
            place = list(self._layers).index(layer.name)  # the same for images of any size
            value = op("dropout", {"dropout_prob": layer.drop_rate, "draws_as": f"layer {place}"}, X=value)
        if layer.error_clipping_threshold:
            bound = layer.error_clipping_threshold
            value = op("clip_error", {"min": -bound, "max": bound}, X=value)
        return value

    def _returning(self, cost: Variable | None, coeff: float) -> Variable:
        """A cost that other layers read, or that is beside: what comes back to it is multiplied."""
        op = self.builder.op
        rest = op("clip_error", {"min": 0.0, "max": 0.0}, X=op("scale", {"scale": 1 - coeff}, X=cost))
        return op("sum", X=[op("scale", {"scale": coeff}, X=cost), rest])

    def _biased(self, layer: LayerConfig, value: Variable) -> Variable:
        op = self.builder.op
        if not layer.shared_biases:
            return op("elementwise_add", X=value, Y=self.parameter(layer.bias_parameter_name))
        planes = {"shape": (-1, layer.bias_size, layer.size // layer.bias_size)}
        found = with_shared_bias(self, layer, op("reshape", planes, X=value))
        return op("reshape", {"shape": (-1, layer.size)}, X=found)

    def activated(self, layer: str, activation: str, value: Variable) -> Variable:
        """A value after an activation of that name, which may be none."""
        if not activation:
            return value
        found = _ACTIVATIONS.get(activation)
        if found is None:
            raise NotInThisRelease(f"layer {layer!r} has the activation {activation!r}, not in this release")
        return self.builder.op(found, LIMITS if found == "sigmoid" else {}, X=value)

    def summed(self, parts: list[Variable]) -> Variable:
        """The sum of one variable or more."""
        return parts[0] if len(parts) == 1 else self.builder.op("sum", X=parts)


def initializer(config: ParameterConfig) -> Callable[..., Any]:
    """How a parameter starts, as the engine's initializer."""
    if config.initial_strategy == _UNIFORM:
        return Uniform(config.initial_mean - config.initial_std, config.initial_mean + config.initial_std)
    return (
        Normal(config.initial_mean, config.initial_std)
        if config.initial_std
        else Constant(config.initial_mean)
    )


def _own(config: ParameterConfig, field: str) -> float | None:
    """A parameter's own rate, None where it was not given and the optimizer's holds."""
    return float(getattr(config, field)) if config.HasField(field) else None


def _fc(net: Network, layer: LayerConfig) -> Variable:
    return net.summed(
        [product(net, each.input_layer_name, each.input_parameter_name) for each in layer.inputs]
    )


def _concat(net: Network, layer: LayerConfig) -> Variable:
    return net.builder.op("concat", X=[net.value(each.input_layer_name) for each in layer.inputs])


def _addto(net: Network, layer: LayerConfig) -> Variable:
    return net.summed([net.value(each.input_layer_name) for each in layer.inputs])


_LAYERS: dict[str, Callable[[Network, LayerConfig], Variable]] = {
    "fc": _fc,
    "mixed": mixed,
    "concat": _concat,
    "concat2": side_by_side,
    "addto": _addto,
    **ARITHMETIC_RULES,
    **COST_RULES,
    **VOLUME_RULES,
}
_WITH_RUNS = {**SEQUENCE_RULES, **PIECE_RULES, **BOX_RULES, **IMAGE_RULES, **MAP_RULES, **PIXEL_RULES}
_WITH_BIAS_INSIDE = frozenset({*IMAGE_RULES, *VOLUME_RULES, "selective_fc", "nce", "hsigmoid"})
