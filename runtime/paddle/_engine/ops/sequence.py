"""Sequences: packed one after another in the rows of a matrix, with the offsets at which they begin.

Slot Offsets is int64 (n + 1,) for n sequences (kernels/runs.py says what it holds). An operator that works on
each row by itself, such as ``mul`` or ``tanh``, needs to know nothing of it.

Sources of the semantics: v2's ``pooling``, ``first_seq``, ``last_seq``, ``expand``, ``context_projection``,
``seq_concat`` and fluid's operators of these names. A sequence without rows is reduced to zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.shares import Shares, check_pooltype
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Index, Kernel, Row, Runs, Steps

_RUNS = (Runs("Offsets", of="X"),)


def count_runs(forms: Forms, slot: str = "Offsets") -> int:
    """The number of sequences that there are offsets of, -1 where a feed decides it."""
    form = shapes.integers(forms, slot)
    if len(form.shape) != 1 or form.shape[0] == 0:
        raise ShapeError(f"{slot} must have shape [n + 1] for n sequences, got {list(form.shape)}")
    return form.shape[0] - 1 if form.shape[0] > 0 else -1


def _reduced_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.matrix(forms, "X")
    return {"Out": replace(x, shape=(count_runs(forms), x.shape[1]))}


def _same_shape(forms: Forms) -> Mapping[str, Form]:
    count_runs(forms)
    return {"Out": shapes.matrix(forms, "X")}


def _pool_shape(forms: Forms) -> Mapping[str, Form]:
    check_pooltype(forms)
    return _reduced_shape(forms)


def _pool(call: Call) -> Steps:
    from paddle._engine.kernels.runs import sum_runs  # loads numba

    out = call["Out"]
    yield partial(sum_runs, call["X"], call["Offsets"], out)
    yield from Shares(call, out.dtype).scale(out, out)


def _pool_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import spread_runs  # loads numba

    grad, shares = call["Out@GRAD"], Shares(call, call["Out@GRAD"].dtype)
    each = grad if call.attrs["pooltype"] == "sum" else np.empty_like(grad)
    yield from shares.scale(grad, each)
    yield partial(spread_runs, each, call["Offsets"], call["X@GRAD"])


def _max_shape(forms: Forms) -> Mapping[str, Form]:
    out = _reduced_shape(forms)["Out"]
    return {"Out": out, "Places": replace(out, dtype="int64")}


def _max(call: Call) -> Steps:
    from paddle._engine.kernels.runs import max_runs  # loads numba

    yield partial(max_runs, call["X"], call["Offsets"], call["Out"], call["Places"])


def _max_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import scatter_places  # loads numba

    yield partial(scatter_places, call["Out@GRAD"], call["Places"], call["X@GRAD"])


class _Ends:
    """The number of the first or last row of each sequence, and which sequences have none."""

    def __init__(self, call: Call) -> None:
        self._offsets, self._is_last = call["Offsets"], call.attrs["which"] == "last"
        self.rows = np.empty(len(self._offsets) - 1, np.int64)
        self.has_one = np.empty((len(self.rows), 1), np.bool_)

    def find(self) -> None:
        first, end = self._offsets[:-1], self._offsets[1:]
        np.greater(end, first, self.has_one[:, 0])
        if self._is_last:
            np.subtract(end, 1, self.rows)
            np.maximum(self.rows, 0, out=self.rows)
        else:
            np.minimum(first, max(int(self._offsets[-1]) - 1, 0), out=self.rows)


def _end_shape(forms: Forms) -> Mapping[str, Form]:
    if forms.attrs["which"] not in ("first", "last"):
        raise ShapeError(f"which is first or last, not {forms.attrs['which']!r}")
    return _reduced_shape(forms)


def _end(call: Call) -> Steps:
    x, out, ends = call["X"], call["Out"], _Ends(call)
    if not len(x):
        yield partial(out.fill, 0)
        return
    yield ends.find
    yield partial(np.take, x, ends.rows, 0, out, "clip")
    yield partial(np.multiply, out, ends.has_one, out)


def _end_gradient(call: Call) -> Steps:
    grad, dx, ends = call["Out@GRAD"], call["X@GRAD"], _Ends(call)

    def put() -> None:
        there = ends.has_one[:, 0]
        dx[ends.rows[there]] = grad[there]

    yield partial(dx.fill, 0)
    yield ends.find
    yield put


def _expand_shape(forms: Forms) -> Mapping[str, Form]:
    x, rows = shapes.matrix(forms, "X"), forms["Like"].shape[0]
    if not shapes.agree(x.shape[0], count_runs(forms)):
        raise ShapeError(
            f"X has {x.shape[0]} rows and there are {count_runs(forms)} sequences: one row for each"
        )
    return {"Out": replace(x, shape=(rows, x.shape[1]))}


def _expand(call: Call) -> Steps:
    from paddle._engine.kernels.runs import spread_runs  # loads numba

    yield partial(spread_runs, call["X"], call["Offsets"], call["Out"])


def _expand_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import sum_runs  # loads numba

    yield partial(sum_runs, call["Out@GRAD"], call["Offsets"], call["X@GRAD"])


def _reverse(call: Call) -> Steps:
    from paddle._engine.kernels.runs import reverse_runs  # loads numba

    yield partial(reverse_runs, call["X"], call["Offsets"], call["Out"])


def _reverse_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import reverse_runs  # loads numba

    yield partial(reverse_runs, call["Out@GRAD"], call["Offsets"], call["X@GRAD"])


def _softmax_shape(forms: Forms) -> Mapping[str, Form]:
    count_runs(forms)
    x = shapes.matrix(forms, "X")
    if x.shape[1] != 1:
        raise ShapeError(f"X has {x.shape[1]} columns: a softmax over the rows of a sequence is of one")
    return {"Out": x}


def _softmax(call: Call) -> Steps:
    """exp(x - greatest) / sum, of each sequence."""
    from paddle._engine.kernels.runs import max_runs, spread_runs, sum_runs  # loads numba

    x, offsets, out = call["X"], call["Offsets"], call["Out"]
    each, spread = np.empty((len(offsets) - 1, 1), x.dtype), np.empty_like(x)
    places = np.empty(each.shape, np.int64)
    yield partial(max_runs, x, offsets, each, places)
    yield partial(spread_runs, each, offsets, spread)
    yield partial(np.subtract, x, spread, out)
    yield partial(np.exp, out, out)
    yield partial(sum_runs, out, offsets, each)
    yield partial(spread_runs, each, offsets, spread)
    yield partial(np.divide, out, spread, out)


def _softmax_gradient(call: Call) -> Steps:
    """out * (grad - sum(out * grad)), of each sequence."""
    from paddle._engine.kernels.runs import spread_runs, sum_runs  # loads numba

    out, grad, dx, offsets = call["Out"], call["Out@GRAD"], call["X@GRAD"], call["Offsets"]
    each, spread = np.empty((len(offsets) - 1, 1), out.dtype), np.empty_like(out)
    yield partial(np.multiply, out, grad, dx)
    yield partial(sum_runs, dx, offsets, each)
    yield partial(spread_runs, each, offsets, spread)
    yield partial(np.subtract, grad, spread, dx)
    yield partial(np.multiply, dx, out, dx)


def _join_shape(forms: Forms) -> Mapping[str, Form]:
    x, y = shapes.matrix(forms, "X"), shapes.matrix(forms, "Y")
    if not shapes.agree(x.shape[1], y.shape[1]) or x.dtype != y.dtype:
        raise ShapeError(f"X is {x.dtype}{list(x.shape)} and Y is {y.dtype}{list(y.shape)}: columns differ")
    counts = count_runs(forms), count_runs(forms, "YOffsets")
    if not shapes.agree(*counts):
        raise ShapeError(f"X has {counts[0]} sequences and Y has {counts[1]}")
    rows = -1 if -1 in (x.shape[0], y.shape[0]) else x.shape[0] + y.shape[0]
    return {"Out": replace(x, shape=(rows, x.shape[1])), "OutOffsets": forms["Offsets"]}


def _join(call: Call) -> Steps:
    from paddle._engine.kernels.runs import join_runs  # loads numba

    offsets, others = call["Offsets"], call["YOffsets"]
    yield partial(np.add, offsets, others, call["OutOffsets"])
    yield partial(join_runs, call["X"], offsets, call["Y"], others, call["Out"])


def _join_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import part_runs  # loads numba

    parts = [
        call[f"{slot}@GRAD"] if f"{slot}@GRAD" in call else np.empty_like(call[slot]) for slot in ("X", "Y")
    ]
    yield partial(part_runs, call["Out@GRAD"], call["Offsets"], call["YOffsets"], *parts)


def _beyond(forms: Forms) -> int:
    """How many rows can stand outside a sequence, on either side."""
    start, length = int(forms.attrs["start"]), int(forms.attrs["length"])
    return max(0, -start) + max(0, start + length - 1)


def _windows_shape(forms: Forms) -> Mapping[str, Form]:
    count_runs(forms)
    x, length = shapes.matrix(forms, "X"), forms.attrs["length"]
    if length < 1:
        raise ShapeError(f"a window has 1 row or more, not {length}")
    return {"Out": replace(x, shape=(x.shape[0], x.shape[1] * length))}


def _padded_shape(forms: Forms) -> Mapping[str, Form]:
    x, padding = shapes.matrix(forms, "X"), shapes.matrix(forms, "Padding")
    if padding.shape != (_beyond(forms), x.shape[1]):
        raise ShapeError(f"Padding must have shape {[_beyond(forms), x.shape[1]]}, got {list(padding.shape)}")
    return _windows_shape(forms)


def _nothing(x: np.ndarray) -> np.ndarray:
    return np.empty((0, x.shape[1]), x.dtype)


def _windows(call: Call) -> Steps:
    from paddle._engine.kernels.runs import windows  # loads numba

    x, start = call["X"], call.attrs["start"]
    beyond = call["Padding"] if "Padding" in call else _nothing(x)
    yield partial(windows, x, call["Offsets"], start, beyond, max(0, -start), call["Out"])


def _windows_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.runs import add_windows  # loads numba

    grad, start = call["Out@GRAD"], call.attrs["start"]
    none = np.empty((0, grad.shape[1] // call.attrs["length"]), grad.dtype)
    rows = call.get("X@GRAD", none)
    beyond = call.get("Padding@GRAD", none)
    yield partial(rows.fill, 0)
    yield partial(beyond.fill, 0)
    yield partial(add_windows, grad, call["Offsets"], start, beyond, max(0, -start), rows)


def _merged_shape(forms: Forms) -> Mapping[str, Form]:
    count_runs(forms, "X")
    count_runs(forms, "Outer")
    return {"Out": forms["Outer"]}


def _merged(call: Call) -> Steps:
    """Offsets of sequences of sequences, among rows: where the first of its inner ones begins."""
    yield partial(np.take, call["X"], call["Outer"], 0, call["Out"], "clip")


_WINDOW = {"start": REQUIRED, "length": REQUIRED}

ROWS = (
    Row(
        type="sequence_pool",
        inputs=("X", "Offsets"),
        attrs={"pooltype": "average"},
        shape=_pool_shape,
        forward=Kernel(_pool),
        gradient=Gradient(_pool_gradient, needs=("Offsets",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_max",
        inputs=("X", "Offsets"),
        outputs=("Out", "Places"),
        shape=_max_shape,
        forward=Kernel(_max),
        gradient=Gradient(_max_gradient, needs=("Places",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_end",
        inputs=("X", "Offsets"),
        attrs={"which": "last"},
        shape=_end_shape,
        forward=Kernel(_end),
        gradient=Gradient(_end_gradient, needs=("Offsets",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_expand",
        inputs=("X", "Offsets", "Like"),
        shape=_expand_shape,
        forward=Kernel(_expand),
        gradient=Gradient(_expand_gradient, needs=("Offsets",)),
        runs=(Runs("Offsets", of="Like"),),
    ),
    Row(
        type="sequence_reverse",
        inputs=("X", "Offsets"),
        shape=_same_shape,
        forward=Kernel(_reverse),
        gradient=Gradient(_reverse_gradient, needs=("Offsets",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_softmax",
        inputs=("X", "Offsets"),
        shape=_softmax_shape,
        forward=Kernel(_softmax),
        gradient=Gradient(_softmax_gradient, needs=("Out", "Offsets")),
        runs=_RUNS,
    ),
    Row(
        type="sequence_concat",
        inputs=("X", "Offsets", "Y", "YOffsets"),
        outputs=("Out", "OutOffsets"),
        shape=_join_shape,
        forward=Kernel(_join),
        gradient=Gradient(_join_gradient, of=("X", "Y"), needs=("X", "Y", "Offsets", "YOffsets")),
        apart={"OutOffsets": ("sum", ("Offsets", "YOffsets"))},
        runs=(*_RUNS, Runs("YOffsets", of="Y")),
    ),
    Row(
        type="sequence_window",
        inputs=("X", "Offsets"),
        attrs=_WINDOW,
        shape=_windows_shape,
        forward=Kernel(_windows),
        gradient=Gradient(_windows_gradient, needs=("Offsets",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_window_padded",
        inputs=("X", "Offsets", "Padding"),
        attrs=_WINDOW,
        shape=_padded_shape,
        forward=Kernel(_windows),
        gradient=Gradient(_windows_gradient, of=("X", "Padding"), needs=("Offsets",)),
        runs=_RUNS,
    ),
    Row(
        type="sequence_merge",
        inputs=("X", "Outer"),
        shape=_merged_shape,
        forward=Kernel(_merged),
        indexes=(Index("Outer", into="X", axis=0),),
    ),
)
