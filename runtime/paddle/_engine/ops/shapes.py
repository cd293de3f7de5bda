"""Shape rules that several families share, and the way back from what they broadcast.

They see forms only, of which any size may be -1 (decided by a feed), and raise ShapeError where no feed
could fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form, Shape
from paddle._engine.registry import Forms, Step


def like_x(forms: Forms) -> Mapping[str, Form]:
    """Out has the form of X."""
    return {"Out": forms["X"]}


def agree(size: int, other: int) -> bool:
    """Whether two sizes can be equal."""
    return -1 in (size, other) or size == other


def matrix(forms: Forms, slot: str) -> Form:
    """The form in a slot that takes a matrix only."""
    if len(forms[slot].shape) != 2:
        raise ShapeError(f"{slot} must be a matrix, got shape {list(forms[slot].shape)}")
    return forms[slot]


def integers(forms: Forms, slot: str) -> Form:
    """The form in a slot that takes int64 only."""
    if forms[slot].dtype != "int64":
        raise ShapeError(f"{slot} must be int64, got {forms[slot].dtype}")
    return forms[slot]


def column(forms: Forms, slot: str, height: int) -> Form:
    """The form of an int64 column ``(height, 1)``, one label per sample."""
    form = integers(forms, slot)
    if len(form.shape) != 2 or form.shape[1] != 1 or not agree(form.shape[0], height):
        raise ShapeError(f"{slot} must have shape {[height, 1]}, got {list(form.shape)}")
    return form


def per_sample(form: Form) -> Form:
    """One number for each row of a matrix: shape (n, 1)."""
    return replace(form, shape=(form.shape[0], 1))


def alike(forms: Forms, slot: str, other: str) -> None:
    """Refuse two slots of which one has other numbers."""
    if forms[slot].dtype != forms[other].dtype:
        raise ShapeError(
            f"{slot} is {forms[slot].dtype} and {other} is {forms[other].dtype}: cast one of them"
        )


def one_number(forms: Forms, slot: str) -> None:
    """Refuse what is not one number, of shape (1,)."""
    if forms[slot].shape != (1,):
        raise ShapeError(f"{slot} is one number, of shape [1], not {list(forms[slot].shape)}")


def broadcast(shape: Shape, onto: Shape) -> None:
    """Refuse a shape that does not broadcast to ``onto``: trailing axes must be equal or 1."""
    fits = len(shape) <= len(onto) and all(
        size == 1 or agree(size, other) for size, other in zip(reversed(shape), reversed(onto), strict=False)
    )
    if not fits:
        raise ShapeError(f"Y of shape {list(shape)} does not broadcast to X of shape {list(onto)}")


def broadcast_both(shape: Shape, other: Shape) -> Shape:
    """What two shapes become together: axes are lined up from the last, and a size of 1 gives way."""
    longer, shorter = (shape, other) if len(shape) >= len(other) else (other, shape)
    missing = len(longer) - len(shorter)
    return longer[:missing] + tuple(
        _together(pair, shape, other) for pair in zip(longer[missing:], shorter, strict=True)
    )


def _together(sizes: tuple[int, int], shape: Shape, other: Shape) -> int:
    if 1 in sizes:
        return next((size for size in sizes if size != 1), 1)
    if not agree(*sizes):
        raise ShapeError(f"Y of shape {list(other)} does not broadcast to X of shape {list(shape)}")
    return max(sizes)  # one that a feed decides is -1


def axis(number: int, form: Form) -> int:
    """An axis of X as a number from 0 on."""
    rank = len(form.shape)
    if not -rank <= number < rank:
        raise ShapeError(f"axis {number} is outside the {rank} axes of X")
    return number % rank


def sum_into(source: np.ndarray, out: np.ndarray) -> Step:
    """A step that sums ``source`` over the axes along which ``out`` was broadcast."""
    kept = out.reshape((1,) * (source.ndim - out.ndim) + out.shape)
    axes = tuple(axis for axis, size in enumerate(kept.shape) if size == 1 and source.shape[axis] != 1)
    if not axes:
        return partial(np.copyto, kept, source)
    if axes == (0,) and source.ndim == 2 and source.dtype.char in "fd":
        ones = np.ones((1, len(source)), source.dtype)
        return partial(np.dot, ones, source, kept)  # half of a ufunc's time, or far less
    return partial(np.add.reduce, source, axis=axes, out=kept, keepdims=True)
