"""Operators that move or make values without arithmetic: reshape, concat, cast, constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form, Shape
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps, same_memory


def _reshape_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": replace(forms["X"], shape=_resolved(forms["X"].shape, tuple(forms.attrs["shape"])))}


def _resolved(source: Shape, wanted: Shape) -> Shape:
    """``wanted`` with its one -1 filled in, where the source's size is known; 0 is what the source has."""
    if wanted.count(-1) > 1:
        raise ShapeError(f"shape {list(wanted)} leaves more than one size open")
    taken = [i for i, size in enumerate(wanted) if size == 0 and i < len(source)]
    if taken and (0 not in source or -1 in wanted):
        wanted = tuple(source[i] if i in taken else size for i, size in enumerate(wanted))
        return _of_the_rest(source, wanted, taken)
    if -1 in source:
        return wanted
    size, known = prod(source), prod(each for each in wanted if each != -1)
    if (known == 0 or size % known) if -1 in wanted else size != known:
        raise ShapeError(f"{list(source)} cannot be reshaped to {list(wanted)}")
    return tuple(size // known if each == -1 else each for each in wanted)


def _of_the_rest(source: Shape, wanted: Shape, taken: Sequence[int]) -> Shape:
    """Sizes taken over as they are leave those of the other axes to be reshaped among themselves."""
    others = [size for i, size in enumerate(wanted) if i not in taken]
    found = iter(_resolved(tuple(s for i, s in enumerate(source) if i not in taken), tuple(others)))
    return tuple(size if i in taken else next(found) for i, size in enumerate(wanted))


def _size(form: Form, axis: int) -> int:
    return form.shape[shapes.axis(axis, form)]


def _shape_by_others(forms: Forms) -> Mapping[str, Form]:
    """``sizes``: numbers, of which one may be -1, and of others the number in Like and the axis."""
    x, like, told = forms["X"], forms.all("Like"), forms.attrs["sizes"]
    sizes = (each if isinstance(each, int) else _size(like[each[0]], each[1]) for each in told)
    wanted = tuple(sizes)
    if wanted.count(-1) > 1:
        return {"Out": replace(x, shape=wanted)}
    return {"Out": replace(x, shape=_resolved(x.shape, wanted))}


def _squeezed(forms: Forms) -> Mapping[str, Form]:
    """Without the axes named, which are of size 1, or without all such axes."""
    x = forms["X"]
    named = {shapes.axis(each, x) for each in forms.attrs["axes"]}
    named = named or {axis for axis, size in enumerate(x.shape) if size == 1}
    if wrong := sorted(axis for axis in named if not shapes.agree(x.shape[axis], 1)):
        raise ShapeError(f"axes {wrong} of {list(x.shape)} are not of size 1: they cannot be left out")
    left = tuple(size for axis, size in enumerate(x.shape) if axis not in named)
    return {"Out": replace(x, shape=left or (1,))}


def _unsqueezed(forms: Forms) -> Mapping[str, Form]:
    """With axes of size 1 put in, one after another, where they will stand."""
    x = forms["X"]
    for axis in forms.attrs["axes"]:
        rank = len(x.shape) + 1
        if not -rank <= axis < rank:
            raise ShapeError(f"no axis {axis} can be put into the shape {list(x.shape)}")
        x = replace(x, shape=(*x.shape[: axis % rank], 1, *x.shape[axis % rank :]))
    return {"Out": x}


def _flat(forms: Forms) -> Mapping[str, Form]:
    """The axes from ``start`` to behind the last of ``stop`` as one; without any, an axis of size 1."""
    x, rank = forms["X"], len(forms["X"].shape)
    start, stop = (each if each >= 0 else each + rank for each in (forms.attrs["start"], forms.attrs["stop"]))
    if not 0 <= start <= stop <= rank:
        raise ShapeError(f"axes {start} to {stop} are not among the {rank} axes of X")
    middle = x.shape[start:stop]
    size = -1 if -1 in middle else prod(middle)
    return {"Out": replace(x, shape=(*x.shape[:start], size, *x.shape[stop:]))}


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


def _shaped(type: str, rule: Callable[[Forms], Mapping[str, Form]], **attrs: Any) -> Row:
    """What only looks at the same elements in another shape."""
    back = Gradient(_RESHAPED.bind, reshapes=_RESHAPED.reshapes)
    return Row(type=type, attrs=attrs, shape=rule, forward=_moved("X", "Out"), gradient=back)


def _given_shape(forms: Forms) -> Mapping[str, Form]:
    shape, count = tuple(forms.attrs["shape"]), len(forms.attrs["values"])
    if prod(shape) != count:
        raise ShapeError(f"{count} values are not of shape {list(shape)}")
    return {"Out": Form(shape, forms.attrs["dtype"])}


def _give(call: Call) -> Steps:
    out = call["Out"]
    values = np.array(call.attrs["values"], out.dtype).reshape(out.shape)
    yield partial(np.copyto, out, values)


def _size_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form((len(forms["X"].shape),), "int64")}


def _sizes(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], np.array(call["X"].shape, np.int64))


ROWS = (
    _shaped("reshape", _reshape_shape, shape=REQUIRED),
    Row(
        type="reshape_by",
        inputs=("X", "Like*"),
        attrs={"sizes": REQUIRED},
        shape=_shape_by_others,
        forward=_moved("X", "Out"),
        gradient=Gradient(_RESHAPED.bind, reshapes=_RESHAPED.reshapes),
    ),
    _shaped("squeeze", _squeezed, axes=()),
    _shaped("unsqueeze", _unsqueezed, axes=REQUIRED),
    _shaped("flatten", _flat, start=REQUIRED, stop=REQUIRED),
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
    Row(
        type="assign_value",
        inputs=(),
        attrs={"shape": REQUIRED, "values": REQUIRED, "dtype": "float32"},
        shape=_given_shape,
        forward=Kernel(_give),
    ),
    Row(type="shape", shape=_size_shape, forward=Kernel(_sizes)),
)
