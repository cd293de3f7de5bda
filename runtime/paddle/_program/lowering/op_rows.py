"""The table of operators: how each is lowered to the engine, or computed on the host, and its attributes.

Rows are written in ``ops``, one file per family, with ``@lowers`` and ``@hosts``. It must never know a
program. Guarantee: an operator that stands in no row is refused by name when it is appended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from paddle._absent import NotInThisRelease

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator
    from paddle._program.lowering.lowering import Lowering
    from paddle._program.running.host import Host
    from paddle._program.running.tape import Done, Slopes

GRADIENT_OF = "_grad"
"""Appended to the type of an operator for the type of its gradient."""

Back: TypeAlias = "Callable[[Done, Slopes], None]"
Lower: TypeAlias = "Callable[[Lowering, Operator], None]"
HostRule: TypeAlias = "Callable[[Host, Operator], None]"
Infer: TypeAlias = "Callable[[Operator], None]"
Which: TypeAlias = "Callable[[Operator], bool]"


@dataclass(frozen=True)
class OpRow:
    """One operator. ``attrs``: the defaults of its attributes. ``lower``: appends it to an engine program.
    ``host``: computes it between two of these; where there are both, host is for a startup program.
    ``infer``: says what a host operator gives; what is lowered is inferred by lowering it. ``back``: takes
    gradients back through a host operator (running/tape.py). ``only``: which operators of the type are
    lowered, where ``host`` computes the others.
    """

    type: str
    attrs: Mapping[str, Any] = field(default_factory=dict)
    lower: Lower | None = None
    host: HostRule | None = None
    infer: Infer | None = None
    back: Back | None = None
    only: Which | None = None


_rows: dict[str, OpRow] = {}


def lowers(*types: str, **attrs: Any) -> Callable[[Lower], Lower]:
    """Register how operators of these types are lowered."""

    def register(rule: Lower) -> Lower:
        for type in types:
            _register(type, attrs, lower=rule)
        return rule

    return register


def lowered_if(*types: str) -> Callable[[Which], Which]:
    """Register which operators of these types are lowered; others are computed on the host."""

    def register(which: Which) -> Which:
        for type in types:
            _register(type, {}, only=which)
        return which

    return register


def hosts(*types: str, infer: Infer | None = None, **attrs: Any) -> Callable[[HostRule], HostRule]:
    """Register how operators of these types are computed on the host."""

    def register(rule: HostRule) -> HostRule:
        for type in types:
            _register(type, attrs, host=rule, **({} if infer is None else {"infer": infer}))
        return rule

    return register


def backs(*types: str) -> Callable[[Back], Back]:
    """Register how gradients go back through host operators of these types."""

    def register(rule: Back) -> Back:
        for type in types:
            _register(type, {}, back=rule)
        return rule

    return register


def _register(type: str, attrs: Mapping[str, Any], **rules: Any) -> None:
    known = _rows.get(type, OpRow(type))
    if twice := [name for name in rules if getattr(known, name) is not None]:
        raise ValueError(f"operator {type!r} has {' and '.join(twice)} in two rows: delete one")
    _rows[type] = replace(known, attrs={**known.attrs, **attrs}, **rules)


@cache
def _load() -> None:
    import_module("paddle._program.ops")  # the families import this module


def row(type: str) -> OpRow:
    """The row of a type."""
    _load()
    try:
        return _rows[type]
    except KeyError:
        raise NotInThisRelease(f"operator {type!r} is not in this release") from None


def has_row(type: str) -> bool:
    """Whether there is one."""
    _load()
    return type in _rows


def is_lowered(op: Operator) -> bool:
    """Whether an operator, or the one whose gradient it is, is appended to an engine program, with all that
    its blocks hold."""
    found = row(forward_type(op))
    if found.lower is None or not (found.only is None or found.only(op)):
        return False
    own = (value for value in op.attrs.values() if hasattr(value, "ops"))
    return all(is_lowered(each) for block in own for each in block.ops)


def forward_type(op: Operator) -> str:
    """The type of an operator, or of the one whose gradient it is."""
    found = op.type
    while not has_row(found) and found.endswith(GRADIENT_OF):
        found = found.removesuffix(GRADIENT_OF)
    return found


def goes_back(op: Operator) -> bool:
    """Whether a gradient goes back through an operator, or a gradient of one, as far as the table knows."""
    return is_lowered(op) or (has_row(op.type) and row(op.type).back is not None)


def completed(type: str, given: dict[str, Any]) -> dict[str, Any]:
    """The attributes given, with the defaults of the row for others. A gradient has those of its operator."""
    from paddle._program.lowering.updates import UPDATES

    if type in UPDATES:
        return given
    base = type.removesuffix(GRADIENT_OF) if not has_row(type) else type
    return {**row(base).attrs, **given}
