"""Operators on gradients, appended to a program behind those of its backward pass.

It must never know what they are for. Guarantee: a program that is cloned for a test has none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._engine import registry
from paddle._engine.program import Operator, Program, Variable


class Appending:
    """Appends to ``program``: each operator has one output, of a given name."""

    def __init__(self, program: Program) -> None:
        self._block = program.main

    def __call__(self, type: str, name: str, attrs: dict[str, Any], **inputs: Sequence[Variable]) -> Variable:
        row = registry.row(type)
        slots = row.slots({slot: [each.name for each in variables] for slot, variables in inputs.items()})
        operator = Operator(type, slots, {"Out": (name,)}, row.attributes(attrs), "backward")
        forms = {each.name: each.form for variables in inputs.values() for each in variables}
        made = self._block.add(Variable.of(name, registry.infer(operator, forms)[name]))
        self._block.append(operator)
        return made
