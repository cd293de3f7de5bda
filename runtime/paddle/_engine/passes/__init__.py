"""Passes: a list of operators becomes a better one that computes the same.

A pass never changes a program; it sees the operators of one plan and what is known about them (setting.py).
What it makes is equal to what was there within the tolerances that the kernels state, and where nothing but
the order of operators changes, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from paddle._engine.passes.bias import fuse_bias
from paddle._engine.passes.columns import look_up_rows
from paddle._engine.passes.descent import descend
from paddle._engine.passes.finality import finish_gradients_early
from paddle._engine.passes.fuse import fuse_softmax_cost
from paddle._engine.passes.joint import join
from paddle._engine.passes.lookups import fuse_lookups
from paddle._engine.passes.pieces import gather_pieces
from paddle._engine.passes.pooled import fuse_pooled_lookups
from paddle._engine.passes.pooling import pool_first
from paddle._engine.passes.prune import prune
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Operator

Pass = Callable[[Sequence[Operator], Setting], list[Operator]]

PASSES: Mapping[str, Pass] = {
    "leave out what nothing depends on": lambda operators, setting: prune(operators, setting.keep),
    "softmax + its cost": lambda operators, setting: fuse_softmax_cost(operators, setting.keep),
    "maximum before bias + relu": pool_first,
    "bias + activation, bias + softmax + its cost": fuse_bias,
    "lookups of columns": look_up_rows,
    "lookups + concat": fuse_lookups,
    "lookup + pooling": fuse_pooled_lookups,
    "gradients of slices": gather_pieces,
    "products of all threads": join,
    "gradients of parameters first": finish_gradients_early,
    "gradient + its subtraction": descend,
}
"""All passes, in the order in which they profit from each other, by what they bring together."""


def improvements(
    operators: Sequence[Operator], setting: Setting
) -> Iterator[tuple[str, Sequence[Operator], list[Operator]]]:
    """Each pass by name, with the operators before and after it."""
    for name, make_better in PASSES.items():
        better = make_better(operators, setting)
        yield name, operators, better
        operators = better


def improve(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """The operators after all passes."""
    for make_better in PASSES.values():
        operators = make_better(operators, setting)
    return list(operators)
