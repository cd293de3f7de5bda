"""Every attribute of every operator is seen with two values or more, by what checks values and gradients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from paddle._engine import registry
from tests.observed import observe

from ..test_operators import DIFFERENTIABLE, OTHERS
from .ahead_operators import AHEAD, DURING
from .slopes import SLOPES

Pair = tuple[str, str]

Nodes = tuple[str, ...]

DRAWN = "engine/ops/test_drawn.py::test_"
ALIKE = f"{DRAWN}as_many_as_another_array_has_are_drawn_like_any_others"
SEED = f"{DRAWN}a_seed_of_its_own_draws_the_same_in_every_run"
KEPT = f"{DRAWN}what_goes_back_through_dropout_is_what_was_kept_whatever_drew_it"
CLASSES = f"{DRAWN}classes_are_drawn_by_their_distribution"
APART = (
    f"{DRAWN}classes_drawn_apart_are_each_there_once",
    f"{DRAWN}classes_drawn_apart_are_as_likely_as_their_chances_say",
)
OF_RANDOM = {
    "uniform_random": f"{DRAWN}uniform_numbers_fill_their_bounds",
    "gaussian_random": f"{DRAWN}gaussian_numbers_lie_about_their_mean",
    "truncated_gaussian_random": f"{DRAWN}gaussian_numbers_lie_about_their_mean",
    "randint": f"{DRAWN}integers_are_each_as_likely",
}
GAUSSIAN = [type for type in OF_RANDOM if "gaussian" in type]
RECURRENCE = "engine/test_recurrence.py::test_"
SEARCH = "engine/test_generate.py::test_a_search_as_wide_as_there_are_paths_finds_the_most_probable_ones"
OTHERWISE: dict[Pair, Nodes] = {
    **{
        (type, name): (own, ALIKE, SEED)
        for type, own in OF_RANDOM.items()
        for name in registry.row(type).attrs
    },
    **{(f"{type}_batch_size_like", name): (ALIKE, SEED) for type in OF_RANDOM for name in ("seed", "dtype")},
    **{(f"{type}_batch_size_like", "std"): (ALIKE,) for type in GAUSSIAN},
    **{("sample_apart", name): APART for name in ("num_classes", "num_samples", "without_label")},
    **{("sample_classes", name): (CLASSES,) for name in ("num_classes", "num_neg_samples", "distribution")},
    ("dropout", "seed"): (SEED,),
    ("dropout", "draws_as"): (f"{DRAWN}dropout_draws_as_another_where_it_is_told_to",),
    ("batch_norm_told", "momentum"): (
        "engine/ops/test_other_outputs.py::test_a_moving_mean_moves_towards_that_of_the_batch",
    ),
    ("joint_mul", "multiplier"): (
        "engine/teams/test_joint.py::test_parameters_become_what_one_thread_makes_of_them",
    ),
    ("descend", "multiplier"): (
        "engine/passes/test_descent.py::test_parameters_become_what_they_would_from_their_gradients",
    ),
    **{
        ("auc", name): ("engine/ops/test_auc.py::test_the_area_is_how_often_pairs_are_in_order",)
        for name in ("num_thresholds", "slide_steps")
    },
    **{("recurrent", name): (f"{RECURRENCE}gradients_are_derivatives",) for name in ("loop", "is_reverse")},
    ("recurrent", "is_test"): (f"{RECURRENCE}each_moment_drops_anew_and_a_test_drops_nothing",),
    **{("generate", name): (SEARCH,) for name in registry.row("generate").attrs},
    ("is_id", "id"): ("engine/test_steps.py::test_an_id_is_told_from_others",),
}
"""What no table of cases here varies, and the tests that do."""

TALLIES = "engine/ops/test_tally_operators.py::test_"
COUNTED = (
    f"{TALLIES}counts_are_of_the_batch_and_x_has_its_slope",
    f"{TALLIES}a_slot_counts_as_one_sample_and_what_was_not_shown_not_at_all",
)
GRADIENTS: dict[Pair, Nodes] = {
    ("cvm", "is_kept"): (f"{TALLIES}what_was_counted_goes_back_through_shows_and_clicks",),
    ("pushed_rows", "of_runs"): (f"{TALLIES}pushed_rows_give_back_their_counts_and_slopes_of_a_batchs_sum",),
    **{("data_norm", name): COUNTED for name in ("slot_dim", "epsilon")},
    **{pair: OTHERWISE[pair] for pair in (("joint_mul", "multiplier"), ("recurrent", "loop"))},
    ("recurrent", "is_reverse"): OTHERWISE["recurrent", "is_reverse"],
    ("recurrent", "is_test"): (
        f"{RECURRENCE}gradients_in_a_test_are_those_of_training_where_nothing_is_dropped",
    ),
    **{("dropout", name): (KEPT,) for name in ("seed", "draws_as")},
    ("batch_norm_told", "momentum"): (
        "engine/ops/test_other_outputs.py::test_gradients_follow_from_no_momentum",
    ),
}
"""The same of gradients, also of those that look at no such attribute."""


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


def test_every_attribute_is_seen_with_two_values_where_gradients_are_checked() -> None:
    """Central differences find none of an attribute that is only of what is given, not of how it changes."""
    by_differences = [(case.type, case.attrs) for case in DIFFERENTIABLE if case.has_slope]
    by_twins = [(slope.type, slope.attrs) for slope in SLOPES]
    with_gradient = [type for type, row in registry.table().items() if row.gradient is not None]
    found = once([*by_differences, *by_twins], with_gradient)
    assert found == GRADIENTS.keys()


def test_tests_that_are_named_here_give_each_attribute_two_values() -> None:
    tests = {node for nodes in (*OTHERWISE.values(), *GRADIENTS.values()) for node in nodes}
    observed = observe(tests)
    for pairs, end in ((OTHERWISE, ""), (GRADIENTS, "_grad")):
        for (type, name), nodes in pairs.items():
            values = set().union(*(observed[node].attributes[type + end, name] for node in nodes))
            assert len(values) > 1, f"{type + end} has one {name}, {values}, in {nodes}"
