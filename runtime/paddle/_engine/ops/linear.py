"""Matrix products; that with a parameter which all threads of a team compute together (joint.py), too.

No face writes ``joint_mul``: a pass makes it (passes/joint.py), and where no team runs it, it is ``mul``.
``dot`` is ``matmul`` of two matrices, and asks fewer questions before it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paddle._engine import tiled
from paddle._engine.blas import Step, by_transpose
from paddle._engine.errors import ShapeError
from paddle._engine.ops import parts, shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps
from paddle._engine.teams import shared
from paddle._engine.teams.joint import Joining, span


def _mul_shape(forms: Forms) -> Mapping[str, Form]:
    x, y = shapes.matrix(forms, "X"), shapes.matrix(forms, "Y")
    if not shapes.agree(x.shape[1], y.shape[0]):
        raise ShapeError(f"X has {x.shape[1]} columns and Y has {y.shape[0]} rows")
    shapes.alike(forms, "X", "Y")
    return {"Out": Form((x.shape[0], y.shape[1]), x.dtype)}


def _mul(call: Call) -> Steps:
    x, y, out = call["X"], call["Y"], call["Out"]
    crew = call.run.crew
    columns = shared.spans(crew, len(x), y, axis=1)
    if len(columns) > 1:
        yield shared.together(crew, [parts.forward(x, y, out, each) for each in columns])
    else:
        yield tiled.flushed(tiled.multiply(x, y, out, call.scratch) or partial(np.dot, x, y, out), y)


def _room(forms: Forms) -> Mapping[str, Form]:
    return tiled.room(forms["X"], forms["Y"])


def _room_back(forms: Forms) -> Mapping[str, Form]:
    return tiled.room_back(forms["X"], forms["Y"])


def _mul_gradient(call: Call) -> Steps:
    x, y, grad = call["X"], call["Y"], call["Out@GRAD"]
    target, below, crew = call.wanted("Y@GRAD"), call.wanted("X@GRAD"), call.run.crew
    rows = shared.spans(crew, len(x), y, axis=0)
    if len(rows) > 1:
        steps = [parts.back(x, grad, y, each, target=target, below=below) for each in rows]
        yield partial(shared.together(crew, steps), 1.0)
        return
    step = tiled.multiply_back(x, grad, y, target=target, below=below, room=call.scratch)
    if step is not None:
        yield tiled.flushed(partial(step, 1.0), y)
        return
    if "Y@GRAD" in call:
        yield tiled.flushed(partial(np.dot, x.T, grad, call["Y@GRAD"]), y)
    if "X@GRAD" in call:
        yield from (tiled.flushed(each, y) for each in by_transpose(grad, y, call["X@GRAD"]))


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
            f"X {x.dtype}{list(x.shape)} and Y {y.dtype}{list(y.shape)} are not matrices of one kind"
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
    yield tiled.flushed(partial(np.matmul, x, y, out), max(x, y, key=np.size))
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
        yield tiled.flushed(partial(np.matmul, a, b, out), max(a, b, key=np.size))
    else:
        whole = np.empty((*lead, *out.shape[-2:]), out.dtype)
        kept = out.reshape((1,) * missing + out.shape)
        yield tiled.flushed(partial(np.matmul, a, b, whole), max(a, b, key=np.size))
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

    bound = _Bound(lambda columns: parts.forward(joint.x, y, joint.out, columns))

    def step() -> None:
        share.meet(x, lambda brought: joint.gather(brought, width))
        bound(span(width, share.number, share.count), joint.x)()
        share.meet(None, _nothing)
        np.copyto(out, joint.out[joint.rows[share.number]])

    yield step


def _joint_gradient(call: Call) -> Steps:
    share = call.run.exchange
    if not isinstance(share, Joining):
        yield from _mul_gradient(call)
        return
    grad, y, multiplier = call["Out@GRAD"], call["Y"], call.attrs["multiplier"]
    name, run = call.operator.inputs["Y"][0], call.run
    joint = share.product(name)

    def way_back(own: slice) -> Step:
        below, is_moved = joint.below if "X@GRAD" in call else None, joint.gradient is None
        target = y if joint.gradient is None else joint.gradient
        return parts.back(joint.x, joint.out, y, own, target=target, below=below, is_added=is_moved)

    bound = _Bound(way_back)

    def begin(gradients: list[np.ndarray | None]) -> None:
        joint.gradient = gradients[0]
        if multiplier is None:
            share.made(name)

    def factor() -> float:
        return 1.0 if multiplier is None else -multiplier * (share.rate() if run.rate is None else run.rate)

    made = call["Y@GRAD"] if multiplier is None else None

    def step() -> None:
        rows, own = joint.rows[share.number], span(len(y), share.number, share.count)
        np.copyto(joint.out[rows], grad)
        share.meet(made, begin)
        bound(own, joint.x, joint.gradient)(factor())
        share.meet(None, _nothing)
        if "X@GRAD" in call:
            np.copyto(call["X@GRAD"], joint.below[rows])

    yield step


class _Bound:
    """What is made for a thread's part of a parameter, as long as that and the arrays of the joint stay."""

    def __init__(self, make: Callable[[slice], Callable[..., object]]) -> None:
        self._make = make
        self._seen: tuple[object, ...] = ()
        self._made: Callable[..., object] = _nothing

    def __call__(self, own: slice, *arrays: np.ndarray | None) -> Callable[..., object]:
        seen = own.start, own.stop, *map(id, arrays)
        if seen != self._seen[: len(seen)]:
            self._seen, self._made = (
                (*seen, arrays),
                self._make(own),
            )  # an array that is kept has its id alone
        return self._made


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
        forward=Kernel(_mul, _room),
        gradient=Gradient(_mul_gradient, scratch=_room_back, of=("X", "Y"), needs=("X", "Y")),
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
