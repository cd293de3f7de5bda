"""Order along an axis: which element is the greatest or the least, and all of them sorted.

Sources of the semantics: fluid's ``argmax``, ``argmin`` and ``argsort``. Of equal elements the first comes
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _found_shape(forms: Forms) -> Mapping[str, Form]:
    x, axis = forms["X"], shapes.axis(forms.attrs["axis"], forms["X"])
    kept = (1,) if forms.attrs["keep_dim"] else ()
    left = (*x.shape[:axis], *kept, *x.shape[axis + 1 :])
    return {"Out": Form(left or (1,), "int64")}


def _found(type: str, which: Callable[..., object]) -> Row:
    def bind(call: Call) -> Steps:
        x, axis, out = call["X"], call.attrs["axis"] % call["X"].ndim, call["Out"]
        into = out.reshape(x.shape[:axis] + x.shape[axis + 1 :])
        yield partial(which, x, axis, into)

    attrs = {"axis": -1, "keep_dim": False}
    return Row(type=type, attrs=attrs, shape=_found_shape, forward=Kernel(bind))


def _sorted_shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    shapes.axis(forms.attrs["axis"], x)
    return {"Out": x, "Indices": replace(x, dtype="int64")}


def _sorted(call: Call) -> Steps:
    """Out is X sorted, and Indices where its elements stood."""
    x, out, indices, axis = call["X"], call["Out"], call["Indices"], call.attrs["axis"]
    falls = call.attrs["descending"]

    def sort() -> None:
        np.copyto(indices, np.argsort(-x if falls else x, axis, "stable"))
        np.copyto(out, np.take_along_axis(x, indices, axis))

    yield sort


def _sorted_gradient(call: Call) -> Steps:
    dx, indices, axis = call["X@GRAD"], call["Indices"], call.attrs["axis"]
    yield lambda: np.put_along_axis(dx, indices, call["Out@GRAD"], axis)


ROWS = (
    _found("arg_max", np.argmax),
    _found("arg_min", np.argmin),
    Row(
        type="argsort",
        outputs=("Out", "Indices"),
        attrs={"axis": -1, "descending": False},
        shape=_sorted_shape,
        forward=Kernel(_sorted),
        gradient=Gradient(_sorted_gradient, needs=("Indices",)),
    ),
)
