"""Who may not talk to whom."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.lab.partition import HEALED, apart, rules

ADDRESSES = {"head": "10.0.0.9", "n1": "10.0.0.1", "n2": "10.0.0.2"}


@pytest.mark.parametrize(
    ("groups", "cut"),
    [
        ([], set()),
        ([["head", "n1", "n2"]], set()),
        ([["n1"]], {"n1-head", "n1-n2"}),
        ([["n1"], ["n2"]], {"n1-head", "n1-n2", "n2-head"}),
        ([["head", "n1"], ["n1", "n2"]], {"n2-head"}),
        ([["n1", "n2"]], {"n1-head", "n2-head"}),
    ],
)
def test_places_of_no_common_group_are_apart_both_ways(
    groups: Sequence[Sequence[str]], cut: set[str]
) -> None:
    pairs = {tuple(pair.split("-")) for pair in cut}
    assert set(apart(ADDRESSES, groups)) == pairs | {(other, one) for one, other in pairs}


def test_without_a_pair_apart_there_is_no_rule() -> None:
    assert rules(ADDRESSES, []) == HEALED
    assert "10.0.0.2 . 10.0.0.9" in rules(ADDRESSES, [["n2"]])
