"""Pieces of arrays: cut out, chosen, set into zeros, turned about, mirrored or repeated. Nothing is computed.

A slice that ``clamps`` takes bounds as Python does: from the end where they are negative, and as far as an
axis goes where they are too great. Other slices refuse what their axis lacks.

Sources of the semantics: fluid's ``slice``, ``strided_slice``, ``pad``, ``transpose``, ``reverse``; v2's
``repeat``, ``crop``, ``pad`` and ``rotate`` are made of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

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


def _cut_from(array: np.ndarray, attrs: Mapping[str, Any]) -> np.ndarray:
    places = [slice(None)] * array.ndim
    for axis, start, end, step in _cuts(attrs):
        places[axis] = slice(start, end, step)
    return array[tuple(places)]


def _cut(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], _cut_from(call["X"], call.attrs))


def _cut_gradient(call: Call) -> Steps:
    dx = call["X@GRAD"]
    yield partial(dx.fill, 0)
    yield partial(np.copyto, _cut_from(dx, call.attrs), call["Out@GRAD"])


def _pieces_shape(forms: Forms) -> Mapping[str, tuple[Form, ...]]:
    each = (_cut_shape(Forms(forms.slots, attrs)) for attrs in forms.attrs["pieces"])
    return {"Out": tuple(form for one in each for form in one.values())}


def _pieces(call: Call) -> Steps:
    for out, attrs in zip(call.arrays("Out"), call.attrs["pieces"], strict=True):
        if out is not None:
            yield partial(np.copyto, out, _cut_from(call["X"], attrs))


def _pieces_gradient(call: Call) -> Steps:
    """What no piece has is 0, and what several have is their sum."""
    dx = call["X@GRAD"]
    places = [_cut_from(dx, attrs) for attrs in call.attrs["pieces"]]
    counts = _counted(dx, call.attrs["pieces"])
    adds = counts is None or counts.max(initial=0) > 1
    if counts is None or adds or not counts.all():
        yield partial(dx.fill, 0)
    for place, given in zip(places, call.arrays("Out@GRAD"), strict=True):
        if given is not None:
            yield partial(np.add, place, given, place) if adds else partial(np.copyto, place, given)


def _counted(array: np.ndarray, pieces: Sequence[Mapping[str, Any]]) -> np.ndarray | None:
    """How many pieces have each place of the axis along which all are cut; None where they are cut along
    several."""
    cuts = [cut for attrs in pieces for cut in _cuts(attrs)]
    axes = {axis % array.ndim for axis, *_ in cuts}
    if len(axes) != 1 or len(cuts) != len(pieces):
        return None
    counts = np.zeros(array.shape[axes.pop()], np.int64)
    for _, start, end, step in cuts:
        counts[start:end:step] += 1
    return counts


def _pad_shape(forms: Forms) -> Mapping[str, Form]:
    x, around = forms["X"], forms.attrs["paddings"]
    if len(around) != len(x.shape) or any(min(each) < 0 for each in around):
        raise ShapeError(f"paddings are (before, after) for each axis of {list(x.shape)}, not {around}")
    if (mode := forms.attrs["mode"]) not in ("constant", *_MIRRORS):
        raise ShapeError(f"mode is one of constant, {', '.join(_MIRRORS)}, not {mode!r}")
    sides = zip(x.shape, around, strict=True)
    return {"Out": replace(x, shape=tuple(-1 if size == -1 else size + sum(each) for size, each in sides))}


def _middle(array: np.ndarray, around: Sequence[tuple[int, int]]) -> np.ndarray:
    """What of an array is not its padding."""
    sizes = zip(array.shape, around, strict=True)
    return array[tuple(slice(before, size - after) for size, (before, after) in sizes)]


_MIRRORS: Mapping[str, Literal["reflect", "edge", "wrap"]] = {
    "reflect": "reflect",
    "edge": "edge",
    "wrap": "wrap",
}


def _margins(array: np.ndarray, attrs: Mapping[str, Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Line by line what stands around the middle, and what of the array it repeats, axis after axis."""
    for axis, (before, after) in enumerate(attrs["paddings"]):
        size = array.shape[axis]
        numbers = np.pad(np.arange(before, size - after), (before, after), _MIRRORS[attrs["mode"]])
        lines = np.moveaxis(array, axis, 0)
        for line in (*range(before), *range(size - after, size)):
            yield lines[line], lines[numbers[line]]


def _pad(call: Call) -> Steps:
    out, attrs = call["Out"], call.attrs
    if attrs["mode"] == "constant":
        yield partial(out.fill, attrs["value"])
    yield partial(np.copyto, _middle(out, attrs["paddings"]), call["X"])
    if attrs["mode"] != "constant":
        for line, repeated in _margins(out, attrs):
            yield partial(np.copyto, line, repeated)


def _pad_gradient(call: Call) -> Steps:
    grad, attrs = call["Out@GRAD"], call.attrs
    if attrs["mode"] != "constant":
        given, grad = grad, call.scratch["given"]
        yield partial(np.copyto, grad, given)
        for line, repeated in [*_margins(grad, attrs)][::-1]:
            yield partial(np.add, repeated, line, repeated)
    yield partial(np.copyto, call["X@GRAD"], _middle(grad, attrs["paddings"]))


def _pad_scratch(forms: Forms) -> Mapping[str, Form]:
    return {} if forms.attrs["mode"] == "constant" else {"given": forms["Out@GRAD"]}


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
        type="slices",
        outputs=("Out*",),
        attrs={"pieces": REQUIRED},
        shape=_pieces_shape,
        forward=Kernel(_pieces),
        gradient=Gradient(_pieces_gradient),
    ),
    Row(
        type="pad",
        attrs={"paddings": REQUIRED, "value": 0.0, "mode": "constant"},
        shape=_pad_shape,
        forward=Kernel(_pad),
        gradient=Gradient(_pad_gradient, _pad_scratch),
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
