"""Checks for those who write operators: is the gradient of an operator the derivative of what it computes?

``check_gradient("mul", {"X": x, "Y": y})`` returns if it is, and says where it is not otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paddle._engine import registry
from paddle._engine.single import Single

__all__ = ["check_gradient"]

Given = np.ndarray | Sequence[np.ndarray]


def check_gradient(
    op_type: str,
    inputs: Mapping[str, Given],
    attrs: Mapping[str, Any] | None = None,
    eps: float = 1e-5,
    rtol: float = 1e-6,
    no_gradient: Sequence[str] = (),
) -> None:
    """Compare the gradients of an operator with central differences of its outputs.

    ``inputs``: an array, or a list of arrays, for each input slot. Floating ones are perturbed in
    float64, element by element, by ``eps``: keep them small, and away from points where the operator has
    no derivative. ``no_gradient``: slots to leave out.

    The gradient kernel is run in float64, which must agree to ``rtol`` of the greatest element, and in
    float32, as in training, which must agree to 1e-4. Raises AssertionError naming the slot and the
    element that disagree most.
    """
    gradient = registry.gradient(op_type)
    slots = {slot: _listed(given) for slot, given in inputs.items()}
    wanted = [slot for slot in gradient.of if slot in slots and slot not in no_gradient]
    call = Single(op_type, {slot: _cast(arrays, np.float64) for slot, arrays in slots.items()}, attrs or {})
    outputs = call.forward()
    weights = {name: _weights(outputs[name].shape) for name in call.given()}
    expected = {slot: [_slope(call, array, weights, eps) for array in call.inputs[slot]] for slot in wanted}
    _compare(op_type, expected, call.gradient(weights, wanted), rtol)
    single = Single(op_type, {slot: _cast(arrays, np.float32) for slot, arrays in slots.items()}, attrs or {})
    halves = {name: each.astype(np.float32) for name, each in weights.items()}
    _compare(op_type, expected, single.gradient(halves, wanted), max(rtol, 1e-4))


def _slope(call: Single, array: np.ndarray, weights: Mapping[str, np.ndarray], eps: float) -> np.ndarray:
    """d(sum of weights * outputs) / d(array), by central differences."""

    def objective() -> float:
        outputs = call.forward()
        return sum(float((outputs[name] * each).sum()) for name, each in weights.items())

    slope, flat = np.empty(array.shape), array.reshape(-1)
    for i in range(flat.size):
        middle = flat[i]
        flat[i] = middle + eps
        above = objective()
        flat[i] = middle - eps
        slope.reshape(-1)[i] = (above - objective()) / (2 * eps)
        flat[i] = middle
    return slope


def _compare(
    op_type: str,
    expected: Mapping[str, Sequence[np.ndarray]],
    actual: Mapping[str, Sequence[np.ndarray]],
    rtol: float,
) -> None:
    for slot, slopes in expected.items():
        for i, (slope, found) in enumerate(zip(slopes, actual[slot], strict=True)):
            error = np.abs(slope - found)
            limit = rtol * max(1.0, float(np.abs(slope).max(initial=0)))
            if not (error <= limit).all():  # NaN is greater than any limit
                at = np.unravel_index(int(np.argmax(error)), error.shape)
                raise AssertionError(
                    f"{op_type}: gradient of {slot}[{i}] at {tuple(map(int, at))} is {found[at]:.9g} in "
                    f"{found.dtype}, central differences give {slope[at]:.9g} (allowed: {limit:.1g})"
                )


def _weights(shape: tuple[int, ...]) -> np.ndarray:
    """Fixed, unequal weights: with equal ones, errors that cancel in a sum would go unseen."""
    return np.random.default_rng(20170510).uniform(0.5, 1.5, shape)


def _listed(given: Given) -> list[np.ndarray]:
    return [given] if isinstance(given, np.ndarray) else list(given)


def _cast(arrays: Sequence[np.ndarray], dtype: type[np.floating]) -> list[np.ndarray]:
    """Copies, which may be perturbed, in the order that flat views of them need."""
    return [np.array(a, dtype if a.dtype.kind == "f" else np.int64, order="C") for a in arrays]
