"""Operators that are computed on the host, between two plans: each gives what numpy does, or is compared in a
test that is named; and each gradient is that of central differences. Who adds one adds it here."""

from __future__ import annotations

import pytest

from paddle._program.lowering import op_rows
from tests.observed import observe

from . import elsewhere, image_cases, matrix_cases, number_cases, place_cases
from .case import Case
from .peer import compare_with_numpy

CASES = [*number_cases.CASES, *matrix_cases.CASES, *place_cases.CASES, *image_cases.CASES]
op_rows._load()
HOSTS = {type for type, row in op_rows._rows.items() if row.host is not None}
BACKS = {type for type, row in op_rows._rows.items() if row.back is not None}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_numpy_and_gradients_those_of_central_differences(case: Case) -> None:
    compare_with_numpy(case)


def test_every_operator_of_the_host_is_compared_with_something() -> None:
    lists = ({case.type for case in CASES}, elsewhere.VALUES, elsewhere.IDLE)
    assert sum(map(len, lists)) == len(set().union(*lists)), "some are in two lists"
    assert set().union(*lists) == HOSTS


def test_every_gradient_of_the_host_is_compared_with_differences() -> None:
    lists = ({case.type for case in CASES if case.learns}, elsewhere.SLOPES, elsewhere.OF_BLOCKS)
    assert sum(map(len, lists)) == len(set().union(*lists)), "some are in two lists"
    assert set().union(*lists) == BACKS


def test_tests_that_are_named_here_compute_these_operators_and_gradients_on_the_host() -> None:
    asked = [
        *elsewhere.VALUES.items(),
        *elsewhere.OF_BLOCKS.items(),
        *((f"{type}{op_rows.GRADIENT_OF}", node) for type, node in elsewhere.SLOPES.items()),
    ]
    observed = observe(node for _, node in asked)
    assert [(name, node) for name, node in asked if name not in observed[node].on_host] == []
