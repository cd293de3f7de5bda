"""Every attribute of every operator is seen with two values or more, by what checks values and gradients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paddle._engine import registry

from ..test_operators import DIFFERENTIABLE, OTHERS
from .ahead_operators import AHEAD, DURING
from .slopes import SLOPES

Pair = tuple[str, str]

DRAWN = "engine/ops/test_drawn.py"
TESTS = Path(__file__).parents[2]
OF_RANDOM = ("uniform_random", "gaussian_random", "truncated_gaussian_random", "randint")
OTHERWISE: dict[Pair, str] = {
    **{(type, name): DRAWN for type in OF_RANDOM for name in registry.row(type).attrs},
    **{(f"{type}_batch_size_like", name): DRAWN for type in OF_RANDOM for name in ("seed", "dtype")},
    **{(f"{type}_batch_size_like", "std"): DRAWN for type in OF_RANDOM[1:3]},
    **{("sample_apart", name): DRAWN for name in ("num_classes", "num_samples", "without_label")},
    **{("sample_classes", name): DRAWN for name in ("num_classes", "num_neg_samples", "distribution")},
    **{("dropout", name): DRAWN for name in ("seed", "draws_as")},
    ("batch_norm_told", "momentum"): "engine/ops/test_other_outputs.py",  # where a variable tells it
    ("joint_mul", "multiplier"): "engine/teams/test_joint.py",
    ("descend", "multiplier"): "engine/passes/test_descent.py",
    **{("auc", name): "engine/ops/test_auc.py" for name in ("num_thresholds", "slide_steps")},
    **{("recurrent", name): "engine/test_recurrence.py" for name in ("loop", "is_reverse", "is_test")},
    **{("generate", name): "faces/v2/test_generation.py" for name in registry.row("generate").attrs},
    ("is_id", "id"): "engine/test_steps.py",
}
"""What no table of cases here varies, and the test that does, or that says why there is nothing to vary."""


def once(cases: Iterable[tuple[str, dict[str, Any]]], types: Iterable[str]) -> set[Pair]:
    """The attributes of these operators that have one value, or none, in all cases; a default is one, too."""
    seen: defaultdict[Pair, set[str]] = defaultdict(set)
    for type, attrs in cases:
        for name, value in registry.row(type).attributes(attrs).items():
            seen[type, name].add(repr(value))
    return {(type, name) for type in types for name in registry.row(type).attrs if len(seen[type, name]) < 2}


def test_every_attribute_is_seen_with_two_values_where_values_are_checked() -> None:
    twins = [(case.type, case.attrs) for case in DIFFERENTIABLE + OTHERS if case.twin() is not None]
    lists = [(type, attrs) for type, _, attrs, _ in AHEAD + DURING]
    found = once([*twins, *lists], registry.table())
    assert found - OTHERWISE.keys() == set()
    assert OTHERWISE.keys() - found == set()  # they have two by now
    assert all((TESTS / where).is_file() for where in OTHERWISE.values())


def test_every_attribute_is_seen_with_two_values_where_gradients_are_checked() -> None:
    """Central differences find none of an attribute that is only of what is given, not of how it changes."""
    by_differences = [(case.type, case.attrs) for case in DIFFERENTIABLE if case.has_slope]
    by_twins = [(slope.type, slope.attrs) for slope in SLOPES]
    with_gradient = [type for type, row in registry.table().items() if row.gradient is not None]
    tallies = {("cvm", "is_kept"), ("data_norm", "slot_dim"), ("data_norm", "epsilon")}
    found = once([*by_differences, *by_twins], with_gradient)
    assert found - OTHERWISE.keys() == tallies  # in test_tally_operators.py
