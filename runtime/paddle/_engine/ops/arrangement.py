"""Operators that move or make values without arithmetic: reshape, concat, cast, constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form, Shape
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps, same_memory


def _reshape_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": replace(forms["X"], shape=_resolved(forms["X"].shape, tuple(forms.attrs["shape"])))}


def _resolved(source: Shape, wanted: Shape) -> Shape:
    """``wanted`` with its one -1 filled in, where the source's size is known."""
    if wanted.count(-1) > 1:
        raise ShapeError(f"shape {list(wanted)} leaves more than one size open")
    if -1 in source:
        return wanted
    size, known = prod(source), prod(each for each in wanted if each != -1)
    if size != known and (-1 not in wanted or known == 0 or size % known):
        raise ShapeError(f"{list(source)} cannot be reshaped to {list(wanted)}")
    return tuple(size // known if each == -1 else each for each in wanted)


def _moved(source: str, target: str) -> Kernel:
    """A kernel that only copies the bytes, where plan has not made source and target one memory."""

    def bind(call: Call) -> Steps:
        x, out = call[source], call[target]
        if not same_memory(x, out):
            yield partial(np.copyto, out, x.reshape(out.shape))

    return Kernel(bind, reshapes={target: source})


_RESHAPED = _moved("Out@GRAD", "X@GRAD")


def _concat_shape(forms: Forms) -> Mapping[str, Form]:
    parts, axis = forms.all("X"), forms.attrs["axis"]
    first = parts[0]
    for part in parts:
        rest = [
            shapes.agree(*pair) for pair in zip(_without(part, axis), _without(first, axis), strict=False)
        ]
        if len(part.shape) != len(first.shape) or part.dtype != first.dtype or not all(rest):
            raise ShapeError(
                f"{[list(each.shape) for each in parts]} cannot be concatenated along axis {axis}"
            )
    sizes = [part.shape[axis] for part in parts]
    shape = list(first.shape)
    shape[axis] = -1 if -1 in sizes else sum(sizes)
    return {"Out": replace(first, shape=tuple(shape))}


def _without(form: Form, axis: int) -> Shape:
    if not -len(form.shape) <= axis < len(form.shape):
        raise ShapeError(f"axis {axis} is outside the {len(form.shape)} axes of an input")
    axis %= len(form.shape)
    return form.shape[:axis] + form.shape[axis + 1 :]


def _concat(call: Call) -> Steps:
    parts = [array for array in call.arrays("X") if array is not None]
    yield partial(np.concatenate, parts, call.attrs["axis"], call["Out"])


def _concat_gradient(call: Call) -> Steps:
    grad, axis = call["Out@GRAD"], call.attrs["axis"]
    bounds = np.cumsum([part.shape[axis] for part in call.arrays("X") if part is not None])[:-1]
    for out, piece in zip(call.arrays("X@GRAD"), np.split(grad, bounds, axis), strict=True):
        if out is not None:
            yield partial(np.copyto, out, piece)


def _cast_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": replace(forms["X"], dtype=forms.attrs["dtype"])}


def _cast(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"], "unsafe")


def _is_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": shapes.integers(forms, "X")}


def _is_id(call: Call) -> Steps:
    yield partial(np.equal, call["X"], call.attrs["id"], call["Out"], casting="unsafe")


def _constant_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form(tuple(forms.attrs["shape"]), forms.attrs["dtype"])}


def _fill(call: Call) -> Steps:
    yield partial(call["Out"].fill, call.attrs["value"])


ROWS = (
    Row(
        type="reshape",
        attrs={"shape": REQUIRED},
        shape=_reshape_shape,
        forward=_moved("X", "Out"),
        gradient=Gradient(_RESHAPED.bind, reshapes=_RESHAPED.reshapes),
    ),
    Row(
        type="concat",
        inputs=("X*",),
        attrs={"axis": 1},
        shape=_concat_shape,
        forward=Kernel(_concat),
        gradient=Gradient(_concat_gradient, needs=("X",)),
    ),
    Row(type="is_id", attrs={"id": REQUIRED}, shape=_is_shape, forward=Kernel(_is_id)),
    Row(type="cast", attrs={"dtype": REQUIRED}, shape=_cast_shape, forward=Kernel(_cast)),
    Row(
        type="fill_constant",
        inputs=(),
        attrs={"shape": REQUIRED, "value": REQUIRED, "dtype": "float32"},
        shape=_constant_shape,
        forward=Kernel(_fill),
    ),
    Row(type="fill_any_like", attrs={"value": REQUIRED}, shape=shapes.like_x, forward=Kernel(_fill)),
)
