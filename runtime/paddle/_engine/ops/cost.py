"""Costs: one number per sample, shape (n, 1). A label that is ``ignored`` costs nothing, and has no gradient.

Sources of the semantics: v2's ``classification_cost`` and ``square_error_cost`` (the sum of squares of a
row, without the factor one half) and fluid's operators of these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Index, Kernel, Row, Steps


def _cross_entropy_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    shapes.column(forms, "Label", x.shape[0])
    return {"Out": shapes.per_sample(x)}


def _cross_entropy(call: Call) -> Steps:
    """-log of the probability of the label, which is kept above zero so that a cost stays finite."""
    x, out = call["X"], call["Out"]
    picked, chosen = out.reshape(-1), _Chosen(call["Label"], x, call.attrs["ignored"])
    yield chosen.locate
    yield partial(np.take, x.reshape(-1), chosen.places, 0, picked, "clip")
    yield partial(np.maximum, picked, np.finfo(x.dtype).tiny, out=picked)
    yield partial(np.log, picked, picked)
    yield partial(np.negative, picked, picked)
    yield from chosen.passed_over(picked)


def _cross_entropy_gradient(call: Call) -> Steps:
    x, dx = call["X"].reshape(-1), call["X@GRAD"]
    chosen = _Chosen(call["Label"], call["X"], call.attrs["ignored"])
    slope = np.empty(len(chosen.places), x.dtype)
    yield partial(dx.fill, 0)
    yield chosen.locate
    yield partial(np.take, x, chosen.places, 0, slope, "clip")
    yield partial(np.maximum, slope, np.finfo(x.dtype).tiny, out=slope)
    yield partial(np.divide, call["Out@GRAD"].reshape(-1), slope, slope)
    yield partial(np.negative, slope, slope)
    yield from chosen.passed_over(slope)
    yield partial(np.put, dx.reshape(-1), chosen.places, slope, "clip")


class _Chosen:
    """Where the label of each row stands in a flattened matrix; one that is ``ignored`` stands first."""

    def __init__(self, label: np.ndarray, x: np.ndarray, ignored: int | None):
        self._first = np.arange(x.shape[0], dtype=np.int64) * x.shape[1]
        self.places = np.empty_like(self._first)
        self._label, self._ignored = label.reshape(-1), ignored
        self._is_passed = np.zeros(len(self._first), np.bool_)

    def locate(self) -> None:
        """Find the places."""
        np.add(self._first, self._label, self.places)
        if self._ignored is not None:
            np.equal(self._label, self._ignored, self._is_passed)
            np.copyto(self.places, self._first, where=self._is_passed)

    def passed_over(self, values: np.ndarray) -> Steps:
        """What makes the values of rows that are ignored 0."""
        if self._ignored is not None:
            yield partial(np.copyto, values, values.dtype.type(0), where=self._is_passed)


def _softmax_cost_shape(forms: Forms) -> Mapping[str, Form]:
    logits = shapes.matrix(forms, "Logits")
    shapes.column(forms, "Label", logits.shape[0])
    return {"Loss": shapes.per_sample(logits), "Softmax": logits}


def _softmax_cost(call: Call) -> Steps:
    from paddle._engine.kernels.softmax import passed_label, softmax_cross_entropy  # loads numba

    logits, label = call["Logits"], call["Label"].reshape(-1)
    edge = np.empty((logits.shape[0], 1), logits.dtype)
    yield partial(np.maximum.reduce, logits, axis=-1, out=edge, keepdims=True)
    ignored = passed_label(call.attrs["ignored"])
    yield partial(softmax_cross_entropy, logits, label, edge, call["Softmax"], call["Loss"], ignored)


def _softmax_cost_gradient(call: Call) -> Steps:
    """(softmax - one hot label) * grad."""
    softmax, grad, dx = call["Softmax"], call["Loss@GRAD"], call["Logits@GRAD"]
    flat, picked = dx.reshape(-1), np.empty(len(grad), dx.dtype)
    chosen = _Chosen(call["Label"], dx, call.attrs["ignored"])
    yield chosen.locate
    if call.attrs["ignored"] is not None:
        kept = np.empty_like(grad)
        yield partial(np.copyto, kept, grad)
        yield from chosen.passed_over(kept.reshape(-1))
        grad = kept
    yield partial(np.multiply, softmax, grad, dx)
    yield partial(np.take, flat, chosen.places, 0, picked, "clip")
    yield partial(np.subtract, picked, grad.reshape(-1), picked)
    yield partial(np.put, flat, chosen.places, picked, "clip")


def _soft_shape(forms: Forms) -> Mapping[str, Form]:
    logits, label = shapes.matrix(forms, "Logits"), shapes.matrix(forms, "Label")
    shapes.broadcast(label.shape, logits.shape)
    return {"Loss": shapes.per_sample(logits), "Softmax": logits}


def _soft(call: Call) -> Steps:
    """-sum(label * log(softmax)), whatever the shares of a label add up to."""
    logits, logs, loss = call["Logits"], call["Softmax"], call["Loss"]
    edge, each = np.empty((logits.shape[0], 1), logits.dtype), np.empty_like(logits)
    yield partial(np.maximum.reduce, logits, axis=1, out=edge, keepdims=True)
    yield partial(np.subtract, logits, edge, logs)
    yield partial(np.exp, logs, each)
    yield partial(np.add.reduce, each, axis=1, out=edge, keepdims=True)
    yield partial(np.log, edge, edge)
    yield partial(np.subtract, logs, edge, logs)
    yield partial(np.multiply, call["Label"], logs, each)
    yield partial(np.add.reduce, each, axis=1, out=loss, keepdims=True)
    yield partial(np.negative, loss, loss)
    yield partial(np.exp, logs, logs)


def _soft_gradient(call: Call) -> Steps:
    """(softmax - label) * grad, as if the shares of each label added up to 1."""
    dx = call["Logits@GRAD"]
    yield partial(np.subtract, call["Softmax"], call["Label"], dx)
    yield partial(np.multiply, dx, call["Loss@GRAD"], dx)


def _square_error_shape(forms: Forms) -> Mapping[str, Form]:
    x, label = shapes.matrix(forms, "X"), shapes.matrix(forms, "Label")
    shapes.broadcast(label.shape, x.shape)
    shapes.broadcast(x.shape, label.shape)
    return {"Out": shapes.per_sample(x) if forms.attrs["per_sample"] else x}


def _square_error(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    if out.shape == x.shape:
        yield partial(np.subtract, x, call["Label"], out)
        yield partial(np.multiply, out, out, out)
        return
    squares = np.empty_like(x)
    yield partial(np.subtract, x, call["Label"], squares)
    yield partial(np.multiply, squares, squares, squares)
    yield partial(np.add.reduce, squares, axis=1, out=out, keepdims=True)


def _square_error_gradient(call: Call) -> Steps:
    first, second = ("X", "Label") if "X@GRAD" in call else ("Label", "X")
    slope = call[f"{first}@GRAD"]
    yield partial(np.subtract, call[first], call[second], slope)
    yield partial(np.add, slope, slope, slope)
    yield partial(np.multiply, slope, call["Out@GRAD"], slope)
    if f"{second}@GRAD" in call:
        yield partial(np.negative, slope, call[f"{second}@GRAD"])


ROWS = (
    Row(
        type="cross_entropy",
        inputs=("X", "Label"),
        attrs={"ignored": None},
        shape=_cross_entropy_shape,
        forward=Kernel(_cross_entropy),
        gradient=Gradient(_cross_entropy_gradient, needs=("X", "Label")),
        indexes=(Index("Label", into="X", axis=1, passed="ignored"),),
    ),
    Row(
        type="softmax_with_cross_entropy",
        inputs=("Logits", "Label"),
        outputs=("Loss", "Softmax"),
        attrs={"ignored": None},
        shape=_softmax_cost_shape,
        forward=Kernel(_softmax_cost),  # in place, the compiler could not use vector instructions
        gradient=Gradient(
            _softmax_cost_gradient,
            in_place={"Logits@GRAD": "Softmax"},
            of=("Logits",),
            needs=("Softmax", "Label"),
            given="Loss",
        ),
        indexes=(Index("Label", into="Logits", axis=1, passed="ignored"),),
    ),
    Row(
        type="softmax_with_soft_labels",
        inputs=("Logits", "Label"),
        outputs=("Loss", "Softmax"),
        shape=_soft_shape,
        forward=Kernel(_soft),
        gradient=Gradient(
            _soft_gradient,
            in_place={"Logits@GRAD": "Softmax"},
            of=("Logits",),
            needs=("Softmax", "Label"),
            given="Loss",
        ),
    ),
    Row(
        type="square_error_cost",
        inputs=("X", "Label"),
        attrs={"per_sample": True},
        shape=_square_error_shape,
        forward=Kernel(_square_error),
        gradient=Gradient(_square_error_gradient, of=("X", "Label"), needs=("X", "Label")),
    ),
)
