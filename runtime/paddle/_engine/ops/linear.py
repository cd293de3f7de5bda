"""Matrix products. ``dot`` is ``matmul`` of two matrices, and asks fewer questions before it begins."""

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
    yield partial(np.dot, call["X"], call["Y"], call["Out"])


def _mul_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "Y@GRAD" in call:
        yield partial(np.dot, x.T, grad, call["Y@GRAD"])
    if "X@GRAD" in call:
        yield from _by_transpose(grad, y, call["X@GRAD"])


def _by_transpose(grad: np.ndarray, y: np.ndarray, out: np.ndarray) -> Steps:
    """out = grad @ y.T.

    For a small batch before a wide layer, such as a softmax over a dictionary, BLAS takes up to 1.4 times as
    long for it as for y @ grad.T and a copy.
    """
    batch, (height, width) = len(grad), y.shape
    if 2 * batch > height or 2 * height > width:
        yield partial(np.dot, grad, y.T, out)
        return
    transposed = np.empty((height, batch), out.dtype)
    yield partial(np.dot, y, grad.T, transposed)
    yield partial(np.copyto, out, transposed.T)


def _outer_shape(forms: Forms) -> Mapping[str, Form]:
    x, y = shapes.matrix(forms, "X"), shapes.matrix(forms, "Y")
    if not shapes.agree(x.shape[0], y.shape[0]):
        raise ShapeError(f"X has {x.shape[0]} rows and Y has {y.shape[0]}")
    return {"Out": Form((x.shape[0], x.shape[1], y.shape[1]), x.dtype)}


def _outer(call: Call) -> Steps:
    """Of each row the product of every two of its columns."""
    yield partial(np.multiply, call["X"][:, :, None], call["Y"][:, None, :], call["Out"])


def _outer_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    if "X@GRAD" in call:
        yield partial(np.matmul, grad, y[:, :, None], call["X@GRAD"][:, :, None])
    if "Y@GRAD" in call:
        yield partial(np.matmul, x[:, None, :], grad, call["Y@GRAD"][:, None, :])


ROWS = (
    Row(
        type="outer_product",
        inputs=("X", "Y"),
        shape=_outer_shape,
        forward=Kernel(_outer),
        gradient=Gradient(_outer_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
    Row(
        type="mul",
        inputs=("X", "Y"),
        shape=_mul_shape,
        forward=Kernel(_mul),
        gradient=Gradient(_mul_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
)
