"""Windows and places in images: ``unfold``, ``fold``, ``grid_sample``, ``max_unpool2d`` and their family.

They must never compute: each function appends operators to the default program. Guarantee: ``fold`` adds up
where windows overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.description.variable import Variable
from paddle.nn.functional.conv import sides
from paddle.tensor import math
from paddle.tensor._append import append
from paddle.tensor.manipulation import reshape, squeeze, unsqueeze

__all__ = [
    *("affine_grid", "fold", "gather_tree", "grid_sample", "local_response_norm", "max_unpool1d"),
    *("max_unpool2d", "max_unpool3d", "temporal_shift", "unfold"),
]


def _around(paddings: Any) -> list[int]:
    """Above, on the left, below, on the right."""
    told = sides(paddings)
    return told * 2 if len(told) == 2 else told


def _told(kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> dict[str, Any]:
    return {
        "kernel_sizes": sides(kernel_sizes),
        "strides": sides(strides),
        "paddings": _around(paddings),
        "dilations": sides(dilations),
    }


def unfold(
    x: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """Each window of (n, channels, height, width) as a column: (n, elements of a window, windows)."""
    told = _told(kernel_sizes, strides, paddings, dilations)
    return append("unfold", {"X": x}, told, outputs=("Y",), name=name)


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """What ``unfold`` gives put back into images of ``output_sizes``; it adds up where windows overlap."""
    told = _told(kernel_sizes, strides, paddings, dilations) | {"output_sizes": sides(output_sizes)}
    return append("fold", {"X": x}, told, outputs=("Y",), name=name)


def affine_grid(
    theta: Any, out_shape: Sequence[int], align_corners: bool = True, name: str | None = None
) -> Any:
    """Where each pixel of images of ``out_shape`` (n, channels, height, width) is read: theta (n, 2, 3) times
    (x, y, 1), where x and y go from -1 to 1, from pixel to pixel or, unless ``align_corners``, edge to edge.
    """
    if isinstance(out_shape, Variable):
        raise NotInThisRelease("affine_grid with a tensor of sizes is not in this release: give a list")
    told = {"output_shape": [int(size) for size in out_shape], "align_corners": align_corners}
    return append("affine_grid", {"Theta": theta}, told, outputs=("Output",), name=name)


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """(n, channels, height, width) read at ``grid`` (n, rows, columns, 2), between pixels ("bilinear") or at
    the "nearest" one. Beyond the image there are "zeros", its "border", or its "reflection"."""
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"grid_sample knows no mode {mode!r} with padding_mode {padding_mode!r}")
    if len(x.shape) != 4:
        raise NotInThisRelease("grid_sample of volumes is not in this release: of images it is")
    told = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return append("grid_sampler", {"X": x, "Grid": grid}, told, outputs=("Output",), name=name)


def temporal_shift(
    x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """Of each ``seg_num`` images that follow each other a share of the channels taken from the one before,
    and as many from the one after."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"Attr(data_format) should be 'NCHW' or 'NHWC', not {data_format!r}")
    told = {"seg_num": seg_num, "shift_ratio": float(shift_ratio), "data_format": data_format}
    return append("temporal_shift", {"X": x}, told, name=name)


def gather_tree(ids: Any, parents: Any) -> Any:
    """Of each beam, (steps, batch, beams), the words on the way to its last one."""
    return append("gather_tree", {"Ids": ids, "Parents": parents}, stop_gradient=True)


def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """x / (k + alpha * mean of squares of ``size`` channels around) ** beta."""
    from paddle.nn.functional.basics import pad
    from paddle.nn.functional.pooling import avg_pool3d
    from paddle.tensor.manipulation import transpose
    from paddle.tensor.placing import view_as

    rank = len(x.shape)
    if rank not in (3, 4, 5):
        raise ValueError(f"local_response_norm is of 3 to 5 axes, not of {list(x.shape)}")
    last = data_format[-1] == "C"
    turned = transpose(x, [0, rank - 1, *range(1, rank - 1)]) if last else x
    square = unsqueeze(math.square(turned), 1)
    lines = reshape(square, [0, 1, turned.shape[1], -1, 1])
    around = pad(lines, _channels(size))
    mean = avg_pool3d(around, [size, 1, 1], 1)
    root = math.pow(math.scale(view_as(squeeze(mean, 1), turned), float(alpha), float(k)), float(beta))
    found = math.divide(turned, root, name)
    return transpose(found, [0, *range(2, rank), 1], name) if last else found


def _channels(size: int) -> list[int]:
    """What is padded, two numbers for each axis: around the channels."""
    return [0, 0, 0, 0, size // 2, (size - 1) // 2, 0, 0, 0, 0]


def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """What ``max_pool2d(return_mask=True)`` gave in its places, among zeros."""
    if data_format != "NCHW":
        raise ValueError(f"data_format of max_unpool2d is 'NCHW', not {data_format!r}")
    return _unpooled(2, x, indices, kernel_size, stride, padding, data_format, output_size, name)


def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """What ``max_pool3d(return_mask=True)`` gave in its places, among zeros."""
    if data_format != "NCDHW":
        raise ValueError(f"data_format of max_unpool3d is 'NCDHW', not {data_format!r}")
    return _unpooled(3, x, indices, kernel_size, stride, padding, data_format, output_size, name)


def _unpooled(
    axes: int,
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Any,
    name: str | None,
) -> Any:
    given = (kernel_size, kernel_size if stride is None else stride, padding)
    sizes, steps, around = (sides(each, axes) for each in given)
    told = list(output_size)[-axes:] if output_size is not None else []
    if not told:
        known = zip(x.shape[2:], steps, sizes, around, strict=True)
        told = [(size - 1) * step + reach - 2 * pad for size, step, reach, pad in known]
    if any(size < 0 for size in x.shape[2:]):
        raise ValueError(f"max_unpool{axes}d of what has no declared size needs output_size")
    attrs = {"unpooling_type": "max", "ksize": sizes, "strides": steps, "paddings": around}
    attrs |= {"output_size": [int(size) for size in told], "data_format": data_format}
    type = "unpool" if axes == 2 else "unpool3d"
    return append(type, {"X": x, "Indices": indices}, attrs, dtype=x.dtype, name=name)


def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """What ``max_pool1d(return_mask=True)`` gave in its places, among zeros."""
    one = [sides(each, 1)[0] for each in (kernel_size, kernel_size if stride is None else stride, padding)]
    whole = None if output_size is None else [1, *list(output_size)[-1:]]
    given = (unsqueeze(x, 2), unsqueeze(indices, 2), [1, one[0]], [1, one[1]], [0, one[2]])
    return squeeze(max_unpool2d(*given, output_size=whole), 2, name)
