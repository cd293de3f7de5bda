"""Gradients as forward operators, of which gradients can be taken again.

``autodiff`` appends operators that compute gradients at once and that nothing goes back through. Where a
program takes gradients of gradients, those that come first are written with operators like any others: a rule
for each says how. It must never know a kernel.

Guarantee: what is appended is differentiable as often as anyone asks; an operator without a rule is refused
by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paddle._engine import registry
from paddle._engine.autodiff import depending, path_back
from paddle._engine.builder import Builder
from paddle._engine.errors import NotDifferentiable
from paddle._engine.program import Operator, Variable
from paddle._program.lowering.slope_rules import RULES, At


def append_gradients(
    builder: Builder, seeds: Sequence[tuple[str, Variable]], wanted: set[str], stopped: Collection[str] = ()
) -> dict[str, Variable]:
    """Append the gradients of variables, each times its seed, by those ``wanted``; by names, of all that are
    between them."""
    block = builder.program.main
    depends = depending(block, wanted, stopped)
    parts: dict[str, list[Variable]] = {}
    for name, seed in seeds:
        if name in depends:
            parts.setdefault(name, []).append(seed)
    found: dict[str, Variable] = {}
    for operator in list(path_back(block, set(parts), depends)):
        gradient = registry.gradient(operator.type)
        (out,) = operator.outputs[gradient.given]
        if out not in parts:
            continue
        found[out] = _summed(builder, parts.pop(out))
        for name, slope in _slopes(builder, operator, found[out], depends):
            parts.setdefault(name, []).append(slope)
    return found | {name: _summed(builder, several) for name, several in parts.items()}


def _slopes(
    builder: Builder, operator: Operator, given: Variable, depends: set[str]
) -> list[tuple[str, Variable]]:
    rule = RULES.get(operator.type)
    if rule is None:
        raise NotDifferentiable(
            f"gradients of gradients of operator {operator.type!r} are not in this release"
        )
    wanted = {slot for slot, names in operator.inputs.items() if not depends.isdisjoint(names)}
    made = rule(At(builder, operator, frozenset(wanted)), given)
    found: list[tuple[str, Variable]] = []
    for slot, slopes in made.items():
        several = [slopes] if isinstance(slopes, Variable) else slopes
        pairs = zip(operator.inputs[slot], several, strict=True)
        found += [(name, slope) for name, slope in pairs if slope is not None and name in depends]
    return found


def _summed(builder: Builder, parts: Sequence[Variable]) -> Variable:
    return parts[0] if len(parts) == 1 else builder.op("sum", X=parts)
