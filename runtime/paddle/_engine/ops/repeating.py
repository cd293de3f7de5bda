"""Sequences that are repeated, padded to one length, or taken out of such padding again.

How many rows there are only values say: that is found ahead of a run (ahead.py), as numbers of rows that are
looked up as in a table, or counted up to the greatest length.

Sources of the semantics: fluid's ``sequence_expand`` with levels, ``sequence_pad``, ``sequence_unpad`` and
``sequence_mask``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.sequence import count_runs
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Runs, Steps

Array = np.ndarray
Arrays = Mapping[str, Sequence[Array]]
_OPEN = Form((-1,), "int64")


def _never(call: Call) -> Steps:
    raise ShapeError(f"{call.operator} is run ahead of a run, by an Executor: no plan has it")


def _repeated_shape(forms: Forms) -> Mapping[str, Form]:
    counts = count_runs(forms), count_runs(forms, "Times")
    if not shapes.agree(*counts):
        raise ShapeError(f"X has {counts[0]} sequences, and {counts[1]} say how often each is repeated")
    return {"Rows": _OPEN, "Out": _OPEN}


def _repeated(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Sequence i as often as run i of ``Times`` has rows."""
    (offsets,), (times,) = inputs["Offsets"], inputs["Times"]
    if len(offsets) != len(times):
        raise FeedError(
            f"{len(offsets) - 1} sequences are to be repeated as often as {len(times) - 1} others have parts"
        )
    which = np.repeat(np.arange(len(offsets) - 1), np.diff(times))
    lengths = np.diff(offsets)[which]
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return {"Rows": np.arange(ends[-1]) + np.repeat(offsets[:-1][which] - ends[:-1], lengths), "Out": ends}


def _row_repeated(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Row i as often as run i of ``Times`` has rows."""
    counts = np.diff(inputs["Times"][0])
    return {"Rows": np.repeat(np.arange(len(counts)), counts)}


def _ends(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Offsets of sequences of these lengths, and the numbers of all their rows."""
    lengths = inputs["X"][0].reshape(-1)
    if (lengths < 0).any():
        raise FeedError(f"a sequence cannot have {lengths.min()} elements")
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return {"Out": ends, "Rows": np.arange(ends[-1])}


def _count_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.integers(forms, "X")
    return {"Out": Form((forms.attrs["maxlen"],), "int64")}


def _counted(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """0, 1... to below ``maxlen``, or the greatest of X where that is -1."""
    greatest, maxlen = int(inputs["X"][0].max(initial=0)), attrs["maxlen"]
    if attrs["holds_all"] and -1 < maxlen < greatest:
        raise FeedError(f"sequences are to be padded to {maxlen} elements, and one has {greatest}")
    return {"Out": np.arange(greatest if maxlen == -1 else maxlen)}


def _lengths_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form((count_runs(forms),), "int64")}


def _lengths(call: Call) -> Steps:
    offsets = call["Offsets"]
    yield partial(np.subtract, offsets[1:], offsets[:-1], call["Out"])


def _pad_shape(forms: Forms) -> Mapping[str, Form]:
    x, pad = forms["X"], forms["Pad"]
    if pad.dtype != x.dtype:
        raise ShapeError(f"X is {x.dtype} and what it is padded with {pad.dtype}: cast one of them")
    shapes.broadcast(pad.shape, x.shape)
    return {"Out": replace(x, shape=(count_runs(forms), forms["Places"].shape[0], *x.shape[1:]))}


class _Filled:
    """Which places of a padded array hold a row of a sequence."""

    def __init__(self, offsets: Array, width: int) -> None:
        self._offsets, self._places = offsets, np.arange(width)
        self.there = np.empty((len(offsets) - 1, width), np.bool_)

    def find(self) -> None:
        lengths = np.diff(self._offsets)
        if lengths.max(initial=0) > len(self._places):
            raise FeedError(
                f"a sequence of {lengths.max()} elements is said to be in rows of {len(self._places)}"
            )
        np.less(self._places, lengths[:, None], self.there)


def _pad(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    filled = _Filled(call["Offsets"], out.shape[1])
    yield filled.find
    yield partial(np.copyto, out, call["Pad"])
    yield lambda: out.__setitem__(filled.there, x)


def _pad_gradient(call: Call) -> Steps:
    grad, dx = call["Out@GRAD"], call["X@GRAD"]
    filled = _Filled(call["Offsets"], grad.shape[1])
    yield filled.find
    yield lambda: dx.__setitem__(..., grad[filled.there])


def _unpad_shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    if len(x.shape) < 2 or not shapes.agree(x.shape[0], count_runs(forms)):
        raise ShapeError(f"X of {list(x.shape)} does not hold {count_runs(forms)} padded sequences")
    return {"Out": replace(x, shape=(forms["Rows"].shape[0], *x.shape[2:]))}


def _unpad(call: Call) -> Steps:
    x, out = call["X"], call["Out"]
    filled = _Filled(call["Offsets"], x.shape[1])
    yield filled.find
    yield lambda: out.__setitem__(..., x[filled.there])


def _unpad_gradient(call: Call) -> Steps:
    grad, dx = call["Out@GRAD"], call["X@GRAD"]
    filled = _Filled(call["Offsets"], dx.shape[1])
    yield filled.find
    yield partial(dx.fill, 0)
    yield lambda: dx.__setitem__(filled.there, grad)


def _mask_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.integers(forms, "X")
    return {"Out": Form((*x.shape, forms["Places"].shape[0]), forms.attrs["dtype"])}


def _mask(call: Call) -> Steps:
    """1 in the places below the length, 0 in the others."""
    lengths = call["X"][..., None]
    yield partial(np.less, call["Places"], lengths, call["Out"], casting="unsafe")


def _open(*slots: str) -> Mapping[str, Form]:
    return dict.fromkeys(slots, _OPEN)


ROWS = (
    Row(
        type="sequence_repeat",
        inputs=("Offsets", "Times"),
        outputs=("Rows", "Out"),
        shape=_repeated_shape,
        forward=Kernel(_never),
        ahead=_repeated,
    ),
    Row(
        type="row_repeat",
        inputs=("Times",),
        outputs=("Rows",),
        shape=lambda forms: _open("Rows"),
        forward=Kernel(_never),
        ahead=_row_repeated,
    ),
    Row(
        type="sequence_ends",
        outputs=("Out", "Rows"),
        shape=lambda forms: _open("Out", "Rows"),
        forward=Kernel(_never),
        ahead=_ends,
    ),
    Row(
        type="count_up",
        attrs={"maxlen": -1, "holds_all": False},
        shape=_count_shape,
        forward=Kernel(_never),
        ahead=_counted,
    ),
    Row(type="sequence_lengths", inputs=("Offsets",), shape=_lengths_shape, forward=Kernel(_lengths)),
    Row(
        type="sequence_pad",
        inputs=("X", "Offsets", "Pad", "Places"),
        shape=_pad_shape,
        forward=Kernel(_pad),
        gradient=Gradient(_pad_gradient, needs=("Offsets",)),
        runs=(Runs("Offsets", of="X"),),
    ),
    Row(
        type="sequence_unpad",
        inputs=("X", "Offsets", "Rows"),
        shape=_unpad_shape,
        forward=Kernel(_unpad),
        gradient=Gradient(_unpad_gradient, needs=("Offsets",)),
        runs=(Runs("Offsets", of="Rows"),),
    ),
    Row(
        type="sequence_mask",
        inputs=("X", "Places"),
        attrs={"dtype": REQUIRED},
        shape=_mask_shape,
        forward=Kernel(_mask),
    ),
)
