"""Operators of the host that PyTorch has too: value and gradient of the same cases, where it is installed."""

from __future__ import annotations

import pytest

from . import elsewhere
from .case import Case
from .peer import compare_with_torch
from .test_host_operators import CASES, HOSTS

COMPARED = [case for case in CASES if callable(case.torch)]


def test_every_operator_of_the_host_is_compared_with_torch_or_it_is_said_why_not() -> None:
    compared = {case.type for case in COMPARED}
    others = {case.type for case in CASES} - compared
    assert compared | others | elsewhere.WITHOUT.keys() == HOSTS
    assert not (compared | others) & elsewhere.WITHOUT.keys(), "some are in two lists"


@pytest.mark.parametrize("case", COMPARED, ids=str)
def test_values_and_gradients_are_those_of_torch(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
    compare_with_torch(torch, case)
