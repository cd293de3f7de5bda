"""Costs that a few samples far off cannot rule: their slope is bounded.

Sources of the semantics: v2's ``huber_regression_cost``, ``smooth_l1_cost`` (the same with delta 1) and
``huber_classification_cost``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _huber_shape(forms: Forms) -> Mapping[str, Form]:
    x, label = shapes.matrix(forms, "X"), shapes.matrix(forms, "Label")
    if not all(map(shapes.agree, x.shape, label.shape)):
        raise ShapeError(f"X has the shape {list(x.shape)}, its Label {list(label.shape)}")
    if forms.attrs["delta"] <= 0:
        raise ShapeError(f"delta is greater than 0, not {forms.attrs['delta']}")
    return {"Out": shapes.per_sample(x)}


def _huber(call: Call) -> Steps:
    """The sum over a row of c * (d - c / 2), where d is the difference and c is d within delta of 0."""
    x, delta = call["X"], call.attrs["delta"]
    difference, bounded = np.empty_like(x), np.empty_like(x)
    yield partial(np.subtract, x, call["Label"], difference)
    yield partial(np.clip, difference, -delta, delta, bounded)
    yield partial(np.multiply, difference, 2, difference)
    yield partial(np.subtract, difference, bounded, difference)
    yield partial(np.multiply, difference, bounded, difference)
    yield partial(np.add.reduce, difference, axis=1, out=call["Out"], keepdims=True)
    yield partial(np.multiply, call["Out"], 0.5, call["Out"])


def _huber_gradient(call: Call) -> Steps:
    first, second = ("X", "Label") if "X@GRAD" in call else ("Label", "X")
    slope, delta = call[f"{first}@GRAD"], call.attrs["delta"]
    yield partial(np.subtract, call[first], call[second], slope)
    yield partial(np.clip, slope, -delta, delta, slope)
    yield partial(np.multiply, slope, call["Out@GRAD"], slope)
    if f"{second}@GRAD" in call:
        yield partial(np.negative, slope, call[f"{second}@GRAD"])


def _classes_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    shapes.column(forms, "Label", x.shape[0])
    if x.shape[1] != 1:
        raise ShapeError(f"X has one column, which is greater than 0 for class 1, not {x.shape[1]}")
    return {"Out": x}


class _Margins:
    """How far on its side of 0 each number is: +x where the label is 1, -x where it is 0."""

    def __init__(self, call: Call) -> None:
        self._x, self._label = call["X"], call["Label"]
        self.sides, self.margins = np.empty_like(self._x), np.empty_like(self._x)

    def find(self) -> None:
        np.multiply(self._label, 2, self.sides)
        np.subtract(self.sides, 1, self.sides)
        np.multiply(self._x, self.sides, self.margins)


def _two_classes(call: Call) -> Steps:
    """(1 - m)**2 for a margin m above -1, a straight line of slope -4 below it, 0 above 1."""
    at, out = _Margins(call), call["Out"]

    def cost() -> None:
        near = np.clip(at.margins, -1, 1)
        np.square(1 - near, out)
        np.add(out, 4 * np.maximum(-1 - at.margins, 0), out)

    yield at.find
    yield cost


def _two_classes_gradient(call: Call) -> Steps:
    at, dx = _Margins(call), call["X@GRAD"]

    def slope() -> None:
        np.subtract(np.clip(at.margins, -1, 1), 1, dx)
        np.multiply(dx, 2 * at.sides, dx)

    yield at.find
    yield slope
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)


ROWS = (
    Row(
        type="huber_loss",
        inputs=("X", "Label"),
        attrs={"delta": 1.0},
        shape=_huber_shape,
        forward=Kernel(_huber),
        gradient=Gradient(_huber_gradient, of=("X", "Label"), needs=("X", "Label")),
    ),
    Row(
        type="modified_huber_loss",
        inputs=("X", "Label"),
        shape=_classes_shape,
        forward=Kernel(_two_classes),
        gradient=Gradient(_two_classes_gradient, needs=("X", "Label")),
    ),
)
