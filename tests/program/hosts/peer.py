"""What numpy and PyTorch make of a case."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, one_of


def compare_with_numpy(case: Case) -> None:
    """Values of a program are those of numpy, and gradients those of central differences."""
    found, slopes = case.ran()
    for value, wanted in zip(found, case.expected(), strict=True):
        value, wanted = (np.abs(value), np.abs(wanted)) if case.is_turned else (value, wanted)
        assert value.shape == wanted.shape
        np.testing.assert_allclose(value, wanted, rtol=2e-5, atol=2e-6)
    for slot, slope in slopes.items():
        np.testing.assert_allclose(slope, case.slope(slot), rtol=1e-4, atol=1e-5, err_msg=slot)


def _tensors(torch: Any, case: Case) -> dict[str, Any]:
    def made(value: np.ndarray) -> Any:
        tensor = torch.from_numpy(np.ascontiguousarray(value))
        return tensor.requires_grad_(tensor.is_floating_point())

    arrays = case.arrays()
    return {
        slot: [made(each) for each in value] if isinstance(value, list) else made(value)
        for slot, value in arrays.items()
    }


def compare_with_torch(torch: Any, case: Case) -> None:
    """Values and gradients of a program are those of PyTorch."""
    given = _tensors(torch, case)
    assert callable(case.torch)
    told = case.torch(torch, *given.values())
    outs = told if isinstance(told, tuple) else (told,)
    found, slopes = case.ran()
    for value, wanted in zip(found, (each.detach().numpy() for each in outs), strict=True):
        value, wanted = (np.abs(value), np.abs(wanted)) if case.is_turned else (value, wanted)
        np.testing.assert_allclose(value, wanted, rtol=2e-5, atol=2e-6)
    sources = [one_of(given, slot) for slot in case.learns]
    if sources:
        came = torch.from_numpy(case.came().astype(np.float64))
        is_flat = case.type == "dist" and case.told["p"] == 0  # of which PyTorch itself cannot tell slopes
        flat = [None] * len(sources)
        wanted = flat if is_flat else torch.autograd.grad(outs[0], sources, came, allow_unused=True)
        for slot, slope in zip(case.learns, wanted, strict=True):
            expected = np.zeros_like(slopes[slot]) if slope is None else slope.numpy()
            np.testing.assert_allclose(slopes[slot], expected, rtol=1e-4, atol=1e-5, err_msg=slot)
