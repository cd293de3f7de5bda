"""Arithmetic of arrays, element by element. Of two, each is broadcast to the shape of the other: axes are
lined up from the last, and where one has size 1 or none it is repeated.

Sources of the semantics: fluid's operators of these names, whose ``axis`` a face has put into the shape of Y.
What comes back through the greater of two that are equal goes to X alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps, same_memory
from paddle._engine.rows import SparseRows


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, y = forms["X"], forms["Y"]
    shapes.alike(forms, "X", "Y")
    return {"Out": replace(x, shape=shapes.broadcast_both(x.shape, y.shape))}


def _binary(ufunc: Callable[..., object]) -> Kernel:
    def bind(call: Call) -> Steps:
        y = call["Y"]
        yield partial(ufunc, call["X"], y if y.size != 1 else y.reshape(()), call["Out"])

    return Kernel(bind, in_place={"Out": "X"})


def _power(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Of integers what is behind the point is lost, and of 0 what has no bound is the least integer."""
    if out.dtype.kind == "f" or not (is_below := y < 0).any():
        np.power(x, y, out=out)
        return
    made = np.power(x, np.abs(y))
    parts = np.where(x == 0, np.iinfo(out.dtype).min, np.where(np.abs(x) == 1, made, 0))
    np.copyto(out, np.where(is_below, parts, made))


def _integral(call: Call) -> Steps:
    """Of integers the quotient is cut off towards zero, as in C."""
    x, y, out = call["X"], call["Y"], call["Out"]
    if out.dtype.kind == "f":
        yield partial(np.divide, x, y, out)
        return
    rest = np.empty_like(out)
    yield partial(np.fmod, x, y, rest)
    yield partial(np.subtract, x, rest, out)
    yield partial(np.floor_divide, out, y, out)


def _into(call: Call, slot: str) -> np.ndarray:
    """Where the gradient of a slot is made: in place, or apart where it is still to be summed."""
    grad, out = call[slot], call["Out@GRAD"]
    return grad if grad.shape == out.shape else np.empty_like(out)


def _settled(call: Call, slot: str, made: np.ndarray) -> Steps:
    if made is not call[slot]:
        yield shapes.sum_into(made, call[slot])


def _add_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    for slot in ("X@GRAD", "Y@GRAD"):
        if slot in call and not same_memory(grad, call[slot]):
            yield shapes.sum_into(grad, call[slot])


def _sub_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    if "X@GRAD" in call and not same_memory(grad, call["X@GRAD"]):
        yield shapes.sum_into(grad, call["X@GRAD"])
    if "Y@GRAD" in call:
        yield shapes.sum_into(grad, call["Y@GRAD"])
        yield partial(np.negative, call["Y@GRAD"], call["Y@GRAD"])


def _mul_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    for slot, other in (("Y", call["X"]), ("X", call["Y"])):
        if slot + "@GRAD" in call:
            made = _into(call, slot + "@GRAD")
            yield partial(np.multiply, grad, other, made)
            yield from _settled(call, slot + "@GRAD", made)


def _div_gradient(call: Call) -> Steps:
    y, out, grad = call["Y"], call["Out"], call["Out@GRAD"]
    if "Y@GRAD" in call:  # d(x/y)/dy = -(x/y)/y
        quotient = np.empty_like(out)
        yield partial(np.multiply, grad, out, quotient)
        yield partial(np.divide, quotient, y, quotient)
        yield partial(np.negative, quotient, quotient)
        yield shapes.sum_into(quotient, call["Y@GRAD"])
    if "X@GRAD" in call:
        made = _into(call, "X@GRAD")
        yield partial(np.divide, grad, y, made)
        yield from _settled(call, "X@GRAD", made)


def _pow_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "Y@GRAD" in call:  # d(x**y)/dy = x**y log x
        product = np.empty_like(call["Out"])
        yield partial(np.log, np.broadcast_to(x, product.shape), product)
        yield partial(np.multiply, product, call["Out"], product)
        yield partial(np.multiply, product, grad, product)
        yield shapes.sum_into(product, call["Y@GRAD"])
    if "X@GRAD" in call:
        made, less = _into(call, "X@GRAD"), np.empty_like(y)
        yield partial(np.subtract, y, 1, less)
        yield partial(np.power, x, less, made)
        yield partial(np.multiply, made, y, made)
        yield partial(np.multiply, made, grad, made)
        yield from _settled(call, "X@GRAD", made)


def _chosen(is_first: np.ufunc) -> Callable[[Call], Steps]:
    """The gradient of the greater or the lesser of two: it goes to X where ``is_first`` of the two."""

    def bind(call: Call) -> Steps:
        grad = call["Out@GRAD"]
        first = np.empty(grad.shape, np.bool_)
        yield partial(is_first, call["X"], call["Y"], first)
        if "X@GRAD" in call:
            made = _into(call, "X@GRAD")
            yield partial(np.multiply, grad, first, made)
            yield from _settled(call, "X@GRAD", made)
        if "Y@GRAD" in call:
            made = _into(call, "Y@GRAD")
            yield partial(np.logical_not, first, first)
            yield partial(np.multiply, grad, first, made)
            yield from _settled(call, "Y@GRAD", made)

    return bind


def _sum_shape(forms: Forms) -> Mapping[str, Form]:
    parts = forms.all("X")
    first = parts[0]
    for part in parts:
        fits = len(part.shape) == len(first.shape) and all(map(shapes.agree, part.shape, first.shape))
        if not fits or part.dtype != first.dtype:
            raise ShapeError(f"the summands differ: {[(list(each.shape), each.dtype) for each in parts]}")
    counts = [part.rows for part in parts if part.rows is not None]
    if len(counts) < len(parts):
        return {"Out": Form(first.shape, first.dtype)}
    return {"Out": Form(first.shape, first.dtype, -1 if -1 in counts else sum(counts))}


def _sum(call: Call) -> Steps:
    """Rows with rows are listed one after another; arrays add up, and rows are scattered into them."""
    rows = [value for value in call.slots["X"] if isinstance(value, SparseRows)]
    total = call.rows("Out")
    if total is not None:
        yield partial(np.concatenate, [part.ids for part in rows], out=total.ids)
        yield partial(np.concatenate, [part.values for part in rows], out=total.values)
        return
    out, (first, *others) = call["Out"], [array for array in call.arrays("X") if array is not None]
    if not others:
        yield partial(np.copyto, out, first)
    for array in others:
        yield partial(np.add, first, array, out)
        first = out
    if rows:
        from paddle._engine.kernels.rows import add_rows  # loads numba

        for part in rows:
            yield partial(add_rows, out, part.ids, part.values)


def _sum_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    for out in call.arrays("X@GRAD"):
        if out is not None and not same_memory(out, grad):
            yield partial(np.copyto, out, grad)


def _scale(call: Call) -> Steps:
    yield partial(np.multiply, call["X"], call.attrs["scale"], call["Out"])
    if call.attrs["bias"]:
        yield partial(np.add, call["Out"], call.attrs["bias"], call["Out"])


def _scale_gradient(call: Call) -> Steps:
    yield partial(np.multiply, call["Out@GRAD"], call.attrs["scale"], call["X@GRAD"])


def _row(type: str, ufunc: Callable[..., object], bind: Callable[[Call], Steps], **gradient: Any) -> Row:
    return Row(
        type=type,
        inputs=("X", "Y"),
        shape=_shape,
        forward=Kernel(_integral, in_place={"Out": "X"}) if ufunc is np.divide else _binary(ufunc),
        gradient=Gradient(bind, of=("X", "Y"), **gradient),
    )


def _of_integers(type: str, ufunc: np.ufunc) -> Row:
    return Row(type=type, inputs=("X", "Y"), shape=_shape, forward=_binary(ufunc))


ROWS = (
    _row("elementwise_add", np.add, _add_gradient, views={"X@GRAD": "Out@GRAD", "Y@GRAD": "Out@GRAD"}),
    _row("elementwise_sub", np.subtract, _sub_gradient, views={"X@GRAD": "Out@GRAD"}),
    _row("elementwise_mul", np.multiply, _mul_gradient, needs=("X", "Y")),
    _row("elementwise_div", np.divide, _div_gradient, needs=("Y", "Out")),
    _row("elementwise_pow", _power, _pow_gradient, needs=("X", "Y", "Out")),
    _row("elementwise_max", np.maximum, _chosen(np.greater), needs=("X", "Y")),
    _row("elementwise_min", np.minimum, _chosen(np.less), needs=("X", "Y")),
    _of_integers("elementwise_mod", np.remainder),
    _of_integers("elementwise_floordiv", np.floor_divide),
    Row(
        type="sum",
        inputs=("X*",),
        shape=_sum_shape,
        forward=Kernel(_sum),
        gradient=Gradient(_sum_gradient, views={"X@GRAD": "Out@GRAD"}),
    ),
    Row(
        type="scale",
        attrs={"scale": 1.0, "bias": 0.0},
        shape=shapes.like_x,
        forward=Kernel(_scale, in_place={"Out": "X"}),
        gradient=Gradient(_scale_gradient, in_place={"X@GRAD": "Out@GRAD"}),
        sized=lambda attrs: attrs["scale"] == 0,  # x * 0 + 1: programs make ones so
    ),
)
