"""Passes: a list of operators becomes a better one that computes the same.

A pass never changes a program; it sees the operators of one plan and what is known about them (setting.py).
What it makes is equal to what was there within the tolerances that the kernels state, and where nothing but
the order of operators changes, bit for bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Change:
    """What one pass did: how many operators of which type it took away, and put there."""

    name: str
    gone: Counter[str]
    made: Counter[str]


@dataclass(frozen=True, slots=True)
class Improved:
    """``operators`` that passes have made, and the ``changes`` that each which did anything made in turn."""

    operators: Sequence[Operator]
    changes: Sequence[Change] = field(default=())


def improve(operators: Sequence[Operator], setting: Setting) -> Improved:
    """The operators after all passes, and what each of these did."""
    changes: list[Change] = []
    for name, make_better in PASSES.items():
        better = make_better(operators, setting)
        changes += _changed(name, operators, better)
        operators = better
    return Improved(list(operators), changes)


def _changed(name: str, before: Sequence[Operator], after: Sequence[Operator]) -> Iterator[Change]:
    old, new = {id(each): each for each in before}, {id(each): each for each in after}
    if old.keys() != new.keys():
        gone = Counter(old[key].type for key in old.keys() - new.keys())
        yield Change(name, gone, Counter(new[key].type for key in new.keys() - old.keys()))
