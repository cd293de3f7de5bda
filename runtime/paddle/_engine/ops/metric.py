"""Metrics: what a face reports. Of these a gradient passes through the greatest of a row alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from paddle._engine.auc import area_under_curve
from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Index, Kernel, Row, Steps


def _top_k_shape(forms: Forms) -> Mapping[str, Form]:
    x, k = shapes.matrix(forms, "X"), forms.attrs["k"]
    if k < 1 or (x.shape[1] != -1 and k > x.shape[1]):
        raise ShapeError(f"k must lie in 1 .. {x.shape[1]}, got {k}")
    best = replace(x, shape=(x.shape[0], k))
    return {"Out": best, "Indices": replace(best, dtype="int64")}


def _top_k(call: Call) -> Steps:
    """The k greatest of each row, greatest first; of equal ones, the leftmost first."""
    x, out, indices = call["X"], call["Out"], call["Indices"]

    def select() -> None:
        indices[...] = np.argsort(-x, axis=1, kind="stable")[:, : indices.shape[1]]
        out[...] = np.take_along_axis(x, indices, axis=1)

    yield select


def _top_k_gradient(call: Call) -> Steps:
    dx, indices, grad = call["X@GRAD"], call["Indices"], call["Out@GRAD"]
    yield partial(dx.fill, 0)
    yield lambda: np.put_along_axis(dx, indices, grad, 1)


def _accuracy_shape(forms: Forms) -> Mapping[str, Form]:
    indices = shapes.integers(forms, "Indices")
    if len(indices.shape) != 2:
        raise ShapeError(f"Indices must be a matrix, got shape {list(indices.shape)}")
    shapes.column(forms, "Label", indices.shape[0])
    count = Form((1,), "int64")
    return {"Accuracy": Form((1,), forms["Out"].dtype), "Correct": count, "Total": count}


def _accuracy(call: Call) -> Steps:
    """The share of samples whose label is among their top k."""
    indices, label = call["Indices"], call["Label"]
    hits = np.empty(indices.shape, np.bool_)
    yield partial(np.equal, indices, label, hits)
    yield partial(np.add.reduce, hits, axis=(0, 1), out=call["Correct"].reshape(1, 1), keepdims=True)
    yield partial(call["Total"].fill, len(label))
    yield partial(np.divide, call["Correct"], call["Total"], call["Accuracy"], casting="same_kind")


def _error_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    shapes.column(forms, "Label", x.shape[0])
    return {"Out": shapes.per_sample(x)}


def _classification_error(call: Call) -> Steps:
    """1 where the label's is not among the greatest ``top_k`` (of equal ones the leftmost), else 0."""
    best, label = np.empty(len(call["X"]), np.int64), call["Label"].reshape(-1)
    if call.attrs["top_k"] > 1:
        yield from _not_among(call["X"], call["Label"], call.attrs["top_k"], call["Out"])
        return
    yield partial(np.argmax, call["X"], 1, best)
    yield partial(np.not_equal, best, label, call["Out"].reshape(-1), casting="unsafe")


def _not_among(x: np.ndarray, label: np.ndarray, count: int, out: np.ndarray) -> Steps:
    columns = np.arange(x.shape[1])

    def find() -> None:
        own = np.take_along_axis(x, label, 1)
        ahead = (x > own) | ((x == own) & (columns < label))
        np.greater_equal(ahead.sum(1, keepdims=True), count, out, casting="unsafe")

    yield find


def _differs_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.column(forms, "X", -1)
    shapes.column(forms, "Y", x.shape[0])
    return {"Out": replace(x, dtype="float32")}


def _differs(call: Call) -> Steps:
    """1 where two columns of integers differ, else 0."""
    yield partial(np.not_equal, call["X"], call["Y"], call["Out"], casting="unsafe")


def _auc_shape(forms: Forms) -> Mapping[str, Form]:
    predict, attrs = shapes.matrix(forms, "Predict"), forms.attrs
    shapes.column(forms, "Label", predict.shape[0])
    width, steps = attrs["num_thresholds"] + 1, attrs["slide_steps"]
    size = (steps + 1) * width + 1 if steps else width
    if wrong := [
        list(forms[slot].shape)
        for slot in ("Positive", "Negative")
        if prod(shapes.integers(forms, slot).shape) != size
    ]:
        raise ShapeError(f"samples are counted in {size} integers, not in {wrong[0]}")
    return {"AUC": Form((1,))}


class _Counts:
    """So many samples of one kind with each score, counted where the array lies.

    Of all steps, ``width`` numbers. Of the last ``steps`` alone: those of each, one behind the other in a
    ring, those of all of these, and how many steps there were.
    """

    def __init__(self, array: np.ndarray, width: int, steps: int) -> None:
        flat = array.reshape(-1)
        self._flat, self._steps = flat, steps
        self._ring = flat[: steps * width].reshape(-1, width)
        self.totals = flat[steps * width : (steps + 1) * width]

    def add(self, buckets: np.ndarray) -> None:
        own = np.bincount(buckets, minlength=len(self.totals))
        if self._steps:
            before = self._ring[self._flat[-1] % self._steps]
            np.subtract(self.totals, before, self.totals)
            np.copyto(before, own)
            self._flat[-1] += 1
        np.add(self.totals, own, self.totals)


def _auc(call: Call) -> Steps:
    """The area under the curve of the samples so far, which are counted by their label and their score.

    A score is the last column, from 0 to 1; the area is that of trapezoids between the buckets.
    """
    scores, label, out = call["Predict"][:, -1], call["Label"].reshape(-1), call["AUC"]
    last, steps = call.attrs["num_thresholds"], call.attrs["slide_steps"]
    positive, negative = (_Counts(call[slot], last + 1, steps) for slot in ("Positive", "Negative"))

    def count() -> None:
        buckets = np.clip(np.nan_to_num(scores) * last, 0, last).astype(np.int64)
        positive.add(buckets[label != 0])
        negative.add(buckets[label == 0])
        out[0] = area_under_curve(positive.totals, negative.totals)

    yield count


ROWS = (
    Row(
        type="auc",
        inputs=("Predict", "Label", "Positive", "Negative"),
        outputs=("AUC",),
        attrs={"num_thresholds": REQUIRED, "slide_steps": 0},
        changes=lambda attrs: ("Positive", "Negative"),
        shape=_auc_shape,
        forward=Kernel(_auc),
    ),
    Row(type="differs", inputs=("X", "Y"), shape=_differs_shape, forward=Kernel(_differs)),
    Row(
        type="top_k",
        outputs=("Out", "Indices"),
        attrs={"k": 1},
        shape=_top_k_shape,
        forward=Kernel(_top_k),
        gradient=Gradient(_top_k_gradient, needs=("Indices",)),
    ),
    Row(
        type="accuracy",
        inputs=("Out", "Indices", "Label"),
        outputs=("Accuracy", "Correct", "Total"),
        shape=_accuracy_shape,
        forward=Kernel(_accuracy),
    ),
    Row(
        type="classification_error",
        inputs=("X", "Label"),
        attrs={"top_k": 1},
        shape=_error_shape,
        forward=Kernel(_classification_error),
        indexes=(Index("Label", into="X", axis=1),),
    ),
)
