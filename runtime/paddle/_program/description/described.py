"""What upstream keeps beside variables and operators (``variable.desc``, ``operator.desc``), of which
names, types and shapes are asked by calls.

It must never hold anything of its own. Guarantee: a call says and changes what the variable or operator is;
any other name is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator
    from paddle._program.description.variable import Variable


class _Desc:
    """Of what it stands for, and equal to others of it."""

    def __init__(self, whose: Any) -> None:
        self._whose = whose

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_whose":
            raise AttributeError(name)
        return getattr(self._whose, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Desc) and other._whose is self._whose

    def __hash__(self) -> int:
        return hash(id(self._whose))

    def id(self) -> int:
        """A number that no other has."""
        return id(self._whose)

    def type(self) -> Any:
        """Of a variable its kind, of an operator what it computes."""
        return self._whose.type

    def set_type(self, type: Any) -> None:
        """Say another one."""
        self._whose.type = type
        self._whose.block.program._bump()


class VariableDesc(_Desc):
    """A variable's."""

    _whose: Variable

    def _set(self, **traits: Any) -> None:
        for name, value in traits.items():
            setattr(self._whose, name, value)
        self._whose.block.program._bump()

    def name(self) -> str:
        """What it is called."""
        return self._whose.name

    def shape(self) -> list[int]:
        """Its sizes, -1 where a feed decides."""
        return list(self._whose.shape)

    get_shape = shape

    def set_shape(self, shape: Sequence[int]) -> None:
        """Say others."""
        self._set(shape=shape)

    def dtype(self) -> Any:
        """Of its elements."""
        return self._whose.dtype

    def set_dtype(self, dtype: Any) -> None:
        """Say another one."""
        self._set(dtype=dtype)

    def lod_level(self) -> int:
        """How deep its sequences are."""
        return self._whose.lod_level

    def set_lod_level(self, level: int) -> None:
        """Say how deep they are."""
        self._set(lod_level=level)

    def persistable(self) -> bool:
        """Whether it outlives a run."""
        return self._whose.persistable

    def set_persistable(self, persistable: bool) -> None:
        """Say whether it does."""
        self._set(persistable=persistable)

    def stop_gradient(self) -> bool:
        """Whether no gradient goes through it."""
        return self._whose.stop_gradient

    def set_stop_gradient(self, stops: bool) -> None:
        """Say whether none does."""
        self._set(stop_gradient=stops)

    def is_parameter(self) -> bool:
        """Whether optimizers move it."""
        return bool(getattr(self._whose, "is_parameter", False))

    def need_check_feed(self) -> bool:
        """Whether feeds are held to what it says."""
        return bool(self._whose.need_check_feed)

    def set_need_check_feed(self, need_check_feed: bool) -> None:
        """Say whether they are."""
        self._set(need_check_feed=need_check_feed)


class OperatorDesc(_Desc):
    """An operator's. ``input``, ``output``, ``attr`` and ``has_attr`` are calls of its own."""

    _whose: Operator

    def input_names(self) -> list[str]:
        """Its input slots."""
        return self._whose.input_names

    def output_names(self) -> list[str]:
        """Its output slots."""
        return self._whose.output_names

    def inputs(self) -> dict[str, list[str]]:
        """The names in each."""
        return {slot: list(names) for slot, names in self._whose.inputs.items()}

    def outputs(self) -> dict[str, list[str]]:
        """The same of what it writes."""
        return {slot: list(names) for slot, names in self._whose.outputs.items()}

    def input_arg_names(self) -> list[str]:
        """All names that it reads."""
        return self._whose.input_arg_names

    def output_arg_names(self) -> list[str]:
        """All names that it writes."""
        return self._whose.output_arg_names

    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return self._whose.attr_names

    def remove_attr(self, name: str) -> None:
        """Have one no more."""
        self._whose.attrs.pop(name, None)
        self._whose.block.program._bump()

    def set_input(self, slot: str, names: Sequence[str]) -> None:
        """Read others in a slot."""
        self._whose.inputs[slot] = list(names)
        self._whose.block.program._bump()

    def set_output(self, slot: str, names: Sequence[str]) -> None:
        """Write others in a slot."""
        self._whose.outputs[slot] = list(names)
        self._whose.block.program._bump()
