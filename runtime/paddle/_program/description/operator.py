"""Operator: one call that a program describes: its type, the names in its slots, its attributes, its line.

It must never know what is computed. Guarantee: an operator remembers the line of the user's program that made
it, and every error about it can say so.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle._program.description.described import OperatorDesc
from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument

if TYPE_CHECKING:
    from paddle._program.description.block import Block

ROLE = "op_role"
FORWARD, BACKWARD, OPTIMIZE, RPC, DIST, LR_SCHED, LOSS = 0, 1, 2, 4, 8, 16, 256
"""Paddle's numbers of what an operator is there for; LOSS is added to FORWARD or BACKWARD."""

_OURS = os.path.dirname(sys.modules["paddle"].__file__ or "") + os.sep  # noqa: PTH120  code objects hold text

_OF_WITH = contextlib.__file__
"""Through which the end of a block of ``with`` comes to us."""

Names = Mapping[str, Sequence[str]]


class Operator:
    """A description. The attribute dictionary is the operator's own, defaults of its row filled in."""

    def __init__(self, block: Block, type: str, inputs: Names, outputs: Names, attrs: dict[str, Any]) -> None:
        self.block = block
        self.type = type
        self.inputs: dict[str, list[str]] = {slot: list(names) for slot, names in inputs.items()}
        self.outputs: dict[str, list[str]] = {slot: list(names) for slot, names in outputs.items()}
        self.attrs = attrs
        self.moves: tuple[Operator, ...] = ()  # the update operators that it stands for
        self.turn = 0  # which of those that move something it is
        self.where = _line_of_user()
        self.shown = 0  # how often, where it shows values to people

    @property
    def role(self) -> int:
        """What it is there for, without LOSS."""
        return int(self.attrs.get(ROLE, FORWARD)) & ~LOSS

    @property
    def is_move(self) -> bool:
        """Whether it moves a parameter, or stands for what does."""
        return bool(self.moves) or {"Param", "Grad"} <= self.inputs.keys()

    @property
    def idx(self) -> int:
        """Its place in its block."""
        return next(i for i, each in enumerate(self.block.ops) if each is self)

    @property
    def desc(self) -> OperatorDesc:
        """Stands for the description that upstream keeps beside."""
        return OperatorDesc(self)

    def input(self, name: str) -> list[str]:
        """The names in an input slot."""
        return list(self.inputs.get(name, ()))

    def output(self, name: str) -> list[str]:
        """The names in an output slot."""
        return list(self.outputs.get(name, ()))

    @property
    def input_names(self) -> list[str]:
        """Its input slots."""
        return list(self.inputs)

    @property
    def output_names(self) -> list[str]:
        """Its output slots."""
        return list(self.outputs)

    @property
    def input_arg_names(self) -> list[str]:
        """All names that it reads."""
        return [name for names in self.inputs.values() for name in names]

    @property
    def output_arg_names(self) -> list[str]:
        """All names that it writes."""
        return [name for names in self.outputs.values() for name in names]

    def attr(self, name: str) -> Any:
        """The value of an attribute."""
        return self.attrs[name]

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of that name."""
        return name in self.attrs

    def all_attrs(self) -> dict[str, Any]:
        """All attributes."""
        return dict(self.attrs)

    @property
    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return list(self.attrs)

    def _set_attr(self, name: str, value: Any) -> None:
        self.attrs[name] = value
        self.block.program._bump()

    set_attr = _set_attr

    def _rename_input(self, old: str, new: str) -> None:
        self._rename(self.inputs, old, new)

    def _rename_output(self, old: str, new: str) -> None:
        self._rename(self.outputs, old, new)

    rename_input, rename_output = _rename_input, _rename_output

    def _rename(self, slots: dict[str, list[str]], old: str, new: str) -> None:
        for slot, names in slots.items():
            slots[slot] = [new if name == old else name for name in names]
        self.block.program._bump()

    def to_string(self, throw_on_error: bool = True) -> str:
        """For people, as in ``str(program)``."""
        read = ", ".join(f"{slot}={list(names)}" for slot, names in self.inputs.items())
        written = ", ".join(f"{slot}={list(names)}" for slot, names in self.outputs.items())
        told = {name: int(of) if isinstance(of, VarType) else of for name, of in sorted(self.attrs.items())}
        attrs = ", ".join(f"{name} = {value}" for name, value in told.items())
        return f"{{{written}}} = {self.type}(inputs={{{read}}}, {attrs})"

    __str__ = __repr__ = to_string


def names_of(slots: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """What a program puts in slots (one variable or name, or several) as names; empty slots are left out."""
    found: dict[str, list[str]] = {}
    for slot, given in (slots or {}).items():
        several = given if isinstance(given, list | tuple) else [given]
        names = [_name_of(slot, each) for each in several if each is not None]
        if names:
            found[slot] = names
    return found


def _name_of(slot: str, given: Any) -> str:
    if isinstance(given, Variable):
        return given.name
    if isinstance(given, str):
        return given
    raise BadArgument(f"slot {slot!r} of an operator takes variables or names, not {given!r}")


def level_of_user() -> int:
    """The ``stacklevel`` at which whoever calls this warns of the user's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_OURS, _OF_WITH)):
        frame, level = frame.f_back, level + 1
    return level


def _line_of_user() -> str:
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith((_OURS, _OF_WITH)):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
