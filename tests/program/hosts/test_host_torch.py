"""Operators of the host that PyTorch has too: value and gradient of the same cases, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import elsewhere
from .case import Case
from .test_host_operators import CASES, HOSTS

COMPARED = [case for case in CASES if callable(case.torch)]


def test_every_operator_of_the_host_is_compared_with_torch_or_it_is_said_why_not() -> None:
    compared = {case.type for case in COMPARED}
    others = {case.type for case in CASES} - compared
    assert compared | others | elsewhere.WITHOUT.keys() == HOSTS
    assert not (compared | others) & elsewhere.WITHOUT.keys(), "some are in two lists"


def _tensors(torch: Any, case: Case) -> dict[str, Any]:
    def made(value: np.ndarray) -> Any:
        tensor = torch.from_numpy(np.ascontiguousarray(value))
        return tensor.requires_grad_(tensor.is_floating_point())

    arrays = case.arrays()
    return {
        slot: [made(each) for each in value] if isinstance(value, list) else made(value)
        for slot, value in arrays.items()
    }


@pytest.mark.parametrize("case", COMPARED, ids=str)
def test_values_and_gradients_are_those_of_torch(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
    given = _tensors(torch, case)
    assert callable(case.torch)
    told = case.torch(torch, *given.values())
    outs = told if isinstance(told, tuple) else (told,)
    found, slopes = case.ran()
    for value, wanted in zip(found, (each.detach().numpy() for each in outs), strict=True):
        value, wanted = (np.abs(value), np.abs(wanted)) if case.is_turned else (value, wanted)
        np.testing.assert_allclose(value, wanted, rtol=2e-5, atol=2e-6)
    sources = [given[slot] for slot in case.learns]
    if sources:
        came = torch.from_numpy(case.came().astype(np.float64))
        is_flat = case.type == "dist" and case.told["p"] == 0  # of which PyTorch itself cannot tell slopes
        flat = [None] * len(sources)
        wanted = flat if is_flat else torch.autograd.grad(outs[0], sources, came, allow_unused=True)
        for slot, slope in zip(case.learns, wanted, strict=True):
            expected = np.zeros_like(slopes[slot]) if slope is None else slope.numpy()
            np.testing.assert_allclose(slopes[slot], expected, rtol=1e-4, atol=1e-5, err_msg=slot)
