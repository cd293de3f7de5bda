"""Whether what a plan has found is what the plain one finds.

Where passes have only left out or moved operators, and no thread has taken a part, every bit is the same.
Elsewhere sums are rounded in another order: numbers agree within ``TOLERANCE`` of the largest of their array,
or, of what rounding moves more than that, within what it is moved by when the plain plan is run again on
numbers that are rounded otherwise (``noise``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.registry import Value
from paddle._engine.rows import SparseRows

TOLERANCE = 1e-5
ONE = 1e-6
"""What is fetched may always differ by so much: kernels that do the work of two state 3e-7 for one value."""

COARSE = 1e-2
"""That of numbers in 16 bits."""

TIMES = 8.0
"""As many times what another rounding moves numbers by, passes may move them."""

Told = dict[str, Value]
"""What a run has written, by what a person calls it."""

Room = dict[str, float]
"""By how much of these numbers may differ in any case."""


def unlike(found: Told, plain: Told, room: Room, *, exact: bool) -> dict[str, str]:
    """In what those differ that do."""
    said = {
        name: _unlike(found[name], plain[name], room.get(name, 0.0), exact) for name in found.keys() & plain
    }
    said |= dict.fromkeys(found.keys() ^ plain.keys(), "is there once only")
    return {name: said[name] for name in sorted(said) if said[name]}


def noise(plain: Value, others: Sequence[Value]) -> float:
    """By how much numbers differ from run to run; all that there is where they are not even as many."""
    if isinstance(plain, SparseRows):
        plain, others = plain.values, [each.values for each in others if isinstance(each, SparseRows)]
    same = [each for each in others if isinstance(each, np.ndarray) and each.shape == plain.shape]
    if len(same) < len(others) or plain.dtype.kind not in "fc":
        return 0.0
    with np.errstate(invalid="ignore"):
        moved = [np.abs(np.subtract(each, plain, dtype=np.float64)) for each in same]
    return max((float(np.nan_to_num(each).max(initial=0)) for each in moved), default=0.0)


def _unlike(found: Value, plain: Value, room: float, exact: bool) -> str:
    if isinstance(found, SparseRows) and isinstance(plain, SparseRows):
        ids, values = _merged(found)
        own, others = _merged(plain)
        if not np.array_equal(ids, own):
            return f"lists the rows {ids.tolist()}, not {own.tolist()}"
        return _unlike(values, others, room, exact=False)
    if isinstance(found, SparseRows) or isinstance(plain, SparseRows):
        return f"is {type(found).__name__}, not {type(plain).__name__}"
    if found.shape != plain.shape or found.dtype != plain.dtype:
        return f"is {found.dtype}{list(found.shape)}, not {plain.dtype}{list(plain.shape)}"
    if exact or found.dtype.kind not in "fc":
        same = np.equal(found, plain) | ((found != found) & (plain != plain))
        return "" if same.all() else f"differs in {(~same).sum()} of {same.size}"
    return _far(found, plain, room)


def _far(found: np.ndarray, plain: np.ndarray, room: float) -> str:
    tolerance = TOLERANCE if found.dtype.itemsize > 2 else COARSE
    scale = float(np.abs(plain[np.isfinite(plain)]).max(initial=0))
    same = np.isclose(found, plain, rtol=tolerance, atol=tolerance * scale + room, equal_nan=True)
    if same.all():
        return ""
    worst = float(np.abs(found.astype(np.float64) - plain)[~same].max())
    return (
        f"differs in {(~same).sum()} of {same.size}, by up to {worst:.3g}, where {scale:.3g} is the largest"
    )


def _merged(rows: SparseRows) -> tuple[np.ndarray, np.ndarray]:
    ids, places = np.unique(rows.ids, return_inverse=True)
    values = np.zeros((len(ids), rows.width))
    np.add.at(values, places.reshape(-1), rows.values)
    return ids, values.astype(rows.values.dtype)
