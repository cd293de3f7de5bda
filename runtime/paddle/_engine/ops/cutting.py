"""Pieces of sequences: which rows they are, and at which offsets they begin. They are looked up as in a
table.

How many rows there are only values say, so most of this is found ahead of a run (ahead.py). Sources of the
semantics: v2's ``seq_slice``, ``sub_seq``, ``sub_nested_seq``, ``kmax_seq_score``, ``seq_reshape``, and the
stride of its pooling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def _rows(pieces: Sequence[tuple[int, int]]) -> dict[str, Array]:
    """The rows from the first to behind the last of each piece, and the offsets of the pieces among them."""
    lengths = [end - first for first, end in pieces]
    each = [np.arange(first, end) for first, end in pieces]
    return {"Rows": np.concatenate([np.zeros(0, np.int64), *each]), "Out": _ends(lengths)}


def _windows(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Windows of ``stride`` rows, counted from the beginning of each sequence, or from its end."""
    (offsets,), stride = inputs["Offsets"], attrs["stride"]
    counts = -(-np.diff(offsets) // stride)
    begins: list[int] = []
    for first, end, count in zip(offsets[:-1], offsets[1:], counts, strict=True):
        if attrs["from_end"]:
            begins += [int(first), *(int(end) - stride * k for k in range(int(count) - 1, 0, -1))][
                : int(count)
            ]
        else:
            begins += range(int(first), int(end), stride)
    return {"Out": np.array([*begins, offsets[-1]], np.int64), "Outer": _ends(counts)}


def _slices(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence the pieces from ``Starts`` to ``Ends``, both included, as many as there are before
    -1."""
    (offsets,), bounds = inputs["Offsets"], [each.astype(np.int64) for each in inputs["Bounds"]]
    starts = bounds[0] if attrs["has_starts"] else None
    ends = bounds[-1] if attrs["has_ends"] else None
    pieces, counts = list[tuple[int, int]](), list[int]()
    if wrong := [len(each) for each in bounds if len(each) != len(offsets) - 1]:
        raise FeedError(
            f"{wrong[0]} rows of numbers cut {len(offsets) - 1} sequences: one is needed for each"
        )
    for number in range(len(offsets) - 1):
        found = list(_slices_of(offsets, number, starts, ends))
        pieces += found
        counts.append(len(found))
    return _rows(pieces) | {"Outer": _ends(counts)}


def _slices_of(
    offsets: Array, number: int, starts: Array | None, ends: Array | None
) -> Iterator[tuple[int, int]]:
    first, behind = int(offsets[number]), int(offsets[number + 1])
    width = next(each.shape[1] for each in (starts, ends) if each is not None)
    for k in range(width):
        start = 0 if starts is None else int(starts[number, k])
        end = behind - first - 1 if ends is None else int(ends[number, k])
        if (starts is not None and start == -1) or (ends is not None and end == -1):
            return
        if not 0 <= start <= end < behind - first:
            raise FeedError(
                f"no piece from {start} to {end} can be cut out of sequence {number}, which has "
                f"{behind - first} elements"
            )
        yield first + start, first + end + 1


def _parts(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence the one piece that begins at ``Begins`` and has ``Sizes`` rows."""
    (offsets,), (begins,), (sizes,) = inputs["Offsets"], inputs["Begins"], inputs["Sizes"]
    if not len(begins) == len(sizes) == len(offsets) - 1:
        raise FeedError(
            f"of {len(offsets) - 1} sequences pieces are cut by {len(begins)} begins and {len(sizes)} sizes: "
            "one is needed for each"
        )
    pieces = []
    for number, (begin, size) in enumerate(zip(begins.ravel().tolist(), sizes.ravel().tolist(), strict=True)):
        first, behind = int(offsets[number]), int(offsets[number + 1])
        if begin < 0 or size < 0 or first + begin + size > behind:
            raise FeedError(
                f"no piece of {size} elements from {begin} on can be cut out of sequence {number}, which has "
                f"{behind - first}"
            )
        pieces.append((first + begin, first + begin + size))
    return _rows(pieces)


def _inner(inputs: Arrays, attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Of each sequence of sequences the inner ones that ``Chosen`` names, as many as there are before -1."""
    (outer,), (offsets,), (chosen,) = inputs["Outer"], inputs["Offsets"], inputs["Chosen"]
    pieces, counts = list[tuple[int, int]](), list[int]()
    for number, row in enumerate(chosen.astype(np.int64).tolist()):
        named = row[: row.index(-1)] if -1 in row else row
        first, behind = int(outer[number]), int(outer[number + 1])
        if wrong := [each for each in named if not 0 <= each < behind - first]:
            raise FeedError(
                f"sequence {number} has {behind - first} inner sequences, of which {wrong[0]} cannot be "
                "chosen"
            )
        pieces += [(int(offsets[first + each]), int(offsets[first + each + 1])) for each in named]
        counts.append(len(named))
    return _rows(pieces) | {"Kept": _ends(counts)}


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
        out.fill(-1)
        for number in range(len(out)):
            scores = x[offsets[number] : offsets[number + 1], 0]
            best = np.argsort(-scores, kind="stable")[:k]
            out[number, : len(best)] = best

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
