"""Projections: one layer's way into a mixed layer, and the mixed layer that adds them up.

They must never know how they are computed. Guarantee: a projection belongs to the layer that it was added to;
shapes of its parameter follow from that layer's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from paddle.v2._config import ProjectionConfig
from paddle.v2._draft import dense
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer
from paddle.v2.data_type import DataType

if TYPE_CHECKING:
    from paddle.v2._draft import Draft

Kind = Literal["table", "fc", "identity", "dot_mul", "context"]


@dataclass(frozen=True)
class Projection:
    """``origin`` seen through a table, a weight matrix, a weight for each column, or nothing at all.

    ``size``: of what comes out; 0 where the layer that it is added to decides.
    """

    kind: Kind
    origin: Layer
    size: int
    attr: ParameterAttribute | None
    window: tuple[int, int] = (0, 0)  # of kind context: where it begins, seen from an element, and its length

    def add_to(self, draft: Draft, size: int) -> int:
        """Add it to a layer of this size (0: of its own) and return the size that comes out."""
        size = self.size or size
        if not size:
            raise ValueError(f"layer {draft.config.name!r}: give the size of its {self.kind} projection")
        dims = {
            "table": [self.origin.size, size],
            "fc": [self.origin.size, size],
            "dot_mul": [1, size],
            "identity": [],
            "context": [self._beyond(), self.origin.size] if self.attr and self._beyond() else [],
        }[self.kind]
        config = ProjectionConfig(type=self.kind, input_size=self.origin.size, output_size=size)
        if self.kind == "context":
            config.context_start, config.context_length = self.window
            config.trainable_padding = bool(dims)
        draft.read(self.origin, self.attr, dims, config)
        return size

    def _beyond(self) -> int:
        """How many elements can stand outside a sequence, on either side."""
        start, length = self.window
        return max(0, -start) + max(0, start + length - 1)


def table_projection(input: Layer, size: int = 0, param_attr: ParameterAttribute | None = None) -> Projection:
    """The row of a table that each integer of the input names."""
    if input.data_type is None or input.data_type.type != DataType.Index:
        raise ValueError(f"a table is looked up by a data layer of type integer_value, not by {input!r}")
    return Projection("table", input, size, param_attr)


def full_matrix_projection(
    input: Layer, size: int = 0, param_attr: ParameterAttribute | None = None
) -> Projection:
    """The input times a weight matrix."""
    return Projection("fc", input, size, param_attr)


def identity_projection(input: Layer) -> Projection:
    """The input as it is."""
    return Projection("identity", input, input.size, None)


def dotmul_projection(input: Layer, param_attr: ParameterAttribute | None = None) -> Projection:
    """The input times a weight for each column."""
    return Projection("dot_mul", input, input.size, param_attr)


def context_projection(
    input: Layer,
    context_len: int,
    context_start: int | None = None,
    padding_attr: ParameterAttribute | bool = False,
) -> Projection:
    """Beside each element of a sequence those around it: ``context_len`` from ``context_start`` on, which is
    -(context_len - 1) / 2 if it is not given.

    Outside the sequence there are zeros or, where ``padding_attr`` is an attribute or True, learned rows.
    """
    start = (1 - context_len) // 2 if context_start is None else context_start
    attr = ParameterAttribute(initial_mean=0.0, initial_std=0.0) if padding_attr is True else padding_attr
    size = input.size * context_len
    return Projection("context", dense("context_projection", input), size, attr or None, (start, context_len))


class MixedLayer(Layer):
    """The sum of projections: ``with paddle.layer.mixed(size=8) as m: m += projection``."""

    def __init__(self, draft: Draft, bias_attr: ParameterAttribute | bool | None) -> None:
        super().__init__(draft.config)
        self._draft = draft
        self._bias_attr = bias_attr
        self._projections: list[Projection] = []
        self._open = False

    def __enter__(self) -> MixedLayer:
        self._open = True
        return self

    def __iadd__(self, projection: Any) -> MixedLayer:
        if not self._open:
            raise RuntimeError(f"layer {self.name!r}: projections are added inside its `with` block")
        if not isinstance(projection, Projection):
            raise TypeError(f"layer {self.name!r} adds projections, not {projection!r}")
        self._projections.append(projection)
        return self

    def __exit__(self, error_type: type[BaseException] | None, *rest: object) -> None:
        self._open = False
        if error_type is not None:
            return
        sizes = {size for size in (self._draft.size, *(each.size for each in self._projections)) if size}
        if not self._projections or len(sizes) != 1:
            raise ValueError(
                f"layer {self.name!r} adds {len(self._projections)} projections of the sizes "
                f"{sorted(sizes)}: it needs one projection or more, of one size"
            )
        self._draft.size = sizes.pop()
        for each in self._projections:
            each.add_to(self._draft, self._draft.size)
        self._draft.bias(self._bias_attr, by_default=False)
        self._draft.fill(self)
