"""Variable: what a program says of one named value. It holds none.

It must never know how a value is computed. Guarantee: what programs read and set of a variable is there under
Paddle's names; who changes how it is computed changes the version of its program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle._program.description import unique_name
from paddle._program.description.arithmetic import Arithmetic
from paddle._program.description.described import VariableDesc
from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.written import now

if TYPE_CHECKING:
    from paddle._program.description.block import Block
    from paddle._program.description.operator import Operator

GRAD_SUFFIX = "@GRAD"
_GRADIENT = re.compile(rf"(.+){GRAD_SUFFIX}(?:_\d+)?")


def of_gradient(name: str) -> str | None:
    """Of what a name names the gradient: ``x@GRAD``, and ``x@GRAD_0`` of a later pass, are both of ``x``."""
    found = _GRADIENT.fullmatch(name)
    return None if found is None else found[1]


class Variable(Arithmetic):
    """A description. ``shape``: -1 where a feed decides. ``lod_level``: how deep sequences are nested."""

    is_parameter = False

    def __init__(
        self,
        block: Block,
        name: str,
        *,
        shape: Sequence[int] | None = None,
        dtype: Any = None,
        lod_level: int | None = None,
        type: VarType = VarType.LOD_TENSOR,
        persistable: bool = False,
        stop_gradient: bool = False,
        is_data: bool = False,
        error_clip: Any = None,
        need_check_feed: bool = False,
    ) -> None:
        self.block = block
        self.name = name
        self._shape: tuple[int, ...] | None = None if shape is None else tuple(int(size) for size in shape)
        self._dtype = VarType.FP32 if dtype is None else dtype_of(dtype)
        self.has_dtype = dtype is not None
        self.lod_level = lod_level or 0
        self.type = type
        self.persistable = persistable
        self._stop_gradient = stop_gradient
        self.is_data = is_data
        self.error_clip = error_clip
        self.need_check_feed = need_check_feed
        self.op: Operator | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, -1 where a feed decides."""
        return self._shape or ()

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self._shape = tuple(int(size) for size in shape)

    @property
    def dtype(self) -> VarType:
        """The dtype of its elements."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self._dtype, self.has_dtype = dtype_of(dtype), True

    @property
    def has_shape(self) -> bool:
        """Whether anybody has said, or inferred, its shape."""
        return self._shape is not None

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient goes through it."""
        return self._stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, stops: bool) -> None:
        if stops != self._stop_gradient:
            self._stop_gradient = stops
            self.block.program._bump()

    @property
    def grad_name(self) -> str:
        """The name of its gradient."""
        return self.name + GRAD_SUFFIX

    @property
    def desc(self) -> VariableDesc:
        """Stands for the description that upstream keeps beside."""
        return VariableDesc(self)

    @property
    def ndim(self) -> int:
        """How many sizes it has."""
        return len(self.shape)

    def _set_error_clip(self, error_clip: Any) -> None:
        self.error_clip = error_clip

    set_error_clip = _set_error_clip

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The text form of its message. ``with_details``: for people, in a line."""
        if not with_details:
            from paddle._program.description import program_desc

            return f"{program_desc.variable_message(self)}\n"
        traits = [
            f"{self.type.name}",
            f"shape{list(self.shape)}" if self.has_shape else "shape unknown",
            f"dtype {self.dtype.name}",
            f"lod_level {self.lod_level}",
        ]
        flags = [name for name in ("persistable", "stop_gradient", "is_data") if getattr(self, name)]
        return f"var {self.name} : {', '.join([*traits, *flags])}"

    def __str__(self) -> str:
        return self._in_line() if now().is_static else self.to_string()

    def __repr__(self) -> str:
        return self._in_line() if now().is_static else self.to_string(with_details=True)

    def _in_line(self) -> str:
        """As 2.x prints a variable."""
        kind = "var"
        if self.is_parameter:
            kind = "trainable param" if getattr(self, "trainable", False) else "param"
        traits = (
            f".shape{self.shape}.dtype({str(self.dtype).rpartition('.')[2]})"
            f".stop_gradient({self.stop_gradient})"
        )
        has_them = self.type in (VarType.LOD_TENSOR, VarType.SELECTED_ROWS)
        before = "persist " if self.persistable else ""
        return f"{before}{kind} {self.name} : {self.type.name}{traits if has_them else ')'}"


class Parameter(Variable):
    """A variable that outlives a step, and that optimizers move where it is ``trainable``."""

    is_parameter = True

    def __init__(
        self,
        block: Block,
        shape: Sequence[int],
        dtype: Any,
        type: VarType = VarType.LOD_TENSOR,
        *,
        name: str | None = None,
        trainable: bool = True,
        optimize_attr: dict[str, Any] | None = None,
        regularizer: Any = None,
        gradient_clip_attr: Any = None,
        do_model_average: Any = None,
        is_distributed: bool = False,
        need_clip: bool = True,
        **others: Any,
    ) -> None:
        others.setdefault("persistable", True)
        if name is None:
            name = unique_name.generate("_generated_var")
        super().__init__(block, name, shape=shape, dtype=dtype, type=type, **others)
        self.trainable = trainable
        self.optimize_attr = {"learning_rate": 1.0} if optimize_attr is None else optimize_attr
        self.regularizer = regularizer
        self.gradient_clip_attr = gradient_clip_attr
        self.do_model_average = do_model_average
        self.is_distributed = is_distributed
        self.need_clip = need_clip
        self.init_op: Operator | None = None
