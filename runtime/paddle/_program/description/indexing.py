"""Python's brackets on variables: ``x[:, 0]``, ``x[begin:end]``, ``x[i]``, ``x[[0, 2]]``, ``x[mask]``.

Slices become operators that cut, whole numbers of the program (Variables) and lists of numbers such as pick.
It must never know how these are computed.

Guarantee: what is picked by a number has no axis any more. A Variable of one number is one in 1.x; in 2.x it
is a list of one, and its axis stays, as in the originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description.arithmetic import Arithmetic, append
from paddle._program.description.dtypes import VarType
from paddle._program.description.written import now
from paddle._program.errors import BadArgument

_MOST = 2**31 - 1


def part(x: Any, items: tuple[Any, ...]) -> Any:
    """What ``x[items]`` is: slices, then what is picked by Variables and lists, then without the axes that a
    number picked, with those that None made."""
    if len(items) == 1 and isinstance(items[0], Arithmetic) and items[0].dtype == VarType.BOOL:
        return _masked(x, items[0])
    rank = len(x.shape)
    given = sum(item is not None and item is not Ellipsis for item in items)
    if given > rank or sum(item is Ellipsis for item in items) > 1:
        raise BadArgument(f"variable {x.name!r} has {rank} axes, and [{items}] asks for {given}")
    cuts: dict[int, slice] = {}
    picks: dict[int, Any] = {}
    dropped: list[int] = []
    added: list[int] = []
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis += rank - given
            continue
        if item is None:
            added.append(axis - len(dropped) + len(added))
            continue
        if isinstance(item, Arithmetic | list | np.ndarray):
            if _is_one_number(x, item, is_first=not picks):
                dropped.append(axis)
            picks[axis] = item
        else:
            cuts[axis] = _cut(x, item)
            if not isinstance(item, slice):
                dropped.append(axis)
        axis += 1
    cuts = {axis: cut for axis, cut in cuts.items() if cut != slice(None)}
    if dropped and not picks and all(cut.step in (None, 1) for cut in cuts.values()):
        return _reshaped(_sliced(x, cuts, dropped), [], added)
    found = _sliced(x, cuts)
    for axis, item in picks.items():
        index = {"X": [found], "Index": [_index(x, item)]}
        found = append(found, "index_select", index, {"dim": axis}, x.dtype)
    return _reshaped(found, dropped, added)


def _masked(x: Any, mask: Any) -> Any:
    if len(mask.shape) != len(x.shape):
        raise BadArgument(
            f"variable {x.name!r} of shape {x.shape} is masked by bools of its own shape, not {mask.shape}"
        )
    return append(x, "masked_select", {"X": [x], "Mask": [mask]}, {}, x.dtype)


def _is_one_number(x: Any, item: Any, *, is_first: bool) -> bool:
    """Whether what picks along an axis leaves none. Of several each picks one."""
    if not isinstance(item, Arithmetic):
        many = len(np.shape(item)) == 1 and len(item) != 1
    else:
        many = tuple(item.shape) not in ((), (1,))
    if many and not is_first:
        raise BadArgument(f"variable {x.name!r} is indexed by two lists of numbers: see gather_nd")
    if many or not isinstance(item, Arithmetic):
        return not is_first
    return not now().is_static or item.shape == () or not is_first


def _index(x: Any, item: Any) -> Any:
    """What is picked along an axis, as a Variable with one axis."""
    if isinstance(item, Arithmetic):
        if item.dtype not in (VarType.INT32, VarType.INT64) or len(item.shape) > 1:
            raise BadArgument(f"variable {x.name!r} is indexed by whole numbers in one axis, not by {item!r}")
        return item if item.shape else append(x, "unsqueeze2", {"X": [item]}, {"axes": [0]}, item.dtype)
    numbers = np.asarray(item)
    if numbers.dtype == np.bool_:
        numbers = np.flatnonzero(numbers)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise BadArgument(f"variable {x.name!r} is indexed by a list of whole numbers, not by {item!r:.60}")
    attrs = {"shape": [len(numbers)], "dtype": int(VarType.INT64), "int64_values": numbers.tolist()}
    return append(x, "assign_value", {}, attrs, VarType.INT64)


def _cut(x: Any, item: Any) -> slice:
    if isinstance(item, (int, np.integer)):
        return slice(int(item), int(item) + 1 if item != -1 else None)
    if isinstance(item, slice):
        return item
    raise BadArgument(
        f"variable {x.name!r} is indexed by numbers, slices, lists, Variables, None and ..., not by {item!r}"
    )


def _sliced(x: Any, cuts: dict[int, slice], dropped: Sequence[int] = ()) -> Any:
    if not cuts:
        return x
    steps = [1 if cut.step is None else int(cut.step) for cut in cuts.values()]
    starts: list[Any] = []
    ends: list[Any] = []
    for cut, step in zip(cuts.values(), steps, strict=True):
        starts.append((0 if step > 0 else _MOST) if cut.start is None else cut.start)
        ends.append((_MOST if step > 0 else -_MOST) if cut.stop is None else cut.stop)
    first, begins = _told(x, starts, "StartsTensorList")
    last, stops = _told(x, ends, "EndsTensorList")
    inputs = {"Input": [x], **first, **last}
    attrs: dict[str, Any] = {"axes": list(cuts), "starts": begins, "ends": stops}
    if all(step == 1 for step in steps):
        return append(x, "slice", inputs, attrs | {"decrease_axis": list(dropped)}, x.dtype)
    return append(x, "strided_slice", inputs, {**attrs, "strides": steps}, x.dtype)


def _told(x: Any, places: list[Any], slot: str) -> tuple[dict[str, Any], list[int]]:
    """Places as an operator is told them: in a slot, where some are computed, and in its attribute."""
    if not any(isinstance(place, Arithmetic) for place in places):
        return {}, [int(place) for place in places]
    attrs = {"shape": [1], "dtype": int(VarType.INT32)}
    told = [
        place
        if isinstance(place, Arithmetic)
        else append(x, "fill_constant", {}, {**attrs, "value": float(place)}, VarType.INT32)
        for place in places
    ]
    return {slot: told}, [-1 if isinstance(place, Arithmetic) else int(place) for place in places]


def _reshaped(x: Any, dropped: list[int], added: list[int]) -> Any:
    if dropped:
        x = append(x, "squeeze2", {"X": [x]}, {"axes": dropped}, x.dtype)
    if added:
        x = append(x, "unsqueeze2", {"X": [x]}, {"axes": added}, x.dtype)
    return x
