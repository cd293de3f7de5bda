"""Rows of bits, and of places that are drawn by chances: computed on the host."""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType, is_float
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.filling import drawing
from paddle._program.running.host import Host


def _wider(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of what two give; an open one stays open beside 1."""
    rank = max(len(one), len(other))
    pairs = zip(*((1,) * (rank - len(each)) + tuple(each) for each in (one, other)), strict=True)
    return tuple(max(a, b) if max(a, b) > 1 or -1 not in (a, b) else -1 for a, b in pairs)


def _of_bits(op: Operator) -> None:
    given = [op.block._var_recursive(op.input(slot)[0]) for slot in ("X", "Y") if op.inputs.get(slot)]
    if any(is_float(each.dtype) for each in given):
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}): bits are of whole numbers and truths, and "
            f"{[each.name for each in given]} have fractions: cast them"
        )
    out = op.block._var_recursive(op.output("Out")[0])
    out.shape = given[0].shape if len(given) == 1 else _wider(given[0].shape, given[1].shape)
    out.dtype = given[0].dtype


_BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


def _whole(host: Host, op: Operator, slot: str) -> np.ndarray:
    value = np.asarray(host.input(op, slot))
    is_truth = host.block._var_recursive(op.input(slot)[0]).dtype == VarType.BOOL
    return value.astype(bool) if is_truth else value


@hosts("bitwise_and", "bitwise_or", "bitwise_xor", infer=_of_bits)
def _bits(host: Host, op: Operator) -> None:
    host.give(op, "Out", _BITS[op.type](_whole(host, op, "X"), _whole(host, op, "Y")))


@hosts("bitwise_not", infer=_of_bits)
def _no_bits(host: Host, op: Operator) -> None:
    host.give(op, "Out", np.bitwise_not(_whole(host, op, "X")))


def _of_places(op: Operator) -> None:
    x, out = (op.block._var_recursive(name) for name in (op.input("X")[0], op.output("Out")[0]))
    out.shape, out.dtype = (*x.shape[:-1], int(op.attr("num_samples"))), VarType.INT64


@hosts("multinomial", infer=_of_places, num_samples=1, replacement=False)
def _multinomial(host: Host, op: Operator) -> None:
    """The places of the greatest of chance / -log(what is drawn): each is the first that would be drawn, the
    second that of those left, and so on. With replacement: where what is drawn falls between sums."""
    chances = np.asarray(host.input(op, "X"))
    count, generator = int(op.attr("num_samples")), drawing(host, op)
    rows = chances.reshape(-1, chances.shape[-1]).astype(np.float64)
    _check(op, rows, count)
    places = (_with if op.attr("replacement") else _without)(rows, count, generator)
    host.give(op, "Out", places.reshape(*chances.shape[:-1], count).astype(np.int64))


def _check(op: Operator, rows: np.ndarray, count: int) -> None:
    if not np.isfinite(rows).all() or (rows < 0).any() or not (rows.sum(1) > 0).all():
        raise BadProgram(
            f"operator 'multinomial' (written at {op.where}): chances are numbers from 0 on, of which one at "
            "least is above 0"
        )
    there = int((rows > 0).sum(1).min())
    if not op.attr("replacement") and count > there:
        raise BadProgram(
            f"operator 'multinomial' (written at {op.where}): {count} different places cannot be drawn of "
            f"{there} that have a chance: give replacement=True"
        )


def _with(rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    ends = np.cumsum(rows, axis=1)
    drawn = generator.random((len(rows), count)) * ends[:, -1:]
    return np.stack([np.searchsorted(end, each, "right") for end, each in zip(ends, drawn, strict=True)])


def _without(rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    with np.errstate(divide="ignore"):
        order = generator.standard_exponential(rows.shape) / rows
    order[rows == 0] = np.inf
    nearest = np.argpartition(order, count - 1, axis=1)[:, :count]
    return np.take_along_axis(nearest, np.argsort(np.take_along_axis(order, nearest, 1), axis=1), 1)
