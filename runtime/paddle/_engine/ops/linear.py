"""Matrix products."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _mul_shape(forms: Forms) -> Mapping[str, Form]:
    x, y = shapes.matrix(forms, "X"), shapes.matrix(forms, "Y")
    if not shapes.agree(x.shape[1], y.shape[0]):
        raise ShapeError(f"X has {x.shape[1]} columns and Y has {y.shape[0]} rows")
    return {"Out": Form((x.shape[0], y.shape[1]), x.dtype)}


def _mul(call: Call) -> Steps:
    yield partial(np.matmul, call["X"], call["Y"], call["Out"])


def _mul_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "Y@GRAD" in call:
        yield partial(np.matmul, x.T, grad, call["Y@GRAD"])
    if "X@GRAD" in call:
        yield partial(np.matmul, grad, y.T, call["X@GRAD"])


ROWS = (
    Row(
        type="mul",
        inputs=("X", "Y"),
        shape=_mul_shape,
        forward=Kernel(_mul),
        gradient=Gradient(_mul_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
)
