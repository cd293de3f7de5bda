"""Pooling: ``paddle.nn.functional.max_pool2d`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: pooling along one
axis is one of two axes, the second of size 1.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paddle._program.writing.paddings import paddings_of
from paddle.nn.functional.conv import axes_of, sides
from paddle.tensor._append import append, append_all
from paddle.tensor.manipulation import squeeze, unsqueeze

__all__ = [
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"),
    *("avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"),
]


def _pooled(
    kind: str,
    x: Any,
    size: Any,
    stride: Any,
    padding: Any,
    *,
    ceil: bool = False,
    exclusive: bool = True,
    adaptive: bool = False,
    axes: int = 2,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Append pooling over two axes or three."""
    axes_of(f"{kind}_pool{axes}d", data_format, axes)
    sizes, algorithm = paddings_of(f"{kind}_pool{axes}d", padding, data_format)
    attrs = {
        "pooling_type": kind,
        "ksize": sides(size, axes),
        "global_pooling": False,
        "strides": sides(size if stride is None else stride, axes),
        "paddings": sizes,
        "padding_algorithm": algorithm,
        "use_cudnn": True,
        "ceil_mode": ceil,
        "exclusive": exclusive,
        "adaptive": adaptive,
        "data_format": data_format,
    }
    return append(f"pool{axes}d", {"X": x}, attrs, name=name)


def _adapted(kind: str, x: Any, size: Any, axes: int, data_format: str, name: str | None) -> Any:
    """Pooling into so many parts of each axis; None has as many as the axis."""
    first = 2 if axes_of(f"adaptive_{kind}_pool{axes}d", data_format, axes) == 1 else 1
    told = list(size) if isinstance(size, (list, tuple)) else [size] * axes
    known = x.shape[first : first + axes]
    wanted = [own if each is None else each for each, own in zip(told, known, strict=True)]
    told_as = {"adaptive": True, "axes": axes, "data_format": data_format, "name": name}
    return _pooled(kind, x, wanted, 1, 0, **told_as)


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest of each window; with ``return_mask`` also which pixel of its channel that is."""
    if return_mask:
        return _masked(x, kernel_size, stride, padding, ceil_mode, data_format, name)
    return _pooled("max", x, kernel_size, stride, padding, ceil=ceil_mode, data_format=data_format, name=name)


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of each window, without what is padded where ``exclusive``."""
    told = {"ceil": ceil_mode, "exclusive": exclusive, "data_format": data_format, "name": name}
    return _divided(_pooled("avg", x, kernel_size, stride, padding, **told), kernel_size, 2, divisor_override)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The largest of each window of volumes; with ``return_mask`` also which voxel of its channel that is."""
    if return_mask:
        return _masked(x, kernel_size, stride, padding, ceil_mode, data_format, name, axes=3)
    told = {"ceil": ceil_mode, "axes": 3, "data_format": data_format, "name": name}
    return _pooled("max", x, kernel_size, stride, padding, **told)


def avg_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The mean of each window of volumes, without what is padded where ``exclusive``."""
    told = {"ceil": ceil_mode, "exclusive": exclusive, "axes": 3, "data_format": data_format, "name": name}
    return _divided(_pooled("avg", x, kernel_size, stride, padding, **told), kernel_size, 3, divisor_override)


def _divided(mean: Any, kernel_size: Any, axes: int, divisor: Any) -> Any:
    """A mean made the sum over ``divisor``: times the window's size, as upstream's, whatever is padded."""
    return mean if divisor is None else mean * (prod(sides(kernel_size, axes)) / float(divisor))


def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Means of windows that make ``output_size`` of them."""
    return _adapted("avg", x, output_size, 2, data_format, name)


def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The largest of windows that make ``output_size`` of them; with ``return_mask`` also where those are."""
    if return_mask:
        return _adapted_masks(x, output_size, 2, name)
    return _adapted("max", x, output_size, 2, "NCHW", name)


def adaptive_avg_pool3d(x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """Means of windows of volumes that make ``output_size`` of them."""
    return _adapted("avg", x, output_size, 3, data_format, name)


def adaptive_max_pool3d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The largest of windows of volumes that make ``output_size`` of them; with ``return_mask`` also where
    those are."""
    if return_mask:
        return _adapted_masks(x, output_size, 3, name)
    return _adapted("max", x, output_size, 3, "NCDHW", name)


def _flat(kind: str, x: Any, size: Any, stride: Any, padding: Any, name: str | None, **options: Any) -> Any:
    def beside(value: Any, other: int) -> Any:
        first = value[0] if isinstance(value, (list, tuple)) else value
        return [int(first), other]

    around = padding if isinstance(padding, str) else beside(padding, 0)
    steps = beside(size if stride is None else stride, 1)
    found = _pooled(kind, unsqueeze(x, -1), beside(size, 1), steps, around, **options)
    return squeeze(found, -1, name)


def max_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of each window along the last axis; with ``return_mask`` also where that is."""
    if return_mask:
        one = [
            sides(each, 1)[0] for each in (kernel_size, kernel_size if stride is None else stride, padding)
        ]
        told = ([1, one[0]], [1, one[1]], [0, one[2]], ceil_mode, "NCHW", name)
        values, places = (squeeze(each, 2) for each in _masked(unsqueeze(x, 2), *told))
        return values, places
    return _flat("max", x, kernel_size, stride, padding, name, ceil=ceil_mode)


def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of each window along the last axis."""
    return _flat("avg", x, kernel_size, stride, padding, name, exclusive=exclusive, ceil=ceil_mode)


def adaptive_avg_pool1d(x: Any, output_size: int, name: str | None = None) -> Any:
    """Means of windows along the last axis that make ``output_size`` of them."""
    return _flat("avg", x, output_size, 1, 0, name, adaptive=True)


def adaptive_max_pool1d(x: Any, output_size: int, return_mask: bool = False, name: str | None = None) -> Any:
    """The largest of windows along the last axis that make ``output_size`` of them; with ``return_mask`` also
    where those are."""
    if return_mask:
        values, places = _adapted_masks(unsqueeze(x, 2), [1, sides(output_size, 1)[0]], 2, name)
        return squeeze(values, 2), squeeze(places, 2)
    return _flat("max", x, output_size, 1, 0, name, adaptive=True)


def _masked(
    x: Any,
    size: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    data_format: str,
    name: str | None,
    axes: int = 2,
) -> tuple[Any, Any]:
    """The largest of each window, and where it lies in its channel, counted along rows."""
    if ceil or data_format[1] != "C" or isinstance(padding, str):
        from paddle._absent import NotInThisRelease

        raise NotInThisRelease(
            "return_mask with ceil_mode, channels last or a padding by name is not in this release"
        )
    told = {"ksize": sides(size, axes), "strides": sides(size if stride is None else stride, axes)}
    return _with_places(x, {**told, "paddings": sides(padding, axes), "adaptive": False}, axes, name)


def _adapted_masks(x: Any, size: Any, axes: int, name: str | None) -> tuple[Any, Any]:
    """As ``_masked``, of windows that make so many along each axis; None has as many as the axis."""
    told = list(size) if isinstance(size, (list, tuple)) else [size] * axes
    wanted = [own if each is None else int(each) for each, own in zip(told, x.shape[2:], strict=True)]
    ones = {"strides": [1] * axes, "paddings": [0] * axes}
    return _with_places(x, {"ksize": wanted, **ones, "adaptive": True}, axes, name)


def _with_places(x: Any, told: dict[str, Any], axes: int, name: str | None) -> tuple[Any, Any]:
    values, places = append_all(
        f"max_pool{axes}d_with_index",
        {"X": x},
        {**told, "global_pooling": False},
        outputs=("Out", "Mask"),
        dtypes={"Mask": "int32"},
        name=name,
    )
    return values, places
