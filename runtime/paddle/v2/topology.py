"""Topology: the network that leads to some layers.

It must never hold a value. Guarantee: layers stand in the order in which they were written, and so do the
data layers, which is the order in which a reader yields their slots unless ``feeding`` says otherwise.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import IO, Any

import msgspec

from paddle.v2._config import EvaluatorConfig, LayerConfig, ModelConfig, ParameterConfig, SubModelConfig
from paddle.v2._errors import WrongCall
from paddle.v2._text import binary
from paddle.v2.config_base import Initializer, Layer
from paddle.v2.data_type import ANY_INTEGER, DataType, InputType

__all__ = ["Topology"]

Layers = Layer | Sequence[Layer]
_GOLD = 2
"""Of the three layers that a BeamInput is made of, the right element's place."""


class Topology:
    """The network that leads to ``layers`` (its outputs) and ``extra_layers`` (computed beside them)."""

    def __init__(self, layers: Layers, extra_layers: Layers | None = None) -> None:
        outputs, extra = _listed(layers), _listed(_but_evaluators(extra_layers or []))
        self.layers = [*outputs, *extra]
        self._layers, self._own = _reachable(self.layers), _reachable(outputs)
        self.initializers: dict[str, Initializer] = {}
        self._config = self._configure(outputs)

    def proto(self) -> ModelConfig:
        """The network as a ModelConfig message."""
        return self._config

    def get_layer(self, name: str) -> Layer | None:
        """The layer of that name, or None."""
        return self._layers.get(name)

    def get_layer_proto(self, name: str) -> LayerConfig | None:
        """The configuration of the layer of that name, or None."""
        return self._layers[name].config if name in self._layers else None

    def data_layers(self) -> dict[str, Layer]:
        """The data layers by name."""
        return {name: layer for name, layer in self._layers.items() if layer.data_type is not None}

    def data_type(self) -> list[tuple[str, InputType]]:
        """Name and type of each data layer."""
        return [
            (layer.name, layer.data_type) for layer in self._layers.values() if layer.data_type is not None
        ]

    def fed_type(self) -> list[tuple[str, InputType]]:
        """The same as rows are read: integers that only count as numbers are not held below a width."""
        places = [(each.name, layer.layer_type, place) for layer, place, each in self._readings()]
        places += [
            (name, evaluator.type, place)
            for evaluator in self._config.evaluators
            for place, name in enumerate(evaluator.input_layers)
        ]
        named = {name for name, type, place in places if not _counts(type, place)}
        counted = {name for name, *_ in places} - named
        return [
            (
                name,
                replace(type, dim=ANY_INTEGER) if type.type == DataType.Index and name in counted else type,
            )
            for name, type in self.data_type()
        ]

    def beside(self, types: Container[str]) -> list[Layer]:
        """The layers of these types to which extra layers alone lead, but for those that are made of others
        of these types."""
        there = {name: each.layer_type in types and each.home is None for name, each in self._layers.items()}
        behind: set[str] = set()
        for layer, _, read in self._readings():
            if there[read.name] or read.name in behind:
                behind.add(layer.name)
        return [
            layer
            for name, layer in self._layers.items()
            if there[name] and name not in self._own and name not in behind
        ]

    def _readings(self) -> Iterator[tuple[Layer, int, Layer]]:
        """Each layer with each that it reads, and at which place."""
        for layer in self._layers.values():
            for place, parent in enumerate(layer.parents):
                yield layer, place, parent

    def use_sparse_updater(self) -> bool:
        """Whether a parameter is updated row by row."""
        return any(parameter.sparse_update for parameter in self._config.parameters)

    def serialize_for_inference(self, stream: IO[Any]) -> None:
        """Write the network for ``Inference(fileobj=...)``: its ModelConfig and data types, as msgpack, to a
        file that is open for writing (binary; text is written around)."""
        types = [(name, (type.dim, type.seq_type, type.type)) for name, type in self.data_type()]
        content = {"protobin": self._config.SerializeToString(), "data_type": types}
        binary(stream, "networks").write(msgspec.msgpack.encode(content))

    def _configure(self, outputs: Sequence[Layer]) -> ModelConfig:
        names = [name for name, layer in self._layers.items() if layer.home is None]
        groups = [layer.group.config for layer in self._layers.values() if layer.group is not None]
        inputs = [name for name, _ in self.data_type()]
        evaluators = self._evaluators()
        whole = SubModelConfig(
            name="root",
            layer_names=names,
            input_layer_names=inputs,
            output_layer_names=[layer.name for layer in outputs],
            evaluator_names=[evaluator.name for evaluator in evaluators],
            is_recurrent_layer_group=False,
        )
        return ModelConfig(
            type="recurrent_nn" if groups else "nn",
            layers=[layer.config for layer in self._layers.values()],
            parameters=self._parameters(),
            input_layer_names=inputs,
            output_layer_names=whole.output_layer_names,
            evaluators=evaluators,
            sub_models=[whole, *groups],
        )

    def _evaluators(self) -> list[EvaluatorConfig]:
        """All whose layers are there. Where some are called NAME, the later ones are NAME_1, NAME_2..."""
        found: dict[str, EvaluatorConfig] = {}
        for layer in self._layers.values():
            for evaluator in layer.evaluators:
                if all(name in self._layers for name in evaluator.input_layers):
                    own = EvaluatorConfig.FromString(evaluator.SerializeToString())
                    later = (f"{own.name}_{number}" for number in count(1))
                    own.name = next(name for name in chain([own.name], later) if name not in found)
                    found[own.name] = own
        return list(found.values())

    def _parameters(self) -> list[ParameterConfig]:
        """Each parameter once: of layers that share one, the first to be written decides how it starts."""
        found: dict[str, ParameterConfig] = {}
        for layer in self._layers.values():
            for config, initializer in layer.parameters:
                known = found.setdefault(config.name, config)
                if known is config and initializer is not None:
                    self.initializers[config.name] = initializer
                if known.dims != config.dims:
                    raise WrongCall(
                        f"layer {layer.name!r} shares the parameter {config.name!r} as {config.dims}, which "
                        f"another layer made {known.dims}"
                    )
        return list(found.values())


def read_for_inference(stream: IO[Any]) -> tuple[ModelConfig, dict[str, InputType]]:
    """Read what ``serialize_for_inference`` wrote, here or in the original, which pickled it."""
    written = binary(stream, "networks").read()
    try:
        if written.startswith(pickle.PROTO):
            content = msgspec.convert(_unpickled(written), type=_Saved)
        else:
            content = msgspec.msgpack.decode(written, type=_Saved)
    except (msgspec.MsgspecError, pickle.UnpicklingError) as error:
        raise WrongCall(f"this is not a network of Topology.serialize_for_inference ({error})") from None
    types = {name: InputType(*numbers) for name, numbers in content.data_type}
    return ModelConfig.FromString(content.protobin), types


_COUNTED = {("rank-cost", 2), ("pnpair", 1), ("pnpair", 2), ("subseq", 1), ("subseq", 2)}
"""Where integers count as numbers, by what reads them and at which place: who comes first, whose it is, where
a part begins and how long it is."""


def _counts(type: str, place: int) -> bool:
    """Whether what reads an integer there takes it for a number: of a search, the place of what is right."""
    return (type, place) in _COUNTED or (type == "cross_entropy_over_beam" and place % 3 == _GOLD)


class _Saved(msgspec.Struct):
    protobin: bytes
    data_type: list[tuple[str, tuple[int, int, int]]]


class _PickledType:
    """An InputType of the original: what its pickle says of it."""

    def __setstate__(self, state: Any) -> None:
        self.numbers = [state[1][name] for name in ("dim", "seq_type", "type")]


class _Unpickler(pickle._Unpickler):
    """Of all names a pickle may say that of the original's InputType alone; no code is run that it names."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "InputType" and module in ("paddle.trainer.PyDataProvider2", "paddle.v2.data_type"):
            return _PickledType
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def _unpickled(written: bytes) -> dict[str, Any]:
    """The original's {"protobin": ..., "data_type": [(name, InputType), ...]} as plain data."""
    try:
        content = _Unpickler(io.BytesIO(written), encoding="latin1").load()
        types = [(name, type.numbers) for name, type in content["data_type"]]
        network = content["protobin"]
        return {
            "protobin": network if isinstance(network, bytes) else network.encode("latin1"),
            "data_type": types,
        }
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # whatever a broken pickle does
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from None


def _listed(layers: Layers) -> list[Layer]:
    listed = [layers] if isinstance(layers, Layer) else list(layers)
    for layer in listed:
        if not isinstance(layer, Layer):
            raise WrongCall(f"a network is made of layers, {layer!r} is none")
    return listed


def _but_evaluators(layers: Layers) -> Layers:
    """What is left of extra layers without evaluators, which are None: they are found by what they read."""
    return layers if isinstance(layers, Layer) else [layer for layer in layers if layer is not None]


def _reachable(outputs: Sequence[Layer]) -> dict[str, Layer]:
    """All layers that the outputs depend on, themselves included, and what prints these, in the order in
    which they were written."""

    def walk() -> Iterator[Layer]:
        seen, waiting = set(), list(outputs)
        while waiting:
            layer = waiting.pop()
            if layer.number not in seen:
                seen.add(layer.number)
                waiting += layer.parents
                yield layer

    found = list(walk())
    names = {layer.number for layer in found}
    printers = [each for layer in found for each in layer.printers]
    found += [each for each in printers if all(parent.number in names for parent in each.parents)]
    by_name: dict[str, Layer] = {}
    for layer in sorted(found, key=lambda layer: layer.number):
        if by_name.setdefault(layer.name, layer) is not layer:
            raise WrongCall(
                f"two layers of one network are called {layer.name!r}: give one of them another name"
            )
    return by_name
