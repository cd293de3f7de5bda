"""Pieces of sequences: which rows they are, and at which offsets they begin. They are looked up as in a
table.

How many rows there are only values say, so most of this is found ahead of a run (ahead.py). Sources of the
semantics: v2's ``seq_slice``, ``sub_seq``, ``sub_nested_seq``, ``kmax_seq_score``, ``seq_reshape``, and the
stride of its pooling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Kernel, Row, Runs, Steps

Array = np.ndarray
Arrays = Mapping[str, Sequence[Array]]
_OPEN = Form((-1,), "int64")


def _ends(lengths: Sequence[int] | Array) -> Array:
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def _rows(begins: Array, lengths: Array) -> dict[str, Array]:
    """The rows of each piece, and the offsets of the pieces among them."""
    out = _ends(lengths)
    return {"Rows": np.arange(out[-1]) + np.repeat(begins - out[:-1], lengths), "Out": out}


def _windows(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Windows of ``stride`` rows, counted from the beginning of each sequence, or from its end."""
    (offsets,), stride = inputs["Offsets"], attrs["stride"]
    counts = -(-np.diff(offsets) // stride)
    outer = _ends(counts)
    which = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(outer[-1]) - outer[which]
    begins = offsets[which] + stride * number
    if attrs["from_end"]:
        from_end = offsets[which + 1] - stride * (counts[which] - number)
        begins = np.where(number == 0, offsets[which], from_end)
    return {"Out": np.append(begins, offsets[-1]).astype(np.int64), "Outer": outer}


def _slices(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence the pieces from ``Starts`` to ``Ends``, both included, as many as there are before
    -1."""
    (offsets,), bounds = inputs["Offsets"], [each.astype(np.int64) for each in inputs["Bounds"]]
    lengths = np.diff(offsets)
    if wrong := [len(each) for each in bounds if len(each) != len(lengths)]:
        raise FeedError(f"{wrong[0]} rows of numbers cut {len(lengths)} sequences: one is needed for each")
    if bounds[0].shape[1] != bounds[-1].shape[1]:
        raise FeedError(f"a piece has a start and an end, not {bounds[0].shape[1]} and {bounds[-1].shape[1]}")
    starts = bounds[0] if attrs["has_starts"] else np.zeros_like(bounds[0])
    ends = bounds[-1] if attrs["has_ends"] else np.broadcast_to(lengths[:, None] - 1, starts.shape)
    there = _before_none(*bounds)
    fits = (starts >= 0) & (starts <= ends) & (ends < lengths[:, None])
    for number, k in np.argwhere(there & ~fits)[:1].tolist():
        raise FeedError(
            f"no piece from {starts[number, k]} to {ends[number, k]} can be cut out of sequence {number}, "
            f"which has {lengths[number]} elements"
        )
    begins, sizes = offsets[:-1, None] + starts, ends - starts + 1
    return _rows(begins[there], sizes[there]) | {"Outer": _ends(there.sum(1))}


def _before_none(*numbers: Array) -> Array:
    """Which columns of each row lie before the first -1."""
    is_none = np.any([each == -1 for each in numbers], 0)
    there: Array = ~np.logical_or.accumulate(is_none, 1)
    return there


def _parts(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence the one piece that begins at ``Begins`` and has ``Sizes`` rows."""
    (offsets,), (begins,), (sizes,) = inputs["Offsets"], inputs["Begins"], inputs["Sizes"]
    if not len(begins) == len(sizes) == len(offsets) - 1:
        raise FeedError(
            f"of {len(offsets) - 1} sequences pieces are cut by {len(begins)} begins and {len(sizes)} sizes: "
            "one is needed for each"
        )
    firsts, lengths, wholes = begins.ravel(), sizes.ravel(), np.diff(offsets)
    for number in np.flatnonzero((firsts < 0) | (lengths < 0) | (firsts + lengths > wholes))[:1].tolist():
        raise FeedError(
            f"no piece of {lengths[number]} elements from {firsts[number]} on can be cut out of sequence "
            f"{number}, which has {wholes[number]}"
        )
    return _rows(offsets[:-1] + firsts, lengths)


def _inner(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence of sequences the inner ones that ``Chosen`` names, as many as there are before -1."""
    (outer,), (offsets,), (chosen,) = inputs["Outer"], inputs["Offsets"], inputs["Chosen"]
    named = chosen.astype(np.int64)
    there, counts = _before_none(named), np.diff(outer)[: len(named), None]
    for number, k in np.argwhere(there & ((named < 0) | (named >= counts)))[:1].tolist():
        raise FeedError(
            f"sequence {number} has {counts[number, 0]} inner sequences, of which {named[number, k]} "
            "cannot be chosen"
        )
    which = (outer[: len(named), None] + named)[there]
    return _rows(offsets[which], np.diff(offsets)[which]) | {"Kept": _ends(there.sum(1))}


def _open(*slots: str) -> Callable[[Forms], Mapping[str, Form]]:
    return lambda forms: dict.fromkeys(slots, _OPEN)


def _never(call: Call) -> Steps:
    raise ShapeError(f"{call.operator} is run ahead of a run, by an Executor: no plan has it")


def _best_shape(forms: Forms) -> Mapping[str, Form]:
    x, ends = shapes.matrix(forms, "X"), shapes.integers(forms, "Offsets").shape[0]
    if x.shape[1] != 1:
        raise ShapeError(f"X has {x.shape[1]} columns: an element of a sequence has one score")
    return {"Out": replace(x, shape=(ends - 1 if ends > 0 else -1, forms.attrs["k"]))}


def _best(call: Call) -> Steps:
    """The numbers of the elements with the greatest scores of each sequence, -1 where it has fewer."""
    x, offsets, out, k = call["X"], call["Offsets"], call["Out"], call.attrs["k"]

    def find() -> None:
        which = np.repeat(np.arange(len(out)), np.diff(offsets))
        order = np.lexsort((-x[:, 0], which))  # of equal scores the first is first
        place = np.arange(len(x)) - offsets[which]
        taken = place < k
        out.fill(-1)
        out[which[taken], place[taken]] = (order - offsets[which])[taken]

    yield find


def _cut_shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": shapes.integers(forms, "Offsets")}


def _cut(call: Call) -> Steps:
    """Offsets of rows of another width that hold the same."""
    offsets, out, width, into = call["Offsets"], call["Out"], call.attrs["width"], call.attrs["into"]

    def check() -> None:
        if (offsets * width % into).any():
            raise FeedError(
                f"rows of {width} cannot become rows of {into} in each sequence: they begin at "
                f"{offsets[:8].tolist()}, and these are to be multiples"
            )

    yield check
    yield partial(np.multiply, offsets, width, out)
    yield partial(np.floor_divide, out, into, out)


ROWS = (
    Row(
        type="sequence_strides",
        inputs=("Offsets",),
        outputs=("Out", "Outer"),
        attrs={"stride": REQUIRED, "from_end": False},
        shape=_open("Out", "Outer"),
        forward=Kernel(_never),
        ahead=_windows,
    ),
    Row(
        type="sequence_slices",
        inputs=("Offsets", "Bounds*"),
        outputs=("Rows", "Out", "Outer"),
        attrs={"has_starts": True, "has_ends": True},
        shape=_open("Rows", "Out", "Outer"),
        forward=Kernel(_never),
        ahead=_slices,
    ),
    Row(
        type="sequence_parts",
        inputs=("Offsets", "Begins", "Sizes"),
        outputs=("Rows", "Out"),
        shape=_open("Rows", "Out"),
        forward=Kernel(_never),
        ahead=_parts,
    ),
    Row(
        type="sequence_chosen",
        inputs=("Outer", "Offsets", "Chosen"),
        outputs=("Rows", "Out", "Kept"),
        shape=_open("Rows", "Out", "Kept"),
        forward=Kernel(_never),
        ahead=_inner,
    ),
    Row(
        type="sequence_best",
        inputs=("X", "Offsets"),
        attrs={"k": REQUIRED},
        shape=_best_shape,
        forward=Kernel(_best),
        runs=(Runs("Offsets", of="X"),),
    ),
    Row(
        type="sequence_resize",
        inputs=("Offsets",),
        attrs={"width": REQUIRED, "into": REQUIRED},
        shape=_cut_shape,
        forward=Kernel(_cut),
    ),
)
