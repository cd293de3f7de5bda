"""Passes: a list of operators becomes a better one that computes the same.

A pass never changes a program; it sees the operators of one plan and ``keep``, the variables whose values
are wanted after the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.passes.fuse import fuse_softmax_cost
from paddle._engine.passes.prune import prune
from paddle._engine.program import Operator


def improve(operators: Sequence[Operator], keep: frozenset[str]) -> list[Operator]:
    """All passes, in the order in which they profit from each other."""
    return fuse_softmax_cost(prune(operators, keep), keep)
