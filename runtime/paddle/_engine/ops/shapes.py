"""Shape rules that several families share.

They see forms only, of which any size may be -1 (decided by a feed), and raise ShapeError where no feed
could fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form, Shape
from paddle._engine.registry import Forms


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


def broadcast(shape: Shape, onto: Shape) -> None:
    """Refuse a shape that does not broadcast to ``onto``: trailing axes must be equal or 1."""
    fits = len(shape) <= len(onto) and all(
        size == 1 or agree(size, other) for size, other in zip(reversed(shape), reversed(onto), strict=False)
    )
    if not fits:
        raise ShapeError(f"Y of shape {list(shape)} does not broadcast to X of shape {list(onto)}")
