"""Operators that bound gradients, dense or rows. Of what clipping.py appends, norms of dense arrays have a
gradient; ``clip_error`` gives what it gets, and bounds what comes back.

Rows that repeat are one row: each is added to its first occurrence before anything is bounded, and the others
become zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Step, Steps, same_memory
from paddle._engine.rows import SparseRows


def _by_value(call: Call) -> Steps:
    low, high = call.attrs["min"], call.attrs["max"]
    yield from _bounded(call, lambda x, out: np.clip(x, low, high, out=out))


def _norm_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.one_number(forms, "Squares")
    return {"Out": forms["X"]}


def _by_norm(call: Call) -> Steps:
    norm, squares = call.attrs["max_norm"], call["Squares"]

    def bound(x: np.ndarray, out: np.ndarray) -> object:
        return np.multiply(x, norm / max(np.sqrt(squares[0]), norm), out=out)

    yield from _bounded(call, bound)


def _by_norm_gradient(call: Call) -> Steps:
    """A norm that is bounded is no longer X's own: along X nothing goes back by way of Squares."""
    x, squares, grad, norm = call["X"], call["Squares"], call["Out@GRAD"], call.attrs["max_norm"]
    if "X@GRAD" in call:
        dx = call["X@GRAD"]
        yield lambda: np.multiply(grad, norm / max(np.sqrt(squares[0]), norm), dx)
    if "Squares@GRAD" in call:
        along, flat, given = call["Squares@GRAD"], x.reshape(-1), grad.reshape(-1)

        def slope() -> None:
            is_bounded = squares[0] > norm * norm
            along.fill(-0.5 * norm * np.dot(flat, given) / squares[0] ** 1.5 if is_bounded else 0.0)

        yield slope


def _squares_gradient(call: Call) -> Steps:
    x, grad, dx = call["X"], call["Out@GRAD"], call["X@GRAD"]
    yield lambda: np.multiply(x, 2 * grad[0], dx)


def _bounded(call: Call, bound: Callable[[np.ndarray, np.ndarray], object]) -> Steps:
    rows, out = call.rows("X"), call.rows("Out")
    if rows is None or out is None:
        yield partial(bound, call["X"], call["Out"])
        return
    yield partial(np.copyto, out.ids, rows.ids)
    yield _folding(rows, out.values)
    yield partial(bound, out.values, out.values)


def _by_number(call: Call) -> Steps:
    rows, out, number = call.rows("X"), call.rows("Out"), call["Y"]
    if rows is None or out is None:
        yield partial(np.multiply, call["X"], number, call["Out"])
        return
    yield partial(np.copyto, out.ids, rows.ids)
    yield partial(np.multiply, rows.values, number, out.values)


def _number_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.one_number(forms, "Y")
    return {"Out": forms["X"]}


def _squares(call: Call) -> Steps:
    rows, out = call.rows("X"), call["Out"]
    values = call["X"] if rows is None else np.empty_like(rows.values)
    if rows is not None:
        yield _folding(rows, values)
    flat = values.reshape(-1)
    yield lambda: out.fill(np.dot(flat, flat))


def _folding(rows: SparseRows, into: np.ndarray) -> Step:
    """A step that writes the values of ``rows`` with repeated ones added to the first of them."""

    def fold() -> None:
        if not len(rows.ids):
            return
        order = np.argsort(rows.ids, kind="stable")
        ids = rows.ids[order]
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        sums = np.add.reduceat(rows.values[order], starts, axis=0)
        into.fill(0)
        into[order[starts]] = sums

    return fold


def _pass_on(call: Call) -> Steps:
    if not same_memory(call["X"], call["Out"]):
        yield partial(np.copyto, call["Out"], call["X"])


def _bounded_error(call: Call) -> Steps:
    least, most = call.attrs["min"], call.attrs["max"]
    yield partial(np.clip, call["Out@GRAD"], least, most, out=call["X@GRAD"])


def _pruned_shape(forms: Forms) -> Mapping[str, Form]:
    x, mask = forms["X"].shape, forms["Mask"].shape
    if len(x) != len(mask) or not all(map(shapes.agree, x, mask)):
        raise ShapeError(f"Mask {list(mask)} says of no element of X {list(x)} whether it stays")
    return {"Out": forms["X"]}


def _pruned(call: Call) -> Steps:
    x, mask, out = call["X"], call["Mask"], call["Out"]
    goes = np.empty(mask.shape, bool)
    if not same_memory(x, out):
        yield partial(np.copyto, out, x)
    yield partial(np.equal, mask, 0, goes)
    yield partial(np.putmask, out, goes, np.float32(0))  # and not -0, nor what an infinity times 0 is


def _squares_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form((1,), forms["X"].dtype)}


ROWS = (
    Row(
        type="clip_by_value",
        attrs={"min": REQUIRED, "max": REQUIRED},
        shape=shapes.like_x,
        forward=Kernel(_by_value, in_place={"Out": "X"}),
    ),
    Row(
        type="clip_error",
        attrs={"min": REQUIRED, "max": REQUIRED},
        shape=shapes.like_x,
        forward=Kernel(_pass_on, views={"Out": "X"}),
        gradient=Gradient(_bounded_error, in_place={"X@GRAD": "Out@GRAD"}),
    ),
    Row(
        type="prune",
        inputs=("X", "Mask"),
        shape=_pruned_shape,
        forward=Kernel(_pruned, in_place={"Out": "X"}),
    ),
    Row(type="scale_by", inputs=("X", "Y"), shape=_number_shape, forward=Kernel(_by_number)),
    Row(
        type="squared_l2_norm",
        shape=_squares_shape,
        forward=Kernel(_squares),
        gradient=Gradient(_squares_gradient, needs=("X",)),
    ),
    Row(
        type="clip_by_norm",
        inputs=("X", "Squares"),
        attrs={"max_norm": REQUIRED},
        shape=_norm_shape,
        forward=Kernel(_by_norm, in_place={"Out": "X"}),
        gradient=Gradient(_by_norm_gradient, of=("X", "Squares"), needs=("X", "Squares")),
    ),
)
