"""A layer while it is being written: its configuration and its parameters grow together, then it is done.

It must never know which layer functions there are. Guarantee: parameters get the original's names,
``_LAYER.w0``, ``_LAYER.w1``... and ``_LAYER.wbias``, unless an attribute names them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.v2._config import LayerConfig, LayerInputConfig, ParameterConfig, ProjectionConfig
from paddle.v2._errors import WrongCall
from paddle.v2._scope import Group, current, scoped
from paddle.v2.activation import BaseActivation
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Initializer, Layer
from paddle.v2.data_type import DataType

_GIVING_IDS = frozenset({"maxid", "sampling_id", "eos_id"})
_WITH_EXTRAS = frozenset(
    {
        "addto",
        "batch_norm",
        "get_output",
        "concat",
        "concat2",
        "conv3d",
        "deconv3d",
        "exconv",
        "exconvt",
        "fc",
        "mixed",
    }
    | {"gated_recurrent", "lstmemory", "row_conv", "selective_fc", "seqconcat", "seqreshape", "tensor"}
)


class Draft:
    """Collects what a layer reads and learns. ``size`` may be assigned until it is done."""

    def __init__(
        self,
        type: str,
        name: str,
        *,
        size: int = 0,
        act: BaseActivation | None = None,
        layer_attr: ExtraLayerAttribute | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise WrongCall(f"a layer's name is text, not {name!r}")
        if act is not None and not isinstance(act, BaseActivation):
            raise WrongCall(
                f"layer {name!r}: act is an activation such as paddle.activation.Relu(), not {act!r}"
            )
        self._act = act
        name, self._home = scoped(name), current()
        if type == "data" and self._home is not None:
            raise WrongCall(f"data layer {name!r} is written inside a recurrent group: write it before that")
        self.config = LayerConfig(name=name, type=type, active_type=act.name if act else "")
        self.size = _size(name, size)
        if layer_attr is not None and layer_attr.drop_rate:
            self._drop(layer_attr.drop_rate)
        if layer_attr is not None and layer_attr.error_clipping_threshold:
            self._clip_errors(layer_attr.error_clipping_threshold)
        self._parents: list[Layer] = []
        self._parameters: list[tuple[ParameterConfig, Initializer | None]] = []

    def read(
        self,
        layer: Layer,
        attr: ParameterAttribute | None = None,
        dims: Sequence[int] = (),
        projection: ProjectionConfig | None = None,
        std: float | None = None,
    ) -> None:
        """Add an input, with a parameter of shape ``dims`` between the two, if ``dims`` are given.

        ``std``: of the parameter's first value, where its attribute says nothing of it.
        """
        Group.check(layer, self._home, f"layer {self.config.name!r}")
        entry = LayerInputConfig(input_layer_name=layer.name)
        default = f"_{self.config.name}.w{len(self.config.inputs)}"
        if dims:
            kind = self.config.type if projection is None else projection.type
            in_rows = kind == "table" or (kind == "fc" and is_sparse(layer))
            attr = attr or ParameterAttribute()
            entry.input_parameter_name = self._parameter(attr, default, dims, in_rows, std)
        if projection is not None:
            projection.name = default
            entry.proj_conf = projection
        self.config.inputs.append(entry)
        self._parents.append(layer)

    def bias(
        self, attr: ParameterAttribute | bool | None, by_default: bool, dims: Sequence[int] = ()
    ) -> None:
        """Add a bias that starts at 0 if ``attr`` is True or an attribute or, ``by_default``, not given.

        Its shape is ``dims`` or, if there are none, a row with a number for each column of the layer.
        """
        if attr is True or (attr is None and by_default):
            attr = ParameterAttribute(initial_mean=0.0, initial_std=0.0)
        if isinstance(attr, ParameterAttribute):
            default = f"_{self.config.name}.wbias"
            self.config.bias_parameter_name = self._parameter(attr, default, dims or [1, self.size])
            if self.config.type in ("mixed", "concat2"):
                self.config.bias_size = self._parameters[-1][0].size

    def done(self, **values: Any) -> Layer:
        """The layer; ``values`` are further fields of its configuration."""
        layer = Layer(self.config)
        self.fill(layer, **values)
        return layer

    def fill(self, layer: Layer, **values: Any) -> None:
        """Make ``layer``, which is there already, the one that was drafted."""
        if not self.size:
            raise WrongCall(f"layer {self.config.name!r}: its size is 0, a layer has 1 column or more")
        self.config.size = self.size
        for name, value in values.items():
            setattr(self.config, name, value)
        layer.config, layer.parents, layer.parameters = self.config, self._parents, self._parameters
        layer.activation = self._act
        if self._home is not None:
            self._home.adopt(layer)

    def _drop(self, rate: float) -> None:
        name, type = self.config.name, self.config.type
        if type not in _WITH_EXTRAS:
            raise WrongCall(
                f"layer {name!r}: a layer of type {type!r} does not support drop_rate: put "
                "paddle.layer.dropout before or after it"
            )
        if self.config.active_type == "softmax":
            raise WrongCall(f"layer {name!r}: dropout would undo its softmax; drop from the layer before it")
        self.config.drop_rate = rate

    def _clip_errors(self, threshold: float) -> None:
        name, type = self.config.name, self.config.type
        if type not in _WITH_EXTRAS:
            raise WrongCall(
                f"layer {name!r}: a layer of type {type!r} does not support error_clipping_threshold: give "
                "it to the layer before"
            )
        self.config.error_clipping_threshold = threshold

    def _parameter(
        self,
        attr: ParameterAttribute,
        default: str,
        dims: Sequence[int],
        in_rows: bool = False,
        std: float | None = None,
    ) -> str:
        if attr.sparse_update and not in_rows:
            raise NotInThisRelease(
                f"layer {self.config.name!r}: sparse_update of the parameter {attr.name or default!r} is not "
                "in this release, which updates rows only of the tables of paddle.layer.embedding and "
                "table_projection, and of weights of fc and full_matrix_projection that a data layer of a "
                "sparse type is multiplied by: take sparse_update away here"
            )
        config, initializer = attr.configure(default, dims, std)
        self._parameters.append((config, initializer))
        return str(config.name)


def attribute_alone(given: ParameterAttribute | bool | None) -> ParameterAttribute | bool:
    """The bias of layers that have one only where an attribute says how: True gives them none, as in the
    original."""
    return given if isinstance(given, ParameterAttribute) else False


def _size(name: str, given: Any) -> int:
    try:
        size = operator.index(given)
    except TypeError:
        raise WrongCall(f"layer {name!r}: its size is an integer, not {given!r}") from None
    if size < 0:
        raise WrongCall(f"layer {name!r}: its size is {size}, a layer has 1 column or more")
    return size


def listed(name: str, given: Any) -> list[Layer]:
    """What was given as input, as a list of layers."""
    layers = list(given) if isinstance(given, Iterable) else [given]
    for each in layers:
        if not isinstance(each, Layer):
            raise WrongCall(f"layer {name!r}: an input is a layer, not {each!r}")
    if not layers:
        raise WrongCall(f"layer {name!r} has no input")
    return layers


def gives_ids(layer: Layer) -> bool:
    """Whether a layer gives integers that name rows or classes, not numbers to compute with."""
    is_data = layer.data_type is not None and layer.data_type.type == DataType.Index
    return is_data or layer.holds_ids or layer.layer_type in _GIVING_IDS or _is_path(layer)


def _is_path(layer: Layer) -> bool:
    """Whether it is a crf_decoding that has no label to compare with, and so gives tags only."""
    return layer.layer_type == "crf_decoding" and len(layer.parents) == 1


def is_sparse(layer: Layer) -> bool:
    """Whether it is a data layer whose rows name some columns each."""
    kinds = (DataType.SparseNonValue, DataType.SparseValue)
    return layer.data_type is not None and layer.data_type.type in kinds


def dense(name: str, layer: Layer) -> Layer:
    """``layer``, which must give numbers to compute with."""
    if gives_ids(layer):
        raise WrongCall(
            f"layer {name!r} computes with numbers and {layer.name!r} gives ids: use paddle.layer.embedding "
            f"to turn them into vectors"
        )
    return layer
