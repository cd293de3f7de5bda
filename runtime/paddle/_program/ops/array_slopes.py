"""How gradients go back through arrays of tensors, rank tables, and functions of Python.

The gradient of an array of tensors is a list, of as many as have come, None between them. It must never know
how the operators themselves are computed (arrays.py, rank_tables.py).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from paddle._program.lowering.op_rows import backs
from paddle._program.ops.arrays import callback_of
from paddle._program.ops.formulas.formula import unbroadcast
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.tape import Done, Slopes


@backs("while", "conditional_block")
def _through(done: Done, slopes: Slopes) -> None:
    """What its blocks have done is on the tape itself."""


@backs("write_to_array")
def _write_to_array(done: Done, slopes: Slopes) -> None:
    """The element's goes to what was written; what was there before has none of it."""
    (name,), at = done.op.output("Out"), _number(done.input("I"))
    came: list[Any] = slopes.take(name)
    found = came[at] if at < len(came) else None
    rest = [None if each == at else came[each] for each in range(len(came))]
    if any(each is not None for each in rest):
        slopes.add(name, rest)
    if found is not None:
        done.add(slopes, "X", found)


@backs("read_from_array")
def _read_from_array(done: Done, slopes: Slopes) -> None:
    came, at = slopes.take(done.op.output("Out")[0]), _number(done.input("I"))
    done.add(slopes, "X", [*([None] * at), came])


@backs("tensor_array_to_tensor")
def _tensor_array_to_tensor(done: Done, slopes: Slopes) -> None:
    came, axis = slopes.take(done.op.output("Out")[0]), done.op.attr("axis")
    if came is None:
        return
    arrays = [np.asarray(each) for each in done.input("X")]
    if done.op.attr("use_stack"):
        parts = [np.take(came, at, axis) for at in range(len(arrays))]
    else:
        parts = np.split(came, np.cumsum([each.shape[axis] for each in arrays])[:-1], axis)
    done.add(slopes, "X", [np.ascontiguousarray(each) for each in parts])


@backs("lod_tensor_to_array")
def _lod_tensor_to_array(done: Done, slopes: Slopes) -> None:
    came: list[Any] = slopes.take(done.op.output("Out")[0])
    x, table = done.input("X"), done.input("RankTable")
    found, begins = np.zeros_like(x.array()), x.lod()[-1]
    for moment, each in enumerate(came):
        if each is not None:
            found[[begins[number] + moment for number, length in table if length > moment]] = each
    done.add(slopes, "X", found)


@backs("array_to_lod_tensor")
def _array_to_lod_tensor(done: Done, slopes: Slopes) -> None:
    came, table = slopes.take(done.op.output("Out")[0]), done.input("RankTable")
    begins, at = {}, 0
    for number, length in sorted(table):
        begins[number], at = at, at + length
    longest = table[0][1] if table else 0
    moments = [
        came[[begins[number] + moment for number, length in table if length > moment]]
        for moment in range(longest)
    ]
    done.add(slopes, "X", moments)


@backs("shrink_rnn_memory")
def _shrink(done: Done, slopes: Slopes) -> None:
    came, x = slopes.take(done.op.output("Out")[0]), np.asarray(done.input("X"))
    found = np.zeros_like(x)
    found[: len(came)] = came
    done.add(slopes, "X", found)


@backs("reorder_lod_tensor_by_rank")
def _reorder(done: Done, slopes: Slopes) -> None:
    came, value = slopes.take(done.op.output("Out")[0]), done.input("X")
    order, found = [number for number, _ in done.input("RankTable")], np.zeros_like(np.asarray(value))
    if isinstance(value, LoDTensor) and value.lod():
        spans, at = list(pairwise(value.lod()[0])), 0
        for number in order:
            begin, end = spans[number]
            found[begin:end] = came[at : at + end - begin]
            at += end - begin
    else:
        found[order] = came
    done.add(slopes, "X", found)


@backs("masked_select")
def _masked_select(done: Done, slopes: Slopes) -> None:
    came, x = slopes.take(done.op.output("Y")[0]), np.asarray(done.input("X"))
    mask = np.asarray(done.input("Mask"), bool)
    found = np.zeros(np.broadcast_shapes(x.shape, mask.shape), x.dtype)
    found[np.broadcast_to(mask, found.shape)] = came
    done.add(slopes, "X", unbroadcast(found, x.shape))


@backs("py_func")
def _py_func(done: Done, slopes: Slopes) -> None:
    """``backward_func`` is called with what was read and given, but for what it does not want, and with the
    gradients of what was given."""
    op = done.op
    came = [slopes.take(name) for name in op.output("Out")]
    if op.attr("backward_callable_id") < 0:
        return
    outputs, skipped = done.outputs("Out"), op.attr("backward_skip_vars")
    named = [*zip(op.input("X"), done.inputs("X"), strict=True), *zip(op.output("Out"), outputs, strict=True)]
    given = [value for name, value in named if name not in skipped]
    for value, gradient in zip(outputs, came, strict=True):
        given.append(np.zeros_like(np.asarray(value)) if gradient is None else gradient)
    tensors = [each if isinstance(each, LoDTensor) else LoDTensor(each) for each in given]
    found = callback_of(op, "backward_callable_id")(*tensors)
    several = list(found) if isinstance(found, list | tuple) else [found]
    for index, each in enumerate(several):
        if each is not None and index < len(op.input("X")):
            done.add(slopes, "X", np.asarray(each, np.float32), index)


def _number(value: Any) -> int:
    return int(np.asarray(value).reshape(-1)[0])
