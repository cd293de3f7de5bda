"""How alike rows are: the cosine of the angle between them.

Source of the semantics: v2's ``cos_sim``. Where a row is all zeros the original divides by zero; here it is
like nothing, and nothing comes back through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


class _Directions:
    """Rows of length 1 for the last axis of ``rows``, and zeros for those of length 0."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self.units = np.empty_like(rows)
        self._shares = np.empty((*rows.shape[:-1], 1), rows.dtype)

    def find(self) -> None:
        units, shares = self.units, self._shares
        np.multiply(self._rows, self._rows, units)
        np.add.reduce(units, axis=-1, out=shares, keepdims=True)
        np.sqrt(shares, shares)
        np.divide(1, shares, shares, where=shares > 0)
        np.multiply(self._rows, shares, units)

    def back(self, grad: np.ndarray, out: np.ndarray) -> None:
        """``out`` is the gradient of ``rows``, from ``grad``, that of the directions."""
        along = np.add.reduce(grad * self.units, axis=-1, keepdims=True)
        np.multiply(self.units, along, out)
        np.subtract(grad, out, out)
        np.multiply(out, self._shares, out)


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, y = shapes.matrix(forms, "X"), shapes.matrix(forms, "Y")
    count, rest = divmod(y.shape[1], x.shape[1])
    if rest or not count or not shapes.agree(x.shape[0], y.shape[0]):
        raise ShapeError(
            f"X has the shape {list(x.shape)}: Y, {list(y.shape)}, must be rows of some of its rows"
        )
    return {"Out": replace(x, shape=(x.shape[0], count))}


def _both(call: Call) -> tuple[_Directions, _Directions]:
    """Of X, (n, width), and of Y, (n, count, width)."""
    x, y = call["X"], call["Y"]
    return _Directions(x), _Directions(y.reshape(len(x), -1, x.shape[1]))


def _cos_sim(call: Call) -> Steps:
    (x, y), out = _both(call), call["Out"]
    yield x.find
    yield y.find
    yield partial(np.matmul, y.units, x.units[:, :, None], out[:, :, None])
    yield partial(np.multiply, out, call.attrs["scale"], out)


def _cos_sim_gradient(call: Call) -> Steps:
    (x, y), grad, scale = _both(call), call["Out@GRAD"], call.attrs["scale"]
    scaled = np.empty_like(grad)
    yield x.find
    yield y.find
    yield partial(np.multiply, grad, scale, scaled)
    if "X@GRAD" in call:
        dx, given = call["X@GRAD"], np.empty_like(call["X"])
        yield partial(np.matmul, scaled[:, None, :], y.units, given[:, None, :])
        yield partial(x.back, given, dx)
    if "Y@GRAD" in call:
        dy, spread = call["Y@GRAD"].reshape(y.units.shape), np.empty_like(y.units)
        yield partial(np.multiply, x.units[:, None, :], scaled[:, :, None], spread)
        yield partial(y.back, spread, dy)


ROWS = (
    Row(
        type="cos_sim",
        inputs=("X", "Y"),
        attrs={"scale": 1.0},
        shape=_shape,
        forward=Kernel(_cos_sim),
        gradient=Gradient(_cos_sim_gradient, of=("X", "Y"), needs=("X", "Y")),
    ),
)
