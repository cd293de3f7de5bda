"""Elements of sequences in their places: added where ids say, or seen beside those that follow.

Sources of the semantics: fluid's ``sequence_scatter`` and ``sequence_enumerate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.sequence import count_runs
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Index, Kernel, Row, Runs, Steps


def _scatter_shape(forms: Forms) -> Mapping[str, Form]:
    x, ids, updates = shapes.matrix(forms, "X"), shapes.integers(forms, "Ids"), forms["Updates"]
    if not shapes.agree(x.shape[0], count_runs(forms)):
        raise ShapeError(f"X has {x.shape[0]} rows, and there are {count_runs(forms)} sequences of ids")
    if any(size != 1 for size in (*ids.shape[1:], *updates.shape[1:])):
        raise ShapeError(f"ids {list(ids.shape)} and updates {list(updates.shape)} are columns")
    if not shapes.agree(ids.shape[0], updates.shape[0]):
        raise ShapeError(f"{ids.shape[0]} ids and {updates.shape[0]} updates: each id has one")
    return {"Out": x}


def _rows_of(offsets: np.ndarray) -> np.ndarray:
    """The sequence that each element is of."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _scatter(call: Call) -> Steps:
    out, ids, updates = call["Out"], call["Ids"].reshape(-1), call["Updates"].reshape(-1)
    offsets = call["Offsets"]
    yield partial(np.copyto, out, call["X"])
    yield lambda: np.add.at(out, (_rows_of(offsets), ids), updates)


def _scatter_gradient(call: Call) -> Steps:
    grad, ids, offsets = call["Out@GRAD"], call["Ids"].reshape(-1), call["Offsets"]
    if "X@GRAD" in call:
        yield partial(np.copyto, call["X@GRAD"], grad)
    if "Updates@GRAD" in call:
        updates = call["Updates@GRAD"].reshape(-1)
        yield lambda: updates.__setitem__(..., grad[_rows_of(offsets), ids])


def _enumerate_shape(forms: Forms) -> Mapping[str, Form]:
    x, count = shapes.column(forms, "X", -1), forms.attrs["win_size"]
    if count < 1:
        raise ShapeError(f"win_size is 1 or more, not {count}")
    return {"Out": replace(x, shape=(x.shape[0], count))}


def _enumerate(call: Call) -> Steps:
    """Of each element those that follow it in its sequence, itself first."""
    x, offsets, out, pad = call["X"].reshape(-1), call["Offsets"], call["Out"], call.attrs["pad_value"]

    def look() -> None:
        ends = np.repeat(offsets[1:], np.diff(offsets))
        places = np.arange(len(x))[:, None] + np.arange(out.shape[1])
        out[...] = np.where(places < ends[:, None], np.take(x, places, mode="clip"), pad) if len(x) else 0

    yield look


ROWS = (
    Row(
        type="sequence_scatter",
        inputs=("X", "Ids", "Offsets", "Updates"),
        shape=_scatter_shape,
        forward=Kernel(_scatter),
        gradient=Gradient(_scatter_gradient, of=("X", "Updates"), needs=("Ids", "Offsets")),
        indexes=(Index("Ids", into="X", axis=1),),
        runs=(Runs("Offsets", of="Ids"),),
    ),
    Row(
        type="sequence_enumerate",
        inputs=("X", "Offsets"),
        attrs={"win_size": REQUIRED, "pad_value": 0},
        shape=_enumerate_shape,
        forward=Kernel(_enumerate),
        runs=(Runs("Offsets", of="X"),),
    ),
)
