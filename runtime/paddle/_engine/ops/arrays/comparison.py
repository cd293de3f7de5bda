"""Comparisons and logic: integers 1 where something is so and 0 where it is not, and choices by them.

The engine has no type of truth values: faces turn these integers into theirs. Nothing comes back through a
comparison. Sources of the semantics: fluid's ``less_than`` and its kin, ``logical_and`` and its kin,
``isfinite`` (here of each element) and ``where``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _of_two(forms: Forms) -> Mapping[str, Form]:
    x, y = forms["X"], forms["Y"]
    shapes.alike(forms, "X", "Y")
    return {"Out": Form(shapes.broadcast_both(x.shape, y.shape), "int64")}


def _of_one(forms: Forms) -> Mapping[str, Form]:
    return {"Out": replace(forms["X"], dtype="int64")}


def _compared(type: str, ufunc: np.ufunc) -> Row:
    def bind(call: Call) -> Steps:
        yield partial(ufunc, call["X"], call["Y"], call["Out"], casting="unsafe")

    return Row(type=type, inputs=("X", "Y"), shape=_of_two, forward=Kernel(bind))


def _examined(type: str, ufunc: np.ufunc) -> Row:
    def bind(call: Call) -> Steps:
        yield partial(ufunc, call["X"], call["Out"], casting="unsafe")

    return Row(type=type, shape=_of_one, forward=Kernel(bind))


def _select_shape(forms: Forms) -> Mapping[str, Form]:
    condition, x, y = shapes.integers(forms, "Condition"), forms["X"], forms["Y"]
    shapes.alike(forms, "X", "Y")
    both = shapes.broadcast_both(x.shape, y.shape)
    return {"Out": Form(shapes.broadcast_both(both, condition.shape), x.dtype)}


def _select(call: Call) -> Steps:
    """X where the condition is not 0, Y elsewhere."""
    out = call["Out"]
    is_so = np.empty(call["Condition"].shape, np.bool_)
    yield partial(np.not_equal, call["Condition"], 0, is_so)
    yield partial(np.copyto, out, call["Y"])
    yield partial(np.copyto, out, call["X"], where=np.broadcast_to(is_so, out.shape))


def _select_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    is_taken, share = np.empty(call["Condition"].shape, np.bool_), np.empty_like(grad)
    for slot, compare in (("X@GRAD", np.not_equal), ("Y@GRAD", np.equal)):
        if slot in call:
            yield partial(compare, call["Condition"], 0, is_taken)
            yield partial(share.fill, 0)
            yield partial(np.copyto, share, grad, where=np.broadcast_to(is_taken, grad.shape))
            yield shapes.sum_into(share, call[slot])


ROWS = (
    _compared("less_than", np.less),
    _compared("less_equal", np.less_equal),
    _compared("greater_than", np.greater),
    _compared("greater_equal", np.greater_equal),
    _compared("equal", np.equal),
    _compared("not_equal", np.not_equal),
    _compared("logical_and", np.logical_and),
    _compared("logical_or", np.logical_or),
    _compared("logical_xor", np.logical_xor),
    _examined("logical_not", np.logical_not),
    _examined("is_nan", np.isnan),
    _examined("is_infinite", np.isinf),
    _examined("is_finite", np.isfinite),
    Row(
        type="select",
        inputs=("Condition", "X", "Y"),
        shape=_select_shape,
        forward=Kernel(_select),
        gradient=Gradient(_select_gradient, of=("X", "Y"), needs=("Condition",)),
    ),
)
