"""Pieces of arrays: cut out, chosen, set into zeros, turned about, mirrored or repeated. Nothing is computed.

A slice that ``clamps`` takes bounds as Python does: from the end where they are negative, and as far as an
axis goes where they are too great. Other slices refuse what their axis lacks.

Sources of the semantics: fluid's ``slice``, ``strided_slice``, ``pad``, ``transpose``, ``reverse``; v2's
``repeat``, ``crop``, ``pad`` and ``rotate`` are made of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps


def _cut_shape(forms: Forms) -> Mapping[str, Form]:
    x, attrs = forms["X"], forms.attrs
    shape = list(x.shape)
    for axis, start, end, step in _cuts(attrs):
        size = shape[shapes.axis(axis, x)]
        if not attrs["clamps"] and (size == -1 or not 0 <= start < end <= size):
            raise ShapeError(
                f"no piece from {start} to {end} can be cut out of axis {axis} of {list(x.shape)}"
            )
        shape[axis] = -1 if size == -1 else len(range(size)[start:end:step])
    return {"Out": replace(x, shape=tuple(shape))}


def _cuts(attrs: Mapping[str, Any]) -> list[tuple[int, int, int, int]]:
    steps = attrs["steps"] or (1,) * len(attrs["axes"])
    return list(zip(attrs["axes"], attrs["starts"], attrs["ends"], steps, strict=True))


def _cut_from(array: np.ndarray, call: Call) -> np.ndarray:
    places = [slice(None)] * array.ndim
    for axis, start, end, step in _cuts(call.attrs):
        places[axis] = slice(start, end, step)
    return array[tuple(places)]


def _cut(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], _cut_from(call["X"], call))


def _cut_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(dx.fill, 0)
    yield partial(np.copyto, _cut_from(dx, call), call["Out@GRAD"])


def _pad_shape(forms: Forms) -> Mapping[str, Form]:
    x, around = forms["X"], forms.attrs["paddings"]
    if len(around) != len(x.shape) or any(min(each) < 0 for each in around):
        raise ShapeError(f"paddings are (before, after) for each axis of {list(x.shape)}, not {around}")
    if any(size == -1 and any(each) for size, each in zip(x.shape, around, strict=True)):
        raise ShapeError(f"an axis that a feed decides is not padded: {list(x.shape)} by {around}")
    return {"Out": replace(x, shape=tuple(s + sum(each) for s, each in zip(x.shape, around, strict=True)))}


def _middle(array: np.ndarray, around: Sequence[tuple[int, int]]) -> np.ndarray:
    """What of an array is not its padding."""
    sizes = zip(array.shape, around, strict=True)
    return array[tuple(slice(before, size - after) for size, (before, after) in sizes)]


def _pad(call: Call) -> Steps:
    out = call["Out"]
    yield partial(out.fill, call.attrs["value"])
    yield partial(np.copyto, _middle(out, call.attrs["paddings"]), call["X"])


def _pad_gradient(call: Call) -> Steps:
    yield partial(np.copyto, call["X@GRAD"], _middle(call["Out@GRAD"], call.attrs["paddings"]))


def _transpose_shape(forms: Forms) -> Mapping[str, Form]:
    x, order = forms["X"], tuple(forms.attrs["axis"])
    if sorted(order) != list(range(len(x.shape))):
        raise ShapeError(f"axis is an order of the {len(x.shape)} axes of X, not {list(order)}")
    return {"Out": replace(x, shape=tuple(x.shape[each] for each in order))}


def _transpose(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"].transpose(call.attrs["axis"]))


def _transpose_gradient(call: Call) -> Steps:
    yield partial(np.copyto, call["X@GRAD"].transpose(call.attrs["axis"]), call["Out@GRAD"])


def _reverse_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.axis(forms.attrs["axis"], forms["X"])
    return {"Out": forms["X"]}


def _reverse(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], np.flip(call["X"], call.attrs["axis"]))


def _reverse_gradient(call: Call) -> Steps:
    yield partial(np.copyto, call["X@GRAD"], np.flip(call["Out@GRAD"], call.attrs["axis"]))


def _repeat_shape(forms: Forms) -> Mapping[str, Form]:
    x, axis, times = forms["X"], shapes.axis(forms.attrs["axis"], forms["X"]), forms.attrs["times"]
    if x.shape[axis] != 1 or times < 1:
        raise ShapeError(f"axis {axis} of {list(x.shape)} is repeated {times} times: it must be of size 1")
    return {"Out": replace(x, shape=(*x.shape[:axis], times, *x.shape[axis + 1 :]))}


def _repeat(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"])


def _repeat_gradient(call: Call) -> Steps:
    axis, dx = call.attrs["axis"], call["X@GRAD"]
    yield partial(np.add.reduce, call["Out@GRAD"], axis=axis, out=dx, keepdims=True)


def _multiplex_shape(forms: Forms) -> Mapping[str, Form]:
    parts = forms.all("X")
    shapes.column(forms, "Ids", parts[0].shape[0])
    first = parts[0].shape
    if any(len(each.shape) != 2 or not all(map(shapes.agree, each.shape, first)) for each in parts):
        raise ShapeError(f"rows are chosen of matrices of one shape, not of {[list(p.shape) for p in parts]}")
    return {"Out": parts[0]}


class _Choice:
    """Which rows each of ``count`` matrices has: those whose id is its number."""

    def __init__(self, call: Call, count: int) -> None:
        self._ids, self._numbers = call["Ids"].reshape(-1), np.arange(count)
        self.chosen = np.empty((count, len(self._ids), 1), np.bool_)

    def make(self) -> None:
        np.equal(self._ids, self._numbers[:, None], self.chosen[:, :, 0])


def _multiplex(call: Call) -> Steps:
    parts, out = [part for part in call.arrays("X") if part is not None], call["Out"]
    choice = _Choice(call, len(parts))
    yield choice.make
    yield partial(out.fill, 0)
    for part, chosen in zip(parts, choice.chosen, strict=True):
        yield partial(np.copyto, out, part, where=chosen)


def _multiplex_gradient(call: Call) -> Steps:
    parts, grad = call.arrays("X@GRAD"), call["Out@GRAD"]
    choice = _Choice(call, len(parts))
    yield choice.make
    for part, chosen in zip(parts, choice.chosen, strict=True):
        if part is not None:
            yield partial(np.multiply, grad, chosen, part)


ROWS = (
    Row(
        type="multiplex",
        inputs=("Ids", "X*"),
        shape=_multiplex_shape,
        forward=Kernel(_multiplex),
        gradient=Gradient(_multiplex_gradient, needs=("Ids",)),
    ),
    Row(
        type="slice",
        attrs={"axes": REQUIRED, "starts": REQUIRED, "ends": REQUIRED, "steps": (), "clamps": False},
        shape=_cut_shape,
        forward=Kernel(_cut),
        gradient=Gradient(_cut_gradient),
    ),
    Row(
        type="pad",
        attrs={"paddings": REQUIRED, "value": 0.0},
        shape=_pad_shape,
        forward=Kernel(_pad),
        gradient=Gradient(_pad_gradient),
    ),
    Row(
        type="transpose",
        attrs={"axis": REQUIRED},
        shape=_transpose_shape,
        forward=Kernel(_transpose),
        gradient=Gradient(_transpose_gradient),
    ),
    Row(
        type="reverse",
        attrs={"axis": REQUIRED},
        shape=_reverse_shape,
        forward=Kernel(_reverse),
        gradient=Gradient(_reverse_gradient),
    ),
    Row(
        type="repeat",
        attrs={"axis": REQUIRED, "times": REQUIRED},
        shape=_repeat_shape,
        forward=Kernel(_repeat),
        gradient=Gradient(_repeat_gradient),
    ),
)
