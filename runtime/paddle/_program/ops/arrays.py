"""Rows of arrays of tensors, which loops read and write, and of what is shown or computed by Python.

An array is a list; what is in it are arrays, or LoDTensors where there are sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor


def _of_array(op: Operator) -> None:
    """An array is described as what is written to it; what is read of it, too."""
    source = op.block._var_recursive(op.input("X")[0])
    for name in op.output("Out"):
        made = op.block._var_recursive(name)
        if source.has_shape:
            made.shape = source.shape
        made.dtype, made.lod_level = source.dtype, max(source.lod_level, made.lod_level)


@hosts("write_to_array", infer=_of_array)
def _write_to_array(host: Host, op: Operator) -> None:
    (name,), at = op.output("Out"), _index(host, op)
    held = host.values.get(name)
    if held is None:
        held = host.values[name] = []
    held.extend([None] * (at + 1 - len(held)))
    held[at] = _kept(host.input(op, "X"))


@hosts("read_from_array", infer=_of_array)
def _read_from_array(host: Host, op: Operator) -> None:
    held, at = host.input(op, "X"), _index(host, op)
    if not 0 <= at < len(held) or held[at] is None:
        raise BadProgram(
            f"element {at} of the array {op.input('X')[0]!r} is read and nothing has been written there: it "
            f"has {len(held)} (written at {op.where})"
        )
    host.give(op, "Out", held[at])


def _count(op: Operator) -> None:
    made = op.block._var_recursive(op.output("Out")[0])
    made.shape, made.dtype = (1,), VarType.INT64


@hosts("lod_array_length", infer=_count)
def _lod_array_length(host: Host, op: Operator) -> None:
    held = host.values.get(op.input("X")[0]) or []
    host.give(op, "Out", np.array([len(held)], np.int64))


def _of_many(op: Operator) -> None:
    source = op.block._var_recursive(op.input("X")[0])
    made = op.block._var_recursive(op.output("Out")[0])
    axis, sizes = int(op.attr("axis")), list(source.shape)
    made.dtype = source.dtype
    if op.attr("use_stack"):
        sizes.insert(axis, -1)
    elif sizes:
        sizes[axis] = -1
    made.shape = sizes
    for name in op.output("OutIndex"):
        counts = op.block._var_recursive(name)
        counts.shape, counts.dtype = (-1,), VarType.INT32


@hosts("tensor_array_to_tensor", infer=_of_many, axis=0, use_stack=False)
def _tensor_array_to_tensor(host: Host, op: Operator) -> None:
    arrays, axis = [np.asarray(each) for each in host.input(op, "X")], op.attr("axis")
    joined = np.stack(arrays, axis) if op.attr("use_stack") else np.concatenate(arrays, axis)
    host.give(op, "Out", joined)
    sizes = [1 if op.attr("use_stack") else each.shape[axis] for each in arrays]
    host.give(op, "OutIndex", np.array(sizes, np.int32))


def _one_bool(op: Operator) -> None:
    made = op.block._var_recursive(op.output("Out")[0])
    made.shape, made.dtype = (1,), VarType.BOOL


@hosts("is_empty", infer=_one_bool)
def _is_empty(host: Host, op: Operator) -> None:
    host.give(op, "Out", np.array([np.asarray(host.input(op, "X")).size == 0]))


_PARTS: dict[str, Any] = {
    "first_n": -1,
    "message": "",
    "summarize": 20,
    "print_tensor_name": True,
    "print_tensor_type": True,
    "print_tensor_shape": True,
    "print_tensor_lod": True,
    "print_phase": "BOTH",
}


@lowers("print", **_PARTS)
def _printed(low: Lowering, op: Operator) -> None:
    given = low.input(op, "In")
    low.give(op, "Out", given.variable, given.runs)


@hosts("print", **_PARTS)
def _print(host: Host, op: Operator) -> None:
    value = host.input(op, "In")
    if op.output("Out"):
        host.give(op, "Out", value)
    op.shown += 1
    if 0 <= op.attr("first_n") < op.shown or op.attr("print_phase").upper() == "BACKWARD":
        return
    array = np.asarray(value)
    parts = [str(op.attr("message"))] if op.attr("message") else []
    if op.attr("print_tensor_name"):
        parts.append(f"Variable: {op.input('In')[0]}")
    if op.attr("print_tensor_lod") and isinstance(value, LoDTensor) and value.lod():
        parts.append(f"  - lod: {value.lod()}")
    if op.attr("print_tensor_shape"):
        parts.append(f"  - shape: {list(array.shape)}")
    if op.attr("print_tensor_type"):
        parts.append(f"  - dtype: {array.dtype}")
    most = op.attr("summarize")
    shown = array.reshape(-1) if most < 0 else array.reshape(-1)[:most]
    parts.append(f"  - data: {shown.tolist()}")
    print("\n".join(parts), flush=True)


_numbers = count()


class Callback(int):
    """A function of Python, as an attribute: the operators that call it keep it. On disk it is a number,
    which says nothing to who reads it."""

    function: Callable[..., Any]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Callback:
        """Another number than any other in this process."""
        made = cls(next(_numbers))
        made.function = function
        return made


def callback_of(op: Operator, name: str) -> Callable[..., Any]:
    """The function that an attribute of ``py_func`` is."""
    found = op.attr(name)
    if not isinstance(found, Callback):
        raise BadProgram(
            f"operator 'py_func' has {name} {found}, a function of the process that wrote this program: a "
            "program that was read has no functions of Python, so write it again by fluid.layers.py_func"
        )
    return found.function


@hosts(
    "py_func",
    infer=lambda op: None,
    forward_callable_id=-1,
    backward_callable_id=-1,
    backward_skip_vars=(),
)
def _py_func(host: Host, op: Operator) -> None:
    found = callback_of(op, "forward_callable_id")(*[_as_tensor(each) for each in host.inputs(op, "X")])
    several = [] if found is None else list(found) if isinstance(found, list | tuple) else [found]
    for index, (name, value) in enumerate(zip(op.output("Out"), several, strict=True)):
        dtype = numpy_dtype(host.block._var_recursive(name).dtype)
        is_tensor = isinstance(value, LoDTensor)
        host.give(op, "Out", value if is_tensor else np.asarray(value, dtype), index)


def _as_tensor(value: Any) -> LoDTensor:
    return value if isinstance(value, LoDTensor) else LoDTensor(value)


def _kept(value: Any) -> Any:
    if isinstance(value, LoDTensor):
        return LoDTensor(value.array().copy(), value.lod())
    return np.array(value)


def _index(host: Host, op: Operator) -> int:
    return int(np.asarray(host.input(op, "I")).reshape(-1)[0])
