"""Diagonals of arrays: taken out, put in, summed; and what stands at right angles to two vectors.

It must never know an operator's block. Guarantee: a diagonal's elements lie along the last axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape, broadcast, unbroadcast


def _length(rows: int, columns: int, offset: int) -> int:
    if rows < 0 or columns < 0:
        return -1
    return max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)


def _without_two(told: Attrs, x: Shape) -> Shape:
    one, other = told["axis1"] % len(x), told["axis2"] % len(x)
    if one == other:
        raise ValueError(f"a diagonal is of two axes, and both are {one}")
    return tuple(size for at, size in enumerate(x) if at not in (one, other))


def _shape(told: Attrs, x: Shape) -> Shape:
    return (*_without_two(told, x), _length(x[told["axis1"]], x[told["axis2"]], told["offset"]))


def _put(found: np.ndarray, told: Attrs, values: np.ndarray) -> np.ndarray:
    """``values`` on the diagonal, in the array itself."""
    turned = np.moveaxis(found, (told["axis1"], told["axis2"]), (-2, -1))
    reach, offset = np.arange(values.shape[-1]), int(told["offset"])
    turned[..., reach - min(offset, 0), reach + max(offset, 0)] = values
    return found


def _taken(told: Attrs, x: np.ndarray) -> np.ndarray:
    return np.diagonal(x, told["offset"], told["axis1"], told["axis2"])


def _back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    return [_put(np.zeros_like(arrays[0]), told, came)]


_AXES = {"offset": 0, "axis1": 0, "axis2": 1}
Formula("diagonal", "Input", "Out", _taken, _back, _shape).register(**_AXES)


def _embedded_shape(told: Attrs, x: Shape) -> Shape:
    rank = len(x) + 1
    size = -1 if x[-1] < 0 else x[-1] + abs(int(told["offset"]))
    rest = iter(x[:-1])
    both = {told["dim1"] % rank, told["dim2"] % rank}
    return tuple(size if at in both else next(rest) for at in range(rank))


def _as_axes(told: Attrs) -> Attrs:
    return {"offset": told["offset"], "axis1": told["dim1"], "axis2": told["dim2"]}


Formula(
    "diag_embed",
    "Input",
    "Out",
    lambda told, x: _put(np.zeros(_embedded_shape(told, x.shape), x.dtype), _as_axes(told), x),
    lambda told, arrays, outs, came: [_taken(_as_axes(told), came)],
    _embedded_shape,
).register(offset=0, dim1=-2, dim2=-1)


def _traced_axes(told: Attrs, rank: int) -> Attrs:
    """As 2.x tells them; in 1.8 the one that comes first is that of the rows, in whichever order."""
    if "dim1" not in told:
        return told
    one, other = sorted(told[name] % rank for name in ("dim1", "dim2"))
    return {"offset": told["offset"], "axis1": one, "axis2": other}


def _traced(told: Attrs, x: np.ndarray) -> np.ndarray:
    axes = _traced_axes(told, x.ndim)
    return np.asarray(_taken(axes, x).sum(-1).reshape(_without_two(axes, x.shape) or (1,)))


def _traced_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    axes, found = _traced_axes(told, arrays[0].ndim), np.zeros_like(arrays[0])
    length = _taken(axes, arrays[0]).shape[-1]
    rest = _without_two(axes, arrays[0].shape)
    return [_put(found, axes, np.broadcast_to(came.reshape(*rest, 1), (*rest, length)))]


Formula(
    "trace",
    "Input",
    "Out",
    _traced,
    _traced_back,
    lambda told, x: _without_two(_traced_axes(told, len(x)), x) or (1,),
).register()


def _crossed_axis(told: Attrs, x: Shape) -> int:
    """The axis of size 3 that is meant: the first there is where none is said, by a 9."""
    axis = told["dim"]
    found = [at for at, size in enumerate(x) if size == 3] if axis == 9 else [axis % len(x)]
    if not found or x[found[0]] != 3:
        raise ValueError(f"a cross product is along an axis of size 3, and {list(x)} has none there")
    return found[0]


def _crossed(told: Attrs, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    axis = _crossed_axis(told, np.broadcast_shapes(x.shape, y.shape))
    wide: Any = np.broadcast_arrays(x, y)
    return np.asarray(np.cross(wide[0], wide[1], axis=axis))


def _crossed_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y = arrays
    axis = _crossed_axis(told, came.shape)
    wide = [np.broadcast_to(each, came.shape) for each in arrays]
    found = np.cross(wide[1], came, axis=axis), np.cross(came, wide[0], axis=axis)
    return [unbroadcast(found[0], x.shape), unbroadcast(found[1], y.shape)]


def _crossed_shape(told: Attrs, x: Shape, y: Shape) -> Shape:
    found = broadcast(x, y)
    if -1 not in (found if told["dim"] == 9 else (found[told["dim"]],)):
        _crossed_axis(told, found)
    return found


Formula("cross", "X Y", "Out", _crossed, _crossed_back, _crossed_shape).register(dim=9)
