"""Projections: one layer's way into a mixed layer, and the mixed layer that adds them up.

They must never know how they are computed. Guarantee: a projection belongs to the layer that it was added to;
shapes of its parameter follow from that layer's size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from paddle.v2._config import OperatorConfig, ProjectionConfig, SliceConfig
from paddle.v2._draft import dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer

if TYPE_CHECKING:
    from paddle.v2._draft import Draft

__all__ = [
    "context_projection",
    "dotmul_operator",
    "dotmul_projection",
    "full_matrix_projection",
    "identity_projection",
    "scaling_projection",
    "slice_projection",
    "table_projection",
    "trans_full_matrix_projection",
]

Kind = Literal[
    *("table", "fc", "trans_fc", "identity", "identity_offset", "dot_mul", "scaling", "slice", "context"),
    *("conv", "convt"),
]


@dataclass(frozen=True)
class Projection:
    """``origin`` seen through a table, a weight matrix, a weight for each column, or nothing at all.

    ``size``: of what comes out; 0 where the layer that it is added to decides. ``values``: further fields of
    its configuration. ``std``: of its parameter's first value, where that does not follow from the shape.
    """

    kind: Kind
    origin: Layer
    size: int
    attr: ParameterAttribute | None
    values: Mapping[str, Any] = field(default_factory=dict)
    std: float | None = None

    def add_to(self, draft: Draft, size: int) -> int:
        """Add it to a layer of this size (0: of its own) and return the size that comes out."""
        size = self.size or size
        if not size:
            raise WrongCall(f"layer {draft.config.name!r}: give the size of its {self.kind} projection")
        config = ProjectionConfig(
            type=self.kind, input_size=self.origin.size, output_size=size, **self.values
        )
        dims = self._dims(size, config)
        if self.kind == "context":
            config.trainable_padding = bool(dims)
        draft.read(self.origin, self.attr, dims, config, self.std)
        return size

    def _dims(self, size: int, config: ProjectionConfig) -> list[int]:
        """The shape of its parameter, if it has one."""
        if self.kind == "context":
            beyond = _beyond(config.context_start, config.context_length)
            return [beyond, self.origin.size] if self.attr and beyond else []
        if self.kind in ("conv", "convt"):
            window = config.conv_conf
            seen = window.filter_size * window.filter_size_y * window.filter_channels
            return [1, seen * (config.num_filters if self.kind == "conv" else window.channels)]
        shapes = {
            "table": [self.origin.size, size],
            "fc": [self.origin.size, size],
            "trans_fc": [size, self.origin.size],
            "dot_mul": [1, size],
            "scaling": [1, 1],
        }
        return shapes.get(self.kind, [])


@dataclass(frozen=True)
class Operator:
    """What a mixed layer makes of two layers, without a parameter. ``values``: fields of its config."""

    kind: Literal["dot_mul", "conv", "convt"]
    origins: Sequence[Layer]
    size: int
    values: Mapping[str, Any]


def _beyond(start: int, length: int) -> int:
    """How many elements can stand outside a sequence, on either side."""
    return max(0, -start) + max(0, start + length - 1)


def table_projection(input: Layer, size: int = 0, param_attr: ParameterAttribute | None = None) -> Projection:
    """The row of a table that each integer of the input names."""
    if not gives_ids(input):
        raise WrongCall(f"a table is looked up by a data layer of type integer_value, not by {input!r}")
    return Projection("table", input, size, param_attr)


def full_matrix_projection(
    input: Layer, size: int = 0, param_attr: ParameterAttribute | None = None
) -> Projection:
    """The input times a weight matrix."""
    return Projection("fc", input, size, param_attr)


def trans_full_matrix_projection(
    input: Layer, size: int = 0, param_attr: ParameterAttribute | None = None
) -> Projection:
    """The input times a weight matrix whose rows are the columns of what comes out."""
    return Projection("trans_fc", input, size, param_attr)


def identity_projection(input: Layer, offset: int | None = None, size: int | None = None) -> Projection:
    """The input as it is; with ``offset``, only ``size`` columns from there on, all if it is not given."""
    if offset is None:
        return Projection("identity", input, input.size, None)
    size = size or input.size - offset
    if not 0 <= offset < offset + size <= input.size:
        raise WrongCall(f"{input!r} has no {size} columns from {offset} on")
    return Projection("identity_offset", input, size, None, {"offset": offset})


def slice_projection(input: Layer, slices: Sequence[tuple[int, int]]) -> Projection:
    """Some of the channels of an image side by side, or of the columns of another layer.

    ``slices`` are (start, end), one behind the other.
    """
    pixels = input.size // input.num_filters if input.num_filters else 1
    last, columns = 0, []
    for start, end in slices:
        if not last <= start < end or end * pixels > input.size:
            raise WrongCall(f"slices of {input!r} are (start, end), one behind the other, not {slices}")
        columns.append(SliceConfig(start=start * pixels, end=end * pixels))
        last = end
    if not columns:
        raise WrongCall(f"slices of {input!r} are one or more, not {slices}")
    return Projection("slice", input, sum(c.end - c.start for c in columns), None, {"slices": columns})


def scaling_projection(input: Layer, param_attr: ParameterAttribute | None = None) -> Projection:
    """The input times one learned number."""
    return Projection("scaling", input, input.size, param_attr)


def dotmul_projection(input: Layer, param_attr: ParameterAttribute | None = None) -> Projection:
    """The input times a weight for each column."""
    return Projection("dot_mul", input, input.size, param_attr)


def context_projection(
    input: Layer,
    context_len: int,
    context_start: int | None = None,
    padding_attr: ParameterAttribute | bool | None = None,
) -> Projection:
    """Beside each element of a sequence those around it: ``context_len`` from ``context_start`` on, which is
    -(context_len - 1) / 2 if it is not given.

    Outside the sequence there are learned rows, which begin as zeros if ``padding_attr`` says nothing else;
    or zeros, where it is False.
    """
    start = (1 - context_len) // 2 if context_start is None else context_start
    if padding_attr in (None, True):
        padding_attr = ParameterAttribute(initial_mean=0.0, initial_std=0.0)
    size, values = input.size * context_len, {"context_start": start, "context_length": context_len}
    attr = padding_attr if isinstance(padding_attr, ParameterAttribute) else None
    return Projection("context", dense("context_projection", input), size, attr, values)


def dotmul_operator(
    a: Layer | None = None, b: Layer | None = None, scale: float = 1, **older: Layer
) -> Operator:
    """``scale`` times the product of two layers, column by column. Older programs call them x and y."""
    given = [older.pop("x", a), older.pop("y", b)]
    if older:
        raise WrongCall(f"dotmul_operator takes a, b and scale, not {sorted(older)}")
    first, second = (dense("dotmul_operator", *listed("dotmul_operator", each)) for each in given)
    if first.size != second.size:
        raise WrongCall(f"dotmul_operator takes two layers of one size, not {first!r} and {second!r}")
    return Operator("dot_mul", [first, second], first.size, {"dotmul_scale": float(scale)})


def add_bias(
    draft: Draft, bias_attr: ParameterAttribute | bool | None, parts: Sequence[Projection | Operator]
) -> dict[str, bool]:
    """Add a bias of each column or, where the first part is a convolution, of each filter; gives what the
    configuration says of it."""
    if not isinstance(parts[0], Projection) or parts[0].kind != "conv":
        draft.bias(bias_attr, by_default=False)
        return {}
    draft.bias(bias_attr, by_default=False, dims=[1, sum(each.values["num_filters"] for each in parts)])
    return {"shared_biases": True}


class MixedLayer(Layer):
    """The sum of projections: ``with paddle.layer.mixed(size=8) as m: m += projection``."""

    def __init__(self, draft: Draft, bias_attr: ParameterAttribute | bool | None) -> None:
        super().__init__(draft.config)
        self._draft = draft
        self._bias_attr = bias_attr
        self._parts: list[Projection | Operator] = []
        self._open = False

    def __enter__(self) -> MixedLayer:
        self._open = True
        return self

    def __iadd__(self, part: Any) -> MixedLayer:
        if not self._open:
            raise RuntimeError(f"layer {self.name!r}: projections are added inside its `with` block")
        if not isinstance(part, Projection | Operator):
            raise WrongCall(f"layer {self.name!r} adds projections and operators, not {part!r}")
        self._parts.append(part)
        return self

    def __exit__(self, error_type: type[BaseException] | None, *rest: object) -> None:
        self._open = False
        if error_type is not None:
            return
        sizes = {size for size in (self._draft.size, *(each.size for each in self._parts)) if size}
        if not self._parts or len(sizes) != 1:
            raise WrongCall(
                f"layer {self.name!r} adds {len(self._parts)} projections of the sizes "
                f"{sorted(sizes)}: it needs one projection or more, of one size"
            )
        self._draft.size = sizes.pop()
        for each in self._parts:
            if isinstance(each, Projection):
                each.add_to(self._draft, self._draft.size)
            else:
                self._draft.read(each.origins[0])
        self._add_operators()
        fields = add_bias(self._draft, self._bias_attr, self._parts)
        self._draft.fill(self, **fields)
        self.is_written_now()  # behind those that were written inside its block

    def _add_operators(self) -> None:
        """The first layer of an operator stands in its place among the inputs, the others behind them all."""
        config = self._draft.config
        for index, each in enumerate(self._parts):
            if not isinstance(each, Operator):
                continue
            indices = [index]
            for origin in each.origins[1:]:
                indices.append(len(config.inputs))
                self._draft.read(origin)
            sizes = [origin.size for origin in each.origins]
            config.operator_confs.append(
                OperatorConfig(
                    type=each.kind,
                    input_indices=indices,
                    input_sizes=sizes,
                    output_size=each.size,
                    **each.values,
                )
            )
