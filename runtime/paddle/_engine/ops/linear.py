"""Matrix products; that with a parameter which all threads of a team compute together (joint.py), too.

No face writes ``joint_mul``: a pass makes it (passes/joint.py), and where no team runs it, it is ``mul``.
``dot`` is ``matmul`` of two matrices, and asks fewer questions before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.blas import Step, add_product
from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps
from paddle._engine.teams.joint import Joining, Joint, span


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


def _turned(array: np.ndarray, is_turned: bool) -> np.ndarray:
    return array.swapaxes(-1, -2) if is_turned else array


def _matmul_shape(forms: Forms) -> Mapping[str, Form]:
    x, y, attrs = forms["X"], forms["Y"], forms.attrs
    if min(len(x.shape), len(y.shape)) < 2 or x.dtype != y.dtype:
        raise ShapeError(
            f"X {x.dtype}{list(x.shape)} and Y {y.dtype}{list(y.shape)} are no matrices of one kind"
        )
    height, inner = x.shape[-2:] if not attrs["transpose_X"] else x.shape[:-3:-1]
    other, width = y.shape[-2:] if not attrs["transpose_Y"] else y.shape[:-3:-1]
    if not shapes.agree(inner, other):
        raise ShapeError(f"matrices of X have {inner} columns and those of Y {other} rows")
    lead = shapes.broadcast_both(x.shape[:-2], y.shape[:-2])
    return {"Out": Form((*lead, height, width), x.dtype)}


def _matmul(call: Call) -> Steps:
    """alpha times the product of the last two axes, of X and Y or of either turned over."""
    attrs, out = call.attrs, call["Out"]
    x, y = _turned(call["X"], attrs["transpose_X"]), _turned(call["Y"], attrs["transpose_Y"])
    yield partial(np.matmul, x, y, out)
    if attrs["alpha"] != 1.0:
        yield partial(np.multiply, out, attrs["alpha"], out)


def _matmul_gradient(call: Call) -> Steps:
    attrs, grad = call.attrs, call["Out@GRAD"]
    x, y = _turned(call["X"], attrs["transpose_X"]), _turned(call["Y"], attrs["transpose_Y"])
    if "X@GRAD" in call:
        dx = _turned(call["X@GRAD"], attrs["transpose_X"])
        yield from _product(grad, y.swapaxes(-1, -2), dx, attrs["alpha"])
    if "Y@GRAD" in call:
        dy = _turned(call["Y@GRAD"], attrs["transpose_Y"])
        yield from _product(x.swapaxes(-1, -2), grad, dy, attrs["alpha"])


def _product(a: np.ndarray, b: np.ndarray, out: np.ndarray, alpha: float) -> Steps:
    """Into ``out``, summed over the axes along which it was broadcast."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    missing = len(lead) - (out.ndim - 2)
    axes = tuple(i for i, size in enumerate(lead) if i < missing or out.shape[i - missing] != size)
    if not axes:
        yield partial(np.matmul, a, b, out)
    else:
        whole = np.empty((*lead, *out.shape[-2:]), out.dtype)
        kept = out.reshape((1,) * missing + out.shape)
        yield partial(np.matmul, a, b, whole)
        yield partial(np.add.reduce, whole, axis=axes, out=kept, keepdims=True)
    if alpha != 1.0:
        yield partial(np.multiply, out, alpha, out)


def _joint(call: Call) -> Steps:
    share = call.run.exchange
    if not isinstance(share, Joining):
        yield from _mul(call)
        return
    x, y, out = call["X"], call["Y"], call["Out"]
    joint, width = share.product(call.operator.inputs["Y"][0]), y.shape[1]

    def step() -> None:
        share.meet(x, lambda parts: joint.gather(parts, width))
        columns = span(width, share.number, share.count)
        np.matmul(joint.x, y[:, columns], joint.out[:, columns])
        share.meet(None, _nothing)
        np.copyto(out, joint.out[joint.rows[share.number]])

    yield step


def _joint_gradient(call: Call) -> Steps:
    share = call.run.exchange
    if not isinstance(share, Joining):
        yield from _mul_gradient(call)
        return
    grad, y, multiplier = call["Out@GRAD"], call["Y"], call.attrs["multiplier"]
    name, change = call.operator.inputs["Y"][0], _Change(call)
    joint, run = share.product(name), call.run

    def begin(gradients: list[np.ndarray | None]) -> None:
        joint.gradient = gradients[0]
        if multiplier is None:
            share.made(name)

    made = call["Y@GRAD"] if multiplier is None else None

    def step() -> None:
        rows, own = joint.rows[share.number], span(len(y), share.number, share.count)
        np.copyto(joint.out[rows], grad)
        share.meet(made, begin)
        if "X@GRAD" in call:
            np.dot(y[own], joint.out.T, joint.turned[own])
        if joint.gradient is not None:
            np.matmul(joint.x[:, own].T, joint.out, joint.gradient[own])
        else:
            change(joint, own)(-multiplier * (share.rate() if run.rate is None else run.rate))
        share.meet(None, _nothing)
        if "X@GRAD" in call:
            np.copyto(call["X@GRAD"], joint.turned[:, rows].T)

    yield step


class _Change:
    """What moves a thread's rows of the parameter, bound to the arrays of the joint as long as these stay."""

    def __init__(self, call: Call) -> None:
        self._y = call["Y"]
        self._seen: tuple[np.ndarray, slice] | None = None
        self._add: Step | None = None

    def __call__(self, joint: Joint, own: slice) -> Step:
        if self._add is None or self._seen is None or self._seen[0] is not joint.x or self._seen[1] != own:
            self._seen = joint.x, own
            self._add = add_product(joint.x[:, own], joint.out, self._y[own])
        return self._add


def _nothing(brought: object) -> None:
    pass


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
    Row(
        type="matmul",
        inputs=("X", "Y"),
        attrs={"transpose_X": False, "transpose_Y": False, "alpha": 1.0},
        shape=_matmul_shape,
        forward=Kernel(_matmul),
        gradient=Gradient(_matmul_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
    Row(
        type="joint_mul",
        inputs=("X", "Y"),
        attrs={"multiplier": None},
        shape=_mul_shape,
        forward=Kernel(_joint),
        gradient=Gradient(_joint_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
)
