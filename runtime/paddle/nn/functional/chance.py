"""Functions of chance: ``gumbel_softmax``, ``alpha_dropout``, ``dropout3d``, ``rrelu`` and others.

They must never draw: each function appends operators to the default program, which draw at every run.
Guarantee: not ``training``, each is the same in every run.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import NotInThisRelease
from paddle.nn.functional.activation import leaky_relu, softmax
from paddle.nn.functional.basics import dropout
from paddle.nn.functional.input import one_hot
from paddle.tensor import math
from paddle.tensor._append import append_all
from paddle.tensor.creation import full_like
from paddle.tensor.logic import less_than
from paddle.tensor.manipulation import transpose
from paddle.tensor.placing import sizes_of_each
from paddle.tensor.random import uniform
from paddle.tensor.search import argmax, where

__all__ = ["alpha_dropout", "class_center_sample", "dropout3d", "gumbel_softmax", "rrelu"]

_LEAST = -1.7580993408473766  # what SELU comes to far below 0


def gumbel_softmax(
    x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Any:
    """softmax((x + what is drawn from Gumbel's distribution) / temperature) along ``axis``.

    ``hard``: 1 where that is largest and 0 elsewhere, with the gradient of the soft one. ``axis`` has a
    declared size then.
    """
    if temperature <= 0:
        raise ValueError(f"temperature of gumbel_softmax is above 0, not {temperature}")
    drawn = uniform(sizes_of_each(x), "float32", 1e-20, 1.0)
    noise = math.scale(math.log(math.scale(math.log(drawn), -1.0, 1e-20)), -1.0)
    noise.stop_gradient = True
    soft = softmax(math.scale(math.add(x, noise), 1.0 / temperature), axis)
    if not hard:
        return soft
    rank = len(x.shape)
    axis %= rank
    chosen = one_hot(argmax(soft, axis), x.shape[axis])
    if axis != rank - 1:
        chosen = transpose(chosen, [*range(axis), rank - 1, *range(axis, rank - 1)])
    apart = math.subtract(chosen, soft)
    apart.stop_gradient = True
    return math.add(soft, apart, name)


def dropout3d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Whole channels of volumes dropped."""
    return dropout(x, p, axis=[0, 1] if data_format == "NCDHW" else [0, 4], training=training, name=name)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """With the chance ``p`` what SELU comes to far below 0, and all scaled so that mean and variance stay."""
    if not 0 <= p <= 1:
        raise ValueError(f"p of alpha_dropout is a chance from 0 to 1, not {p!r}")
    if not training or p == 0:
        return math.scale(x, 1.0, name=name)
    if p == 1:
        return math.scale(x, 0.0, name=name)
    scale = ((1 - p) * (1 + p * _LEAST**2)) ** -0.5
    drops = less_than(uniform(sizes_of_each(x), "float32", 0.0, 1.0), full_like(x, float(p)))
    return math.scale(where(drops, full_like(x, _LEAST), x), scale, -scale * p * _LEAST, name=name)


def rrelu(
    x: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = True, name: str | None = None
) -> Any:
    """x above 0, and below it x times what is drawn between ``lower`` and ``upper``; their mean in tests."""
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu draws between numbers from 0 to 1, lower and upper, not {lower} and {upper}")
    if not training:
        return leaky_relu(x, (lower + upper) / 2, name)
    slopes = uniform(sizes_of_each(x), "float32", float(lower), float(upper))
    slopes.stop_gradient = True
    return where(less_than(x, full_like(x, 0.0)), math.multiply(x, slopes), x, name)


def class_center_sample(label: Any, num_classes: int, num_samples: int, group: Any = None) -> tuple[Any, Any]:
    """Classes whose centers a step compares with: those of ``label`` (n,), then others that are drawn, up to
    ``num_samples``. Gives labels as places among these, and the classes. ``group``: None, or False."""
    if not 0 < num_samples <= num_classes:
        raise ValueError(
            f"class_center_sample: num_samples is from 1 to num_classes, {num_classes}, not {num_samples}"
        )
    if group:
        raise NotInThisRelease("class_center_sample(group=...) is of collective training: leave it out")
    outputs = ("RemappedLabel", "SampledLocalClassCenter")
    attrs = {"num_classes": num_classes, "num_samples": num_samples}
    found = append_all("class_center_sample", {"Label": label}, attrs, outputs=outputs, stop_gradient=True)
    return found[0], found[1]
