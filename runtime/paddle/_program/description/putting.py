"""What ``x[0] = 1`` is in a program of 2.x: an operator that gives ``x`` anew, with some of it replaced.

It must never know how that is computed. Guarantee: what is written behind it reads the new value, and what
was written before it the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description.arithmetic import Arithmetic, append
from paddle._program.description.dtypes import VarType
from paddle._program.errors import BadArgument

_MOST = 2**31 - 1
_SLOTS = {"starts": "StartsTensorList", "ends": "EndsTensorList", "steps": "StepsTensorList"}
_VALUES = {
    VarType.BOOL: "bool_values",
    VarType.INT32: "int32_values",
    VarType.INT64: "int64_values",
    VarType.FP64: "fp64_values",
}


def put(x: Any, items: tuple[Any, ...], value: Any) -> None:
    """Append what replaces ``x[items]`` by ``value``, a number, an array or a Variable, which is spread."""
    places = _places(x, items)
    inputs: dict[str, Any] = {"Input": [x]}
    attrs: dict[str, Any] = {"axes": [axis for axis, *_ in places]}
    for at, (name, slot) in enumerate(_SLOTS.items()):
        told = [place[at + 1] for place in places]
        if any(isinstance(each, Arithmetic) for each in told):
            inputs[slot] = [each if isinstance(each, Arithmetic) else _number(x, each) for each in told]
        attrs[name] = [-1 if isinstance(each, Arithmetic) else int(each) for each in told]
    attrs["decrease_axes"] = [axis for axis, item in _by_axis(x, items) if not isinstance(item, slice)]
    if isinstance(value, Arithmetic):
        if value.dtype != x.dtype:
            raise BadArgument(
                f"{x.name!r} is of {x.dtype!r}, and what is put in it of {value.dtype!r}: cast it"
            )
        inputs["ValueTensor"] = [value]
        if not value.stop_gradient:
            x.stop_gradient = False
    else:
        attrs |= _told(x, value)
    x.block.program.current_block().append_op("set_value", inputs, {"Out": [x]}, attrs)


def _told(x: Any, value: Any) -> dict[str, Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise BadArgument(f"what is put in {x.name!r} is a number, an array or a Variable, not {value!r:.60}")
    name = _VALUES.get(x.dtype, "fp32_values")
    kind = {"b": bool, "i": int, "f": float}["f" if name.startswith("fp") else name[0]]
    values = [kind(each) for each in array.reshape(-1).tolist()]
    return {"shape": list(array.shape) or [1], "dtype": int(x.dtype), name: values}


def _by_axis(x: Any, items: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """What is said of which axis."""
    rank, given = len(x.shape), sum(item is not Ellipsis for item in items)
    if given > rank or len(items) - given > 1:
        raise BadArgument(f"variable {x.name!r} has {rank} axes, and [{items}] asks for {given}")
    found: list[tuple[int, Any]] = []
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis += rank - given
            continue
        found.append((axis, item))
        axis += 1
    return found


def _places(x: Any, items: tuple[Any, ...]) -> list[tuple[int, Any, Any, Any]]:
    """Of each axis of which something is said: that, where it begins and ends, and by which steps."""
    found = []
    for axis, item in _by_axis(x, items):
        if isinstance(item, slice):
            if all(each is None for each in (item.start, item.stop, item.step)):
                continue
            found.append((axis, *_cut(x, item)))
        elif isinstance(item, Arithmetic) and item.dtype in (VarType.INT32, VarType.INT64):
            found.append((axis, item, item + 1, 1))
        elif isinstance(item, int | np.integer) and not isinstance(item, bool):
            found.append((axis, int(item), int(item) + 1 if item != -1 else _MOST, 1))
        else:
            raise BadArgument(
                f"variable {x.name!r} is put to by whole numbers, slices, Variables of one and ..., not by "
                f"{item!r:.60}: paddle.where, put_along_axis and scatter_nd_add take masks and lists"
            )
    return found


def _cut(x: Any, item: slice) -> Sequence[Any]:
    step = 1 if item.step is None else item.step
    if isinstance(step, Arithmetic) and (item.start is None or item.stop is None):
        raise BadArgument(f"{x.name!r}: a step that is a Variable goes with a start and an end")
    if not isinstance(step, Arithmetic) and step == 0:
        raise BadArgument(f"{x.name!r}: a slice goes by steps of 1 or more, or of -1 or less, not of 0")
    forth = isinstance(step, Arithmetic) or step > 0
    start = (0 if forth else _MOST) if item.start is None else item.start
    stop = (_MOST if forth else -_MOST) if item.stop is None else item.stop
    return start, stop, step


def _number(x: Any, value: Any) -> Any:
    attrs = {"shape": [1], "dtype": int(VarType.INT64), "value": float(value)}
    return append(x, "fill_constant", {}, attrs, VarType.INT64)
