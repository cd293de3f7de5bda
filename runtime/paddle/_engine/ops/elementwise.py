"""Arithmetic of arrays, element by element. Of two, Y is broadcast to the shape of X."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Step, Steps, same_memory
from paddle._engine.rows import SparseRows


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, y = forms["X"], forms["Y"]
    if x.dtype != y.dtype:
        raise ShapeError(f"X is {x.dtype} and Y is {y.dtype}: cast one of them")
    shapes.broadcast(y.shape, x.shape)
    return {"Out": x}


def _binary(ufunc: np.ufunc) -> Kernel:
    def bind(call: Call) -> Steps:
        yield partial(ufunc, call["X"], call["Y"], call["Out"])

    return Kernel(bind, in_place={"Out": "X"})


def _reduced(source: np.ndarray, out: np.ndarray) -> Step:
    """A step that sums ``source`` over the axes along which ``out`` was broadcast."""
    kept = out.reshape((1,) * (source.ndim - out.ndim) + out.shape)
    axes = tuple(axis for axis, size in enumerate(kept.shape) if size == 1 and source.shape[axis] != 1)
    if not axes:
        return partial(np.copyto, kept, source)
    return partial(np.add.reduce, source, axis=axes, out=kept, keepdims=True)


def _add_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    for slot in ("X@GRAD", "Y@GRAD"):
        if slot in call and not same_memory(grad, call[slot]):
            yield _reduced(grad, call[slot])


def _sub_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    if "X@GRAD" in call and not same_memory(grad, call["X@GRAD"]):
        yield partial(np.copyto, call["X@GRAD"], grad)
    if "Y@GRAD" in call:
        yield _reduced(grad, call["Y@GRAD"])
        yield partial(np.negative, call["Y@GRAD"], call["Y@GRAD"])


def _mul_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "Y@GRAD" in call:
        product = np.empty_like(x)
        yield partial(np.multiply, grad, x, product)
        yield _reduced(product, call["Y@GRAD"])
    if "X@GRAD" in call:
        yield partial(np.multiply, grad, y, call["X@GRAD"])


def _div_gradient(call: Call) -> Steps:
    y, out, grad = call["Y"], call["Out"], call["Out@GRAD"]
    if "Y@GRAD" in call:  # d(x/y)/dy = -(x/y)/y
        quotient = np.empty_like(out)
        yield partial(np.multiply, grad, out, quotient)
        yield partial(np.divide, quotient, y, quotient)
        yield partial(np.negative, quotient, quotient)
        yield _reduced(quotient, call["Y@GRAD"])
    if "X@GRAD" in call:
        yield partial(np.divide, grad, y, call["X@GRAD"])


def _pow_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "Y@GRAD" in call:  # d(x**y)/dy = x**y log x
        product = np.empty_like(x)
        yield partial(np.log, x, product)
        yield partial(np.multiply, product, call["Out"], product)
        yield partial(np.multiply, product, grad, product)
        yield _reduced(product, call["Y@GRAD"])
    if "X@GRAD" in call:
        dx, less = call["X@GRAD"], np.empty_like(y)
        yield partial(np.subtract, y, 1, less)
        yield partial(np.power, x, less, dx)
        yield partial(np.multiply, dx, y, dx)
        yield partial(np.multiply, dx, grad, dx)


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


def _row(type: str, ufunc: np.ufunc, bind: Callable[[Call], Steps], **gradient: Any) -> Row:
    return Row(
        type=type,
        inputs=("X", "Y"),
        shape=_shape,
        forward=_binary(ufunc),
        gradient=Gradient(bind, of=("X", "Y"), **gradient),
    )


ROWS = (
    _row("elementwise_add", np.add, _add_gradient, views={"X@GRAD": "Out@GRAD", "Y@GRAD": "Out@GRAD"}),
    _row("elementwise_sub", np.subtract, _sub_gradient, views={"X@GRAD": "Out@GRAD"}),
    _row("elementwise_mul", np.multiply, _mul_gradient, needs=("X", "Y")),
    _row("elementwise_div", np.divide, _div_gradient, needs=("Y", "Out")),
    _row("elementwise_pow", np.power, _pow_gradient, needs=("X", "Y", "Out")),
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
    ),
)
