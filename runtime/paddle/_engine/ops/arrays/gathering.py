"""Gathering and scattering: rows, or elements, that integers name, taken out of arrays or put into them.

Sources of the semantics: fluid's ``gather``, ``gather_nd``, ``scatter``, ``scatter_nd_add`` and ``one_hot``,
and ``index_sample``, which takes from each row its own elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Index, Kernel, Row, Step, Steps


def _flat_index(forms: Forms) -> Form:
    """Indexes in one axis, which may have another of size 1 behind it."""
    index = shapes.integers(forms, "Index")
    if len(index.shape) not in (1, 2) or (len(index.shape) == 2 and not shapes.agree(index.shape[1], 1)):
        raise ShapeError(f"Index must have the shape [n] or [n, 1], got {list(index.shape)}")
    return index


def _gather_shape(forms: Forms) -> Mapping[str, Form]:
    x, index = forms["X"], _flat_index(forms)
    axis = shapes.axis(forms.attrs["axis"], x)
    return {"Out": replace(x, shape=(*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]))}


def _gather(call: Call) -> Steps:
    x, index, axis = call["X"], call["Index"].reshape(-1), call.attrs["axis"]
    yield _inside(call, index, x.shape[axis])
    yield partial(np.take, x, index, axis, call["Out"], "clip")


def _inside(call: Call, index: np.ndarray, size: int) -> Step:
    """A step that refuses what points outside an axis, before anything is taken with it."""

    def check() -> None:
        if index.size and (index.min() < 0 or index.max() >= size):
            wrong = index[(index < 0) | (index >= size)].flat[0]
            raise FeedError(f"Index holds {wrong}, but the axis that it points into has {size} places")

    return check


def _gather_gradient(call: Call) -> Steps:
    dx, index, axis = call["X@GRAD"], call["Index"].reshape(-1), call.attrs["axis"]
    lined = np.moveaxis(dx, axis, 0), np.moveaxis(call["Out@GRAD"], axis, 0)
    yield partial(dx.fill, 0)
    yield partial(np.add.at, lined[0], index, lined[1])


def _gather_nd_shape(forms: Forms) -> Mapping[str, Form]:
    x, index = forms["X"], shapes.integers(forms, "Index")
    depth = index.shape[-1]
    if not 0 < depth <= len(x.shape):
        raise ShapeError(f"the last axis of Index {list(index.shape)} names some axes of {list(x.shape)}")
    return {"Out": replace(x, shape=(*index.shape[:-1], *x.shape[depth:]) or (1,))}


def _places(index: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(index[..., k] for k in range(index.shape[-1]))


def _checked(call: Call, sizes: tuple[int, ...]) -> Steps:
    for place, size in zip(_places(call["Index"]), sizes, strict=False):
        yield _inside(call, place, size)


def _gather_nd(call: Call) -> Steps:
    x, out, places = call["X"], call["Out"], _places(call["Index"])
    yield from _checked(call, x.shape)
    yield lambda: np.copyto(out, x[places].reshape(out.shape))


def _gather_nd_gradient(call: Call) -> Steps:
    dx, places, grad = call["X@GRAD"], _places(call["Index"]), call["Out@GRAD"]
    shape = (*call["Index"].shape[:-1], *dx.shape[len(places) :])
    yield partial(dx.fill, 0)
    yield partial(np.add.at, dx, places, grad.reshape(shape))


def _scatter_shape(forms: Forms) -> Mapping[str, Form]:
    x, index, updates = forms["X"], _flat_index(forms), forms["Updates"]
    rows = index.shape[0], *x.shape[1:]
    if len(updates.shape) != len(x.shape) or not all(map(shapes.agree, updates.shape, rows)):
        raise ShapeError(
            f"Updates {list(updates.shape)} are no {list(rows)}: a row of X {list(x.shape)} for each place"
        )
    return {"Out": x}


def _scatter(call: Call) -> Steps:
    """X with some rows replaced; without ``overwrite`` with the sums of all that is put there instead."""
    out, index, updates = call["Out"], call["Index"].reshape(-1), call["Updates"]
    yield _inside(call, index, len(out))
    yield partial(np.copyto, out, call["X"])
    if call.attrs["overwrite"]:
        yield partial(out.__setitem__, index, updates)
    else:
        yield partial(out.__setitem__, index, 0)
        yield partial(np.add.at, out, index, updates)


def _scatter_gradient(call: Call) -> Steps:
    index, grad = call["Index"].reshape(-1), call["Out@GRAD"]
    if "X@GRAD" in call:
        yield partial(np.copyto, call["X@GRAD"], grad)
        yield partial(call["X@GRAD"].__setitem__, index, 0)
    if "Updates@GRAD" in call:
        yield partial(np.take, grad, index, 0, call["Updates@GRAD"], "clip")


def _add_shape(forms: Forms) -> Mapping[str, Form]:
    made, updates = _gather_nd_shape(forms)["Out"], forms["Updates"]
    if len(made.shape) != len(updates.shape) or not all(map(shapes.agree, made.shape, updates.shape)):
        raise ShapeError(f"Updates are {list(updates.shape)}, and Index names places for {list(made.shape)}")
    return {"Out": forms["X"]}


def _add(call: Call) -> Steps:
    yield from _checked(call, call["X"].shape)
    yield partial(np.copyto, call["Out"], call["X"])
    yield partial(np.add.at, call["Out"], _places(call["Index"]), call["Updates"])


def _add_gradient(call: Call) -> Steps:
    grad, places = call["Out@GRAD"], _places(call["Index"])
    if "X@GRAD" in call:
        yield partial(np.copyto, call["X@GRAD"], grad)
    if "Updates@GRAD" in call:
        yield lambda: np.copyto(call["Updates@GRAD"], grad[places])


def _sample_shape(forms: Forms) -> Mapping[str, Form]:
    x, index = shapes.matrix(forms, "X"), shapes.integers(forms, "Index")
    shapes.matrix(forms, "Index")
    if not shapes.agree(x.shape[0], index.shape[0]):
        raise ShapeError(f"X has {x.shape[0]} rows and Index {index.shape[0]}")
    return {"Out": replace(x, shape=index.shape)}


def _sample(call: Call) -> Steps:
    yield lambda: np.copyto(call["Out"], np.take_along_axis(call["X"], call["Index"], 1))


def _sample_gradient(call: Call) -> Steps:
    dx, rows = call["X@GRAD"], np.arange(len(call["Index"]))[:, None]
    yield partial(dx.fill, 0)
    yield partial(np.add.at, dx, (rows, call["Index"]), call["Out@GRAD"])


def _one_hot_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form((*shapes.integers(forms, "X").shape, forms.attrs["depth"]))}


def _one_hot(call: Call) -> Steps:
    """1 in the place that an integer names, 0 elsewhere."""
    x, out, depth = call["X"], call["Out"], call.attrs["depth"]
    numbers, is_it = np.arange(depth), np.empty(out.shape, np.bool_)
    yield _inside(call, x, depth)
    yield partial(np.equal, x[..., None], numbers, is_it)
    yield partial(np.copyto, out, is_it)


ROWS = (
    Row(
        type="gather",
        inputs=("X", "Index"),
        attrs={"axis": 0},
        shape=_gather_shape,
        forward=Kernel(_gather),
        gradient=Gradient(_gather_gradient, needs=("Index",)),
    ),
    Row(
        type="gather_nd",
        inputs=("X", "Index"),
        shape=_gather_nd_shape,
        forward=Kernel(_gather_nd),
        gradient=Gradient(_gather_nd_gradient, needs=("Index",)),
    ),
    Row(
        type="scatter",
        inputs=("X", "Index", "Updates"),
        attrs={"overwrite": True},
        shape=_scatter_shape,
        forward=Kernel(_scatter),
        gradient=Gradient(_scatter_gradient, of=("X", "Updates"), needs=("Index",)),
    ),
    Row(
        type="scatter_nd_add",
        inputs=("X", "Index", "Updates"),
        shape=_add_shape,
        forward=Kernel(_add),
        gradient=Gradient(_add_gradient, of=("X", "Updates"), needs=("Index",)),
    ),
    Row(
        type="index_sample",
        inputs=("X", "Index"),
        shape=_sample_shape,
        forward=Kernel(_sample),
        gradient=Gradient(_sample_gradient, needs=("Index",)),
        indexes=(Index("Index", into="X", axis=1),),
    ),
    Row(type="one_hot", attrs={"depth": REQUIRED}, shape=_one_hot_shape, forward=Kernel(_one_hot)),
)
