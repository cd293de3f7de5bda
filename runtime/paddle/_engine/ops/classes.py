"""Costs over so many classes that only some of them are computed.

``nce_cost`` tells labels from classes that were drawn (sampling.py, ``sample_classes``): the first ``labels``
columns of slots X and Samples are the labels'. ``class_path`` and ``path_cost`` put the classes at the leaves
of a binary tree: a label costs what the turns on its path do, each a sigmoid of its own.

Sources of the semantics: v2's ``nce`` and ``hsigmoid``. Class c is at leaf c + classes of a tree whose root
is 1 and where 2i and 2i + 1 are below i; node i has row i - 1 of the weights. In the original a label whose
path is shorter than the longest costs log 2 for each turn that it lacks, here nothing: gradients are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps

_EDGE = 40.0
"""Beyond it, either way, a turn costs what it costs there, as in the original."""


def _nce_shape(forms: Forms) -> Mapping[str, Form]:
    x, samples, labels = shapes.matrix(forms, "X"), shapes.integers(forms, "Samples"), forms.attrs["labels"]
    alike = len(samples.shape) == 2 and all(map(shapes.agree, x.shape, samples.shape))
    if not alike or x.shape[1] <= labels:
        shown = f"X has the shape {list(x.shape)}, Samples {list(samples.shape)}"
        raise ShapeError(f"{shown}, of which {labels} columns are labels'")
    return {"Out": shapes.per_sample(x)}


class _Chances:
    """How often each sample is expected among those that are drawn."""

    def __init__(self, call: Call) -> None:
        self._samples, attrs = call["Samples"], call.attrs
        drawn = self._samples.shape[1] - attrs["labels"]
        each = attrs["distribution"] or [1 / attrs["num_classes"]] * attrs["num_classes"]
        self._of_class = drawn * np.asarray(each, call["X"].dtype)
        self.values = np.empty_like(call["X"])

    def find(self) -> None:
        np.take(self._of_class, self._samples, 0, self.values, "clip")


def _nce(call: Call) -> Steps:
    """log(1 + b / x) of a label's x, and log(1 + x / b) of all others; b is its chance."""
    x, chances, costs = call["X"], _Chances(call), np.empty_like(call["X"])
    labels = costs[:, : call.attrs["labels"]]
    yield chances.find
    yield partial(np.divide, x, chances.values, costs)
    yield partial(np.reciprocal, labels, labels)
    yield partial(np.log1p, costs, costs)
    yield partial(np.add.reduce, costs, axis=1, out=call["Out"], keepdims=True)


def _nce_gradient(call: Call) -> Steps:
    """1 / (x + b), and of a label -b / x of that."""
    x, dx, chances, own = call["X"], call["X@GRAD"], _Chances(call), slice(call.attrs["labels"])

    def turn() -> None:
        dx[:, own] *= -chances.values[:, own] / x[:, own]

    yield chances.find
    yield partial(np.add, x, chances.values, dx)
    yield partial(np.reciprocal, dx, dx)
    yield turn
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)


def _length(classes: int) -> int:
    """The number of turns to the leaf that is farthest down."""
    return int(2 * classes - 1).bit_length() - 1


def _path_shape(forms: Forms) -> Mapping[str, Form]:
    label, classes = shapes.column(forms, "Label", -1), forms.attrs["num_classes"]
    if classes < 2:
        raise ShapeError(f"a path leads to one of 2 classes or more, not of {classes}")
    return {"Out": replace(label, shape=(label.shape[0], _length(classes)))}


def _leaves(label: np.ndarray, classes: int) -> np.ndarray:
    return label.reshape(-1, 1) + classes


def _path(call: Call) -> Steps:
    """The rows of the weights on each label's path, from the leaf up; 0 where there are no more."""
    label, out, classes = call["Label"], call["Out"], call.attrs["num_classes"]
    above = np.arange(1, out.shape[1] + 1)

    def climb() -> None:
        np.maximum((_leaves(label, classes) >> above) - 1, 0, out=out)

    yield climb


def _path_cost_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    shapes.column(forms, "Label", x.shape[0])
    if x.shape[1] != _length(forms.attrs["num_classes"]):
        raise ShapeError(f"X has {x.shape[1]} columns, a path of {_length(forms.attrs['num_classes'])} turns")
    return {"Out": shapes.per_sample(x)}


class _Turns:
    """Which way each turn of a path goes, 1 or 0, and where there is one."""

    def __init__(self, call: Call) -> None:
        self._label, self._classes = call["Label"], call.attrs["num_classes"]
        self._below = np.arange(call["X"].shape[1])
        self.ways, self.there = np.empty_like(call["X"]), np.empty(call["X"].shape, np.bool_)

    def find(self) -> None:
        leaves = _leaves(self._label, self._classes)
        self.ways[...] = leaves >> self._below & 1
        np.greater(leaves >> (self._below + 1), 0, self.there)


def _path_cost(call: Call) -> Steps:
    """The sum of log(1 + exp(x)) - way * x over the turns."""
    x, turns, out = call["X"], _Turns(call), call["Out"]

    def cost() -> None:
        held = np.clip(x, -_EDGE, _EDGE)
        costs = np.log1p(np.exp(held)) - turns.ways * held
        np.add.reduce(costs, axis=1, out=out, keepdims=True, where=turns.there)

    yield turns.find
    yield cost


def _path_cost_gradient(call: Call) -> Steps:
    x, dx, turns = call["X"], call["X@GRAD"], _Turns(call)

    def slope() -> None:
        np.subtract(1 / (1 + np.exp(-np.clip(x, -_EDGE, _EDGE))), turns.ways, dx)
        np.multiply(dx, turns.there, dx)

    yield turns.find
    yield slope
    yield partial(np.multiply, dx, call["Out@GRAD"], dx)


ROWS = (
    Row(
        type="nce_cost",
        inputs=("X", "Samples"),
        attrs={"num_classes": REQUIRED, "distribution": (), "labels": 1},
        shape=_nce_shape,
        forward=Kernel(_nce),
        gradient=Gradient(_nce_gradient, needs=("X", "Samples")),
    ),
    Row(
        type="class_path",
        inputs=("Label",),
        attrs={"num_classes": REQUIRED},
        shape=_path_shape,
        forward=Kernel(_path),
    ),
    Row(
        type="path_cost",
        inputs=("X", "Label"),
        attrs={"num_classes": REQUIRED},
        shape=_path_cost_shape,
        forward=Kernel(_path_cost),
        gradient=Gradient(_path_cost_gradient, needs=("X", "Label")),
    ),
)
