"""Leave out what no fetched variable and no exchange depends on. So a prediction needs no label to be fed.

What changes a variable that outlives a run, as a moving average or a count does, is not left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine import registry
from paddle._engine.program import Operator


def prune(operators: Sequence[Operator], keep: frozenset[str]) -> list[Operator]:
    """The operators that matter, in their order."""
    needed, kept = set(keep), list[Operator]()
    for operator in reversed(operators):
        if operator.role == "exchange" or _lasts(operator) or not needed.isdisjoint(operator.writes()):
            needed.update(operator.reads())
            kept.append(operator)
    return kept[::-1]


def _lasts(operator: Operator) -> bool:
    return operator.role == "forward" and bool(registry.row(operator.type).changes(operator.attrs))
