"""Leave out what no fetched variable and no exchange depends on. So a prediction needs no label to be fed."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.program import Operator


def prune(operators: Sequence[Operator], keep: frozenset[str]) -> list[Operator]:
    """The operators that matter, in their order."""
    needed, kept = set(keep), list[Operator]()
    for operator in reversed(operators):
        if operator.role == "exchange" or not needed.isdisjoint(operator.writes()):
            needed.update(operator.reads())
            kept.append(operator)
    return kept[::-1]
