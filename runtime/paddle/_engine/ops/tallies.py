"""Operators that give back counts where others give slopes: what clicks and shows are normalized by.

Sources of the semantics: fluid's ``data_norm`` and ``cvm``. A parameter of ``data_norm`` is moved by how many
samples there were, by their sums, and by the sum of squares about its mean, which an optimizer takes as it
takes any gradient; ``pushed_rows`` are those of a table that is counted, and slopes of them are of a batch's
sum, where its cost is a mean; ``cvm`` gives its first two columns back as what was counted, whatever the cost
says. It must never know an optimizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps

_NO_SHOW = 1e-7
_KEPT = ("Size", "Sum", "Square")


def _norm_shape(forms: Forms) -> Mapping[str, Form]:
    x, slot = shapes.matrix(forms, "X"), forms.attrs["slot_dim"]
    for kept in _KEPT:
        if len(forms[kept].shape) != 1 or not shapes.agree(forms[kept].shape[0], x.shape[1]):
            raise ShapeError(
                f"{kept} {list(forms[kept].shape)} has no number for each of {x.shape[1]} columns"
            )
    if slot > 0 and x.shape[1] % slot:
        raise ShapeError(f"{x.shape[1]} columns are not slots of {slot} each")
    each = replace(x, shape=(x.shape[1],))
    shown = replace(x, shape=x.shape if slot > 0 else (1, 1))
    return {"Out": x, "Means": each, "Scales": each, "Shown": shown}


def _norm(call: Call) -> Steps:
    """(x - sum / size) * sqrt(size / square), and 0 in a slot whose first column, its shows, is 0."""
    x, out, means, scales, shown = (call[slot] for slot in ("X", "Out", "Means", "Scales", "Shown"))
    size, total, square = (call[slot] for slot in _KEPT)
    width = call.attrs["slot_dim"]

    def normalize() -> None:
        np.divide(total, size, means)
        np.sqrt(size / square, scales)
        np.subtract(x, means, out)
        np.multiply(out, scales, out)

    def pass_over() -> None:
        shown[:] = np.repeat(np.abs(x[:, ::width]) >= _NO_SHOW, width, axis=1)
        np.multiply(out, shown, out)

    shown.fill(1)
    yield normalize
    if width > 0:
        yield pass_over


def _norm_gradient(call: Call) -> Steps:
    x, means, scales, shown, grad = (call[slot] for slot in ("X", "Means", "Scales", "Shown", "Out@GRAD"))
    by_slot, epsilon = call.attrs["slot_dim"] > 0, call.attrs["epsilon"]

    def tally() -> None:
        count = np.broadcast_to(shown, x.shape).sum(0)
        total, square = (x * shown).sum(0), ((x - means) ** 2 * shown).sum(0)
        if by_slot:  # means of those that were shown, as of one sample
            many = np.maximum(count, 1)
            total, square, ones = total / many, square / many, np.minimum(count, 1)
        else:
            ones = count
        for slot, found in zip(_KEPT, (ones, total, square + count * epsilon), strict=True):
            if f"{slot}@GRAD" in call:
                np.copyto(call[f"{slot}@GRAD"], found, casting="same_kind")

    def give_back() -> None:
        np.multiply(grad, scales, call["X@GRAD"])
        np.multiply(call["X@GRAD"], shown, call["X@GRAD"])

    yield tally
    if "X@GRAD" in call:
        yield give_back


def _counted_shape(forms: Forms) -> Mapping[str, Form]:
    x, counts = shapes.matrix(forms, "X"), shapes.matrix(forms, "Counts")
    if counts.shape[1] != 2 or not shapes.agree(counts.shape[0], x.shape[0]):
        raise ShapeError(f"Counts must be two columns of {x.shape[0]} rows, got {list(counts.shape)}")
    if x.shape[1] < 2:
        raise ShapeError(f"X has two columns for shows and clicks, got {list(x.shape)}")
    return {"Out": x if forms.attrs["is_kept"] else replace(x, shape=(x.shape[0], x.shape[1] - 2))}


def _counted(call: Call) -> Steps:
    """Logarithms of shows and of clicks for a show, or neither, before the other columns."""
    x, out = call["X"], call["Out"]

    def count() -> None:
        np.log(x[:, :2] + 1, out[:, :2])
        np.subtract(out[:, 1], out[:, 0], out[:, 1])
        np.copyto(out[:, 2:], x[:, 2:])

    def leave_out() -> None:
        np.copyto(out, x[:, 2:])

    yield count if call.attrs["is_kept"] else leave_out


def _counted_gradient(call: Call) -> Steps:
    counts, dx = call["Counts"], call["X@GRAD"]
    grad = call["Out@GRAD"][:, 2 if call.attrs["is_kept"] else 0 :]

    def give_back() -> None:
        np.copyto(dx[:, :2], counts)
        np.copyto(dx[:, 2:], grad)

    yield give_back


def _pushed_shape(forms: Forms) -> Mapping[str, Form]:
    x, counts = forms["X"], shapes.matrix(forms, "Counts")
    if len(x.shape) < 2 or x.shape[-1] <= 2:
        raise ShapeError(f"X has two columns for shows and clicks before others, got {list(x.shape)}")
    agree = counts.shape[0] == 1 or shapes.agree(counts.shape[0], prod(x.shape[:-1]))
    if counts.shape[1] != 2 or not agree:
        raise ShapeError(f"Counts must be two columns of one row or of all in {list(x.shape)}")
    return {"Out": replace(x, shape=(*x.shape[:-1], x.shape[-1] - 2))}


def _pushed(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"][..., 2:])


def _pushed_gradient(call: Call) -> Steps:
    counts, samples, grad, dx = call["Counts"], call["Samples"], call["Out@GRAD"], call["X@GRAD"]
    many = np.float32(len(samples) - (1 if call.attrs["of_runs"] else 0))
    flat = dx.reshape(-1, dx.shape[-1])

    def give_back() -> None:
        np.copyto(flat[:, :2], counts)
        np.multiply(grad, many, dx[..., 2:])

    yield give_back


ROWS = (
    Row(
        type="pushed_rows",
        inputs=("X", "Counts", "Samples"),
        attrs={"of_runs": False},
        shape=_pushed_shape,
        forward=Kernel(_pushed),
        gradient=Gradient(_pushed_gradient, needs=("Counts", "Samples")),
    ),
    Row(
        type="data_norm",
        inputs=("X", *_KEPT),
        outputs=("Out", "Means", "Scales", "Shown"),
        attrs={"slot_dim": -1, "epsilon": 1e-5},
        shape=_norm_shape,
        forward=Kernel(_norm),
        gradient=Gradient(_norm_gradient, of=("X", *_KEPT), needs=("X", "Means", "Scales", "Shown")),
    ),
    Row(
        type="cvm",
        inputs=("X", "Counts"),
        attrs={"is_kept": True},
        shape=_counted_shape,
        forward=Kernel(_counted),
        gradient=Gradient(_counted_gradient, needs=("Counts",)),
    ),
)
