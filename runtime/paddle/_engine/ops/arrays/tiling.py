"""Tiling: an array repeated along its axes, as often as is said or as another array is larger.

Sources of the semantics: fluid's ``expand`` (every axis so many times), ``expand_as`` and 2.x's ``expand``
(axes of size 1 as large as another's).
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


def _tiled_shape(forms: Forms) -> Mapping[str, Form]:
    x, times = forms["X"], forms.attrs["times"]
    if len(times) < len(x.shape) or min(times) < 1:
        raise ShapeError(f"each axis of {list(x.shape)} is repeated once or more, not {list(times)} times")
    lined = (1,) * (len(times) - len(x.shape)) + x.shape
    sizes = zip(lined, times, strict=True)
    return {"Out": replace(x, shape=tuple(-1 if size == -1 else size * n for size, n in sizes))}


def _apart(x: np.ndarray, times: tuple[int, ...], out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both with two axes for each: the repetitions, and what is repeated."""
    lined = (1,) * (len(times) - x.ndim) + x.shape
    halves = [each for size, n in zip(lined, times, strict=True) for each in (n, size)]
    ones = [each for size in lined for each in (1, size)]
    return x.reshape(ones), out.reshape(halves)


def _tile(call: Call) -> Steps:
    x, out = _apart(call["X"], tuple(call.attrs["times"]), call["Out"])
    yield partial(np.copyto, out, x)


def _tile_gradient(call: Call) -> Steps:
    dx, grad = _apart(call["X@GRAD"], tuple(call.attrs["times"]), call["Out@GRAD"])
    yield partial(np.add.reduce, grad, axis=tuple(range(0, grad.ndim, 2)), out=dx, keepdims=True)


def _spread_shape(forms: Forms) -> Mapping[str, Form]:
    x, like = forms["X"], forms["Like"]
    shapes.broadcast(x.shape, like.shape)
    return {"Out": replace(x, shape=like.shape)}


def _spread_to_shape(forms: Forms) -> Mapping[str, Form]:
    """To ``shape``, where -1 is the size that X has there."""
    x, wanted = forms["X"], forms.attrs["shape"]
    missing = len(wanted) - len(x.shape)
    if missing < 0 or -1 in wanted[:missing]:
        raise ShapeError(f"{list(x.shape)} cannot be expanded to {list(wanted)}")
    own = wanted[:missing] + x.shape
    shape = tuple(mine if size == -1 else size for mine, size in zip(own, wanted, strict=True))
    shapes.broadcast(x.shape, shape)
    return {"Out": replace(x, shape=shape)}


def _spread(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"])


def _spread_gradient(call: Call) -> Steps:
    yield shapes.sum_into(call["Out@GRAD"], call["X@GRAD"])


ROWS = (
    Row(
        type="tile",
        attrs={"times": REQUIRED},
        shape=_tiled_shape,
        forward=Kernel(_tile),
        gradient=Gradient(_tile_gradient),
    ),
    Row(
        type="expand_as",
        inputs=("X", "Like"),
        shape=_spread_shape,
        forward=Kernel(_spread),
        gradient=Gradient(_spread_gradient),
    ),
    Row(
        type="expand",
        attrs={"shape": REQUIRED},
        shape=_spread_to_shape,
        forward=Kernel(_spread),
        gradient=Gradient(_spread_gradient),
    ),
)
