"""Sums, means, products and extremes over some axes, or over all of them (then of shape (1,)); running sums.

What comes back through an extreme goes to each element that is it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
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
    if len(axes) == x.ndim and x.flags.c_contiguous:  # the same sum, and half of the time where x is small
        yield partial(np.add.reduce, x.reshape(-1), 0, None, call["Out"].reshape(()))
        return
    kept = call["Out"].reshape(_kept(x.shape, axes))
    yield partial(np.add.reduce, x, axis=axes, out=kept, keepdims=True)


def _mean(call: Call) -> Steps:
    yield from _sum(call)
    out = call["Out"]
    yield partial(np.multiply, out, _share(out, call["X"]), out)


def _sum_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(np.copyto, dx, _spread(call))


def _mean_gradient(call: Call) -> Steps:
    dx, grad = call["X@GRAD"], call["Out@GRAD"]
    yield partial(np.multiply, _spread(call), _share(grad, dx), dx)


def _share(of: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What a mean multiplies by; as an array, which numpy need not convert at every step."""
    share = of.size / max(x.size, 1)
    return np.array(share, np.result_type(of, share))


def _spread(call: Call) -> np.ndarray:
    """The gradient of Out, shaped to broadcast to X."""
    dx = call["X@GRAD"]
    return call["Out@GRAD"].reshape(_kept(dx.shape, _axes(call.attrs.get("dim"), dx.ndim)))


def _extreme(ufunc: np.ufunc) -> Callable[[Call], Steps]:
    def bind(call: Call) -> Steps:
        x = call["X"]
        axes = _axes(call.attrs["dim"], x.ndim)
        yield partial(
            ufunc.reduce, x, axis=axes, out=call["Out"].reshape(_kept(x.shape, axes)), keepdims=True
        )

    return bind


def _extreme_gradient(call: Call) -> Steps:
    x, dx = call["X"], call["X@GRAD"]
    found = call["Out"].reshape(_kept(x.shape, _axes(call.attrs["dim"], x.ndim)))
    is_it = np.empty(x.shape, np.bool_)
    yield partial(np.equal, x, found, is_it)
    yield partial(np.multiply, is_it, _spread(call), dx)


def _product_gradient(call: Call) -> Steps:
    """The product of all the others, without a division: some may be zero."""
    x, dx = call["X"], call["X@GRAD"]
    axes = _axes(call.attrs["dim"], x.ndim)
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    lined = x.transpose(rest + axes).shape
    flat = (*lined[: len(rest)], -1)

    def slope() -> None:
        rows = x.transpose(rest + axes).reshape(flat)
        others = np.ones_like(rows)
        np.cumprod(rows[..., :-1], -1, out=others[..., 1:])
        behind = np.cumprod(rows[..., :0:-1], -1)[..., ::-1]
        others[..., :-1] *= behind
        back = np.argsort(rest + axes)
        np.multiply(others.reshape(lined).transpose(back), _spread(call), dx)

    yield slope


def _summed_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.axis(forms.attrs["axis"], forms["X"])
    return {"Out": forms["X"]}


def _run_up(x: np.ndarray, out: np.ndarray, attrs: Mapping[str, Any], *, is_reverse: bool) -> Steps:
    """Running sums along an axis, from either end, with or without the element itself."""
    axis, apart = attrs["axis"], attrs["exclusive"]
    source, target = (np.flip(each, axis) if is_reverse else each for each in (x, out))
    yield partial(np.cumsum, source, axis, None, target)
    if apart:
        yield partial(np.subtract, target, source, target)


def _cumsum(call: Call) -> Steps:
    yield from _run_up(call["X"], call["Out"], call.attrs, is_reverse=call.attrs["reverse"])


def _cumsum_gradient(call: Call) -> Steps:
    yield from _run_up(call["Out@GRAD"], call["X@GRAD"], call.attrs, is_reverse=not call.attrs["reverse"])


_DIMENSIONS = {"dim": None, "keep_dim": False}


def _row(type: str, forward: Callable[[Call], Steps], gradient: Callable[[Call], Steps], *needs: str) -> Row:
    back = Gradient(gradient, needs=needs)
    return Row(type=type, attrs=_DIMENSIONS, shape=_shape, forward=Kernel(forward), gradient=back)


ROWS = (
    Row(type="mean", shape=_mean_shape, forward=Kernel(_mean), gradient=Gradient(_mean_gradient)),
    _row("reduce_sum", _sum, _sum_gradient),
    _row("reduce_mean", _mean, _mean_gradient),
    _row("reduce_max", _extreme(np.maximum), _extreme_gradient, "X", "Out"),
    _row("reduce_min", _extreme(np.minimum), _extreme_gradient, "X", "Out"),
    _row("reduce_prod", _extreme(np.multiply), _product_gradient, "X"),
    Row(
        type="cumsum",
        attrs={"axis": -1, "exclusive": False, "reverse": False},
        shape=_summed_shape,
        forward=Kernel(_cumsum),
        gradient=Gradient(_cumsum_gradient),
    ),
)
