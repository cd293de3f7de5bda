"""Images, lines and volumes in another size, between their pixels: one matrix for each axis.

It must never know an operator's block. Guarantee: where a pixel is read does not depend on what it holds, so
the slope is the same matrices the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape

_NAMES = ("out_d", "out_h", "out_w")


def _axes(told: Attrs, rank: int) -> list[int]:
    first = 1 if told["data_layout"][-1] == "C" else 2
    return list(range(first, first + rank - 2))


def _wanted(told: Attrs, sizes: Sequence[int]) -> list[int]:
    """The sizes that come out; -1 where a size that is open is scaled."""
    count, scales = len(sizes), list(told["scale"] or [])
    scales = scales * count if len(scales) == 1 else scales
    if scales:
        return [-1 if size < 0 else int(size * scale) for size, scale in zip(sizes, scales, strict=True)]
    return [int(told[name]) for name in _NAMES[3 - count :]]


def _matrix(told: Attrs, size: int, wanted: int, scale: float | None) -> np.ndarray:
    """(wanted, size): the shares of pixels in each that is read."""
    aligned, at = told["align_corners"], np.arange(wanted, dtype=np.float64)
    if aligned:
        step = (size - 1) / (wanted - 1) if wanted > 1 else 0.0
    else:
        step = 1 / scale if scale else size / wanted
    is_cubic = told["interp_method"] == "bicubic"
    if aligned or (told["align_mode"] == 1 and not is_cubic):
        places = at * step
    else:
        places = (at + 0.5) * step - 0.5
        places = places if is_cubic else np.maximum(places, 0)
    below = np.floor(places).astype(np.int64)
    apart = places - below
    found = np.zeros((wanted, size))
    shares = _cubic(apart) if is_cubic else {0: 1 - apart, 1: apart}
    for offset, share in shares.items():
        np.add.at(found, (np.arange(wanted), np.clip(below + offset, 0, size - 1)), share)
    return found


def _cubic(apart: np.ndarray) -> dict[int, np.ndarray]:
    def near(x: np.ndarray) -> np.ndarray:
        return np.asarray((1.25 * x - 2.25) * x * x + 1)

    def far(x: np.ndarray) -> np.ndarray:
        return np.asarray(((-0.75 * x + 3.75) * x - 6) * x + 3)

    return {-1: far(apart + 1), 0: near(apart), 1: near(1 - apart), 2: far(2 - apart)}


def _matrices(told: Attrs, shape: Shape) -> list[tuple[int, np.ndarray]]:
    axes = _axes(told, len(shape))
    sizes, scales = [shape[axis] for axis in axes], list(told["scale"] or [])
    scales = scales * len(axes) if len(scales) == 1 else scales or [None] * len(axes)
    return [
        (axis, _matrix(told, size, wanted, scale))
        for axis, size, wanted, scale in zip(axes, sizes, _wanted(told, sizes), scales, strict=True)
    ]


def _along(x: np.ndarray, axis: int, matrix: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


def _value(told: Attrs, x: np.ndarray) -> np.ndarray:
    for axis, matrix in _matrices(told, x.shape):
        x = _along(x, axis, matrix)
    return x


def _slope(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    for axis, matrix in _matrices(told, arrays[0].shape):
        came = _along(came, axis, matrix.T)
    return [came]


def _shape(told: Attrs, x: Shape) -> Shape:
    found, axes = list(x), _axes(told, len(x))
    for axis, size in zip(axes, _wanted(told, [x[axis] for axis in axes]), strict=True):
        found[axis] = size
    return tuple(found)


for _method in ("linear", "trilinear", "bicubic"):
    Formula(f"{_method}_interp_v2", "X", "Out", _value, _slope, _shape).register(
        out_d=-1,
        out_h=-1,
        out_w=-1,
        scale=(),
        interp_method=_method,
        align_corners=False,
        align_mode=0,
        data_layout="NCHW",
    )


def _of_release_1(told: Attrs, x: Shape, size: Any, sizes: Any, by: Any) -> Attrs:
    """As 2.x tells it: in 1.x sizes and scales may be computed, and a scale only says the sizes."""
    scale = float(told["scale"] or 0) if by is None else float(np.asarray(by).reshape(-1)[0])
    if sizes:
        wanted = [int(np.asarray(each).reshape(-1)[0]) for each in sizes]
    elif size is not None:
        wanted = [int(each) for each in np.asarray(size).reshape(-1)]
    elif scale > 0 and told["out_h"] < 1:
        wanted = [-1 if x[axis] < 0 else int(x[axis] * scale) for axis in _axes(told, len(x))]
    else:
        return {**told, "scale": ()}
    return {**told, "scale": (), **dict(zip(_NAMES[3 - len(wanted) :], wanted, strict=True))}


def _shape_of_release_1(told: Attrs, x: Shape, size: Any, sizes: list[Shape], by: Any) -> Shape:
    if len(x) != 4:
        raise ValueError(f"images are of 4 axes, not of {list(x)}")
    if size is None and by is None and not sizes:
        return _shape(_of_release_1(told, x, None, None, None), x)
    found = list(x)
    for axis in _axes(told, len(x)):
        found[axis] = -1
    return tuple(found)


Formula(
    "bicubic_interp",
    "X OutSize? SizeTensor* Scale?",
    "Out",
    lambda told, x, *others: _value(_of_release_1(told, x.shape, *others), x),
    lambda told, arrays, outs, came: [
        *_slope(_of_release_1(told, arrays[0].shape, *arrays[1:]), arrays, outs, came),
        *(None, None, None),
    ],
    _shape_of_release_1,
).register(
    out_h=-1,
    out_w=-1,
    scale=0.0,
    interp_method="bicubic",
    align_corners=True,
    align_mode=1,
    data_layout="NCHW",
)
