"""Windows of images: each as a column, columns put back, and what is read between pixels.

It must never know an operator's block. Guarantee: what is put back adds up where windows overlap, so each of
``unfold`` and ``fold`` is the slope of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape


def _counts(sizes: Sequence[int], told: Attrs) -> list[int]:
    """How many windows there are along each axis of an image; -1 where its size is open."""
    pads, found = told["paddings"], []
    for at, size in enumerate(sizes):
        reach = told["dilations"][at] * (told["kernel_sizes"][at] - 1) + 1
        count = (size + pads[at] + pads[at + 2] - reach) // told["strides"][at] + 1
        if size >= 0 and count < 1:
            raise ValueError(f"a window of {reach} does not fit in {size} with paddings {list(pads)}")
        found.append(-1 if size < 0 else count)
    return found


def _frame(told: Attrs, counts: Sequence[int]) -> Any:
    """The windows as kernels are told of them (kernels/images.py)."""
    return (
        *told["kernel_sizes"],
        *told["strides"],
        *told["paddings"][:2],
        *counts,
        *told["dilations"],
    )


def _unfolded(told: Attrs, x: np.ndarray) -> np.ndarray:
    from paddle._engine.kernels.images import unfold  # loads numba

    frame = _frame(told, _counts(x.shape[2:], told))
    size, places = x.shape[1] * frame[0] * frame[1], frame[6] * frame[7]
    found, images = np.empty((len(x), size, places), x.dtype), np.ascontiguousarray(x)
    for number in range(len(x)):
        unfold(images[number : number + 1], frame, 0, found[number, :, None])
    return found


def _folded(told: Attrs, x: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    from paddle._engine.kernels.images import fold  # loads numba

    frame = _frame(told, _counts(sizes, told))
    size, places = frame[0] * frame[1], frame[6] * frame[7]
    if x.shape[1] % size or x.shape[2] != places:
        raise ValueError(
            f"{list(x.shape)} is not (n, a multiple of {size}, {places}), which windows of "
            f"{list(told['kernel_sizes'])} in {list(sizes)} are"
        )
    found, parts = np.zeros((len(x), x.shape[1] // size, *sizes), x.dtype), np.ascontiguousarray(x)
    for number in range(len(x)):
        fold(parts[number, :, None], frame, 0, found[number : number + 1])
    return found


def _unfold_shape(told: Attrs, x: Shape) -> Shape:
    if len(x) != 4:
        raise ValueError(f"unfold is of (n, channels, height, width), not {list(x)}")
    counts = _counts(x[2:], told)
    size = int(np.prod(told["kernel_sizes"]))
    return (x[0], x[1] * size if x[1] >= 0 else -1, -1 if -1 in counts else int(np.prod(counts)))


def _fold_shape(told: Attrs, x: Shape) -> Shape:
    if len(x) != 3:
        raise ValueError(f"fold is of (n, elements of windows, windows), not {list(x)}")
    return (x[0], x[1] // int(np.prod(told["kernel_sizes"])) if x[1] >= 0 else -1, *told["output_sizes"])


_TOLD = {
    "kernel_sizes": (1, 1),
    "strides": (1, 1),
    "paddings": (0, 0, 0, 0),
    "dilations": (1, 1),
}
Formula(
    "unfold",
    "X",
    "Y",
    _unfolded,
    lambda told, arrays, outs, came: [_folded(told, came, arrays[0].shape[2:])],
    _unfold_shape,
).register(**_TOLD)
Formula(
    "fold",
    "X",
    "Y",
    lambda told, x: _folded(told, x, told["output_sizes"]),
    lambda told, arrays, outs, came: [_unfolded(told, came)],
    _fold_shape,
).register(output_sizes=(1, 1), **_TOLD)


def _unpooled(told: Attrs, x: np.ndarray, places: np.ndarray) -> np.ndarray:
    sizes = tuple(told["output_size"])
    found = np.zeros((*x.shape[:2], int(np.prod(sizes))), x.dtype)
    flat = places.reshape(*x.shape[:2], -1).astype(np.int64)
    if flat.size and flat.max() >= found.shape[2]:
        raise ValueError(f"a place of {int(flat.max())} is not in {' x '.join(map(str, sizes))}")
    np.put_along_axis(found, flat, x.reshape(flat.shape), 2)
    return found.reshape(*x.shape[:2], *sizes)


def _unpooled_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, places = arrays
    flat = places.reshape(*x.shape[:2], -1).astype(np.int64)
    return [np.take_along_axis(came.reshape(*x.shape[:2], -1), flat, 2).reshape(x.shape), None]


for _type, _axes, _format in (("unpool", 2, "NCHW"), ("unpool3d", 3, "NCDHW")):
    Formula(
        _type,
        "X Indices",
        "Out",
        _unpooled,
        _unpooled_back,
        lambda told, x, places: (*x[:2], *told["output_size"]),
    ).register(
        unpooling_type="max",
        ksize=(1,) * _axes,
        strides=(1,) * _axes,
        paddings=(0,) * _axes,
        output_size=(1,) * _axes,
        data_format=_format,
    )


def _shifted(told: Attrs, x: np.ndarray, *, back: bool = False) -> np.ndarray:
    is_last = told["data_format"] == "NHWC"
    turned = np.moveaxis(x, -1, 1) if is_last else x
    if len(x) % told["seg_num"]:
        raise ValueError(f"{len(x)} images are not segments of {told['seg_num']}")
    steps = turned.reshape(-1, told["seg_num"], *turned.shape[1:])
    first, second = (int(steps.shape[2] * told["shift_ratio"] * times) for times in (1, 2))
    found, (early, late) = np.zeros_like(steps), ((-1, 1) if back else (1, -1))
    for channels, by in ((slice(0, first), early), (slice(first, second), late)):
        to, of = (slice(1, None), slice(None, -1)) if by > 0 else (slice(None, -1), slice(1, None))
        found[:, to, channels] = steps[:, of, channels]
    found[:, :, second:] = steps[:, :, second:]
    found = found.reshape(turned.shape)
    return np.moveaxis(found, 1, -1) if is_last else found


Formula(
    "temporal_shift",  # of sides that are open; others are lowered (images.py)
    "X",
    "Out",
    _shifted,
    lambda told, arrays, outs, came: [_shifted(told, came, back=True)],
).register(seg_num=1, shift_ratio=0.25, data_format="NCHW")
