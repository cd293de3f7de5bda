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
    from paddle._program.host import Host
    from paddle._program.lowering import Lowering
    from paddle._program.operator import Operator

Lower: TypeAlias = "Callable[[Lowering, Operator], None]"
HostRule: TypeAlias = "Callable[[Host, Operator], None]"
Infer: TypeAlias = "Callable[[Operator], None]"


@dataclass(frozen=True)
class OpRow:
    """One operator. ``attrs``: the defaults of its attributes. ``lower``: appends it to an engine program.
    ``host``: computes it between two of these; where there are both, host is for a startup program.
    ``infer``: says what a host operator gives; what is lowered is inferred by lowering it.
    """

    type: str
    attrs: Mapping[str, Any] = field(default_factory=dict)
    lower: Lower | None = None
    host: HostRule | None = None
    infer: Infer | None = None


_rows: dict[str, OpRow] = {}


def lowers(*types: str, **attrs: Any) -> Callable[[Lower], Lower]:
    """Register how operators of these types are lowered."""

    def register(rule: Lower) -> Lower:
        for type in types:
            known = _rows.get(type, OpRow(type))
            _rows[type] = replace(known, lower=rule, attrs={**known.attrs, **attrs})
        return rule

    return register


def hosts(*types: str, infer: Infer | None = None, **attrs: Any) -> Callable[[HostRule], HostRule]:
    """Register how operators of these types are computed on the host."""

    def register(rule: HostRule) -> HostRule:
        for type in types:
            known = _rows.get(type, OpRow(type))
            _rows[type] = replace(
                known, host=rule, infer=infer or known.infer, attrs={**known.attrs, **attrs}
            )
        return rule

    return register


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
    """Whether an operator is appended to an engine program, with all that its blocks hold."""
    own = (value for value in op.attrs.values() if hasattr(value, "ops"))
    return row(op.type).lower is not None and all(is_lowered(each) for block in own for each in block.ops)


def completed(type: str, given: dict[str, Any]) -> dict[str, Any]:
    """The attributes given, with the defaults of the row for others. A gradient has those of its operator."""
    from paddle._program.updates import UPDATES

    if type in UPDATES:
        return given
    base = type.removesuffix("_grad") if not has_row(type) else type
    return {**row(base).attrs, **given}
