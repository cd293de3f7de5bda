"""Sums and means over some axes, or over all of them (then of shape (1,))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form, Shape
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _axes(dim: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """The axes that attribute ``dim`` names, as non-negative numbers; None names all."""
    named = range(rank) if dim is None else (dim,) if isinstance(dim, int) else dim
    if wrong := [axis for axis in named if not -rank <= axis < rank]:
        raise ShapeError(f"dim {wrong} is outside the {rank} axes of X")
    return tuple(sorted({axis % rank for axis in named}))


def _kept(shape: Shape, axes: tuple[int, ...]) -> Shape:
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def _shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    axes = _axes(forms.attrs["dim"], len(x.shape))
    if forms.attrs["keep_dim"]:
        return {"Out": replace(x, shape=_kept(x.shape, axes))}
    left = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    return {"Out": replace(x, shape=left or (1,))}


def _mean_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": replace(forms["X"], shape=(1,))}


def _sum(call: Call) -> Steps:
    x = call["X"]
    axes = _axes(call.attrs.get("dim"), x.ndim)
    kept = call["Out"].reshape(_kept(x.shape, axes))
    yield partial(np.add.reduce, x, axis=axes, out=kept, keepdims=True)


def _mean(call: Call) -> Steps:
    yield from _sum(call)
    out = call["Out"]
    yield partial(np.multiply, out, out.size / max(call["X"].size, 1), out)


def _sum_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.copyto, dx, _spread(call))


def _mean_gradient(call: Call) -> Steps:
    dx, grad = call["X@GRAD"], call["Out@GRAD"]
    yield partial(np.multiply, _spread(call), grad.size / max(dx.size, 1), dx)


def _spread(call: Call) -> np.ndarray:
    """The gradient of Out, shaped to broadcast to X."""
    dx = call["X@GRAD"]
    return call["Out@GRAD"].reshape(_kept(dx.shape, _axes(call.attrs.get("dim"), dx.ndim)))


_DIMENSIONS = {"dim": None, "keep_dim": False}

ROWS = (
    Row(type="mean", shape=_mean_shape, forward=Kernel(_mean), gradient=Gradient(_mean_gradient)),
    Row(
        type="reduce_sum",
        attrs=_DIMENSIONS,
        shape=_shape,
        forward=Kernel(_sum),
        gradient=Gradient(_sum_gradient),
    ),
    Row(
        type="reduce_mean",
        attrs=_DIMENSIONS,
        shape=_shape,
        forward=Kernel(_mean),
        gradient=Gradient(_mean_gradient),
    ),
)
