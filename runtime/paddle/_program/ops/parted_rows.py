"""Rows of a mask by which rows, or sequences, go one way or another, and come together again.

It must never know what is done with them in between. Guarantee: each is computed one way only, so that a mean
over one way is over its rows, and what cannot be computed for the others is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets
from paddle._program.running.tape import Done, Slopes


def _like(slot: str) -> Any:
    def infer(op: Operator) -> None:
        source = op.block._var_recursive(op.input(slot)[0])
        for name in op.output_arg_names:
            made = op.block._var_recursive(name)
            made.shape, made.dtype = (-1, *source.shape[1:]), source.dtype
            made.lod_level, made.stop_gradient = source.lod_level, source.stop_gradient

    return infer


@hosts("split_lod_tensor", infer=_like("X"), level=0)
def _split(host: Host, op: Operator) -> None:
    value, mask = host.input(op, "X"), _mask(host.input(op, "Mask"))
    pieces = _pieces(value)
    if len(pieces) != len(mask):
        raise BadProgram(
            f"the mask has {len(mask)} rows, and what it parts has {len(pieces)} (written at {op.where})"
        )
    for slot, chosen in (("OutTrue", mask), ("OutFalse", ~mask)):
        host.give(op, slot, _joined([pieces[at] for at in np.flatnonzero(chosen)], value))


@backs("split_lod_tensor")
def _split_back(done: Done, slopes: Slopes) -> None:
    value, mask = done.input("X"), _mask(done.input("Mask"))
    found = np.zeros_like(np.asarray(value))
    rows = _rows_of(value, mask)
    for slot, chosen in (("OutTrue", rows), ("OutFalse", ~rows)):
        came = slopes.take(done.op.output(slot)[0]) if done.op.output(slot) else None
        if came is not None:
            found[chosen] = came
    done.add(slopes, "X", found)


@hosts("merge_lod_tensor", infer=_like("InTrue"), level=0)
def _merge(host: Host, op: Operator) -> None:
    mask, yes = _mask(host.input(op, "Mask")), host.input(op, "InTrue")
    ways = [_of_way(_pieces(yes), mask), _of_way(_pieces(host.input(op, "InFalse")), ~mask)]
    for way, chosen in zip(ways, (mask, ~mask), strict=True):
        if len(way) != chosen.sum():
            raise BadProgram(
                f"one way of an IfElse gives {len(way)} rows for {chosen.sum()} (written at {op.where}): "
                "each of its rows goes one way, so a way begins with input(...)"
            )
    each = [iter(way) for way in ways]
    host.give(op, "Out", _joined([next(each[0] if holds else each[1]) for holds in mask], yes))


@backs("merge_lod_tensor")
def _merge_back(done: Done, slopes: Slopes) -> None:
    came, mask = slopes.take(done.op.output("Out")[0]), _mask(done.input("Mask"))
    lengths = _lengths(done.outputs("Out")[0])
    for slot, chosen in (("InTrue", mask), ("InFalse", ~mask)):
        rows, value = np.repeat(chosen, lengths), np.asarray(done.input(slot))
        if len(value) == len(came) != rows.sum():  # a way that gave all rows
            done.add(slopes, slot, np.where(rows.reshape(-1, *[1] * (came.ndim - 1)), came, 0))
        else:
            done.add(slopes, slot, came[rows])


def _mask(value: Any) -> np.ndarray:
    return np.asarray(value).astype(bool).reshape(-1)


def _lengths(value: Any) -> list[int]:
    if isinstance(value, LoDTensor) and value.lod():
        return [end - begin for begin, end in pairwise(value.lod()[0])]
    return [1] * len(np.asarray(value))


def _rows_of(value: Any, mask: np.ndarray) -> np.ndarray:
    """Which rows are chosen, of sequences."""
    return np.repeat(mask, _lengths(value))


def _pieces(value: Any) -> list[np.ndarray]:
    """Its sequences, or rows where there are none."""
    rows, ends = np.asarray(value), np.cumsum([0, *_lengths(value)])
    return [rows[begin:end] for begin, end in pairwise(ends)]


def _of_way(pieces: list[np.ndarray], chosen: np.ndarray) -> list[np.ndarray]:
    """Of a way that gives all rows, those that go it."""
    return [pieces[at] for at in np.flatnonzero(chosen)] if len(pieces) == len(chosen) else pieces


def _joined(pieces: Sequence[np.ndarray], like: Any) -> Any:
    rows = np.concatenate([np.asarray(like)[:0], *pieces])
    if isinstance(like, LoDTensor) and like.lod():
        return LoDTensor(rows, [offsets(map(len, pieces))])
    return rows
