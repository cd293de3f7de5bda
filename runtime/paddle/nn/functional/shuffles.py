"""Images whose pixels and channels change places: ``pixel_shuffle`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: nothing but the
order of elements changes.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor.manipulation import reshape, transpose

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def _channels_first(x: Any, data_format: str) -> Any:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format is 'NCHW' or 'NHWC', not {data_format!r}")
    return x if data_format == "NCHW" else transpose(x, [0, 3, 1, 2])


def _as_it_was(x: Any, data_format: str) -> Any:
    return x if data_format == "NCHW" else transpose(x, [0, 2, 3, 1])


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Every factor ** 2 channels become squares of pixels of one."""
    images = _channels_first(x, data_format)
    _, channels, tall, wide = images.shape
    r = upscale_factor
    if channels % (r * r):
        raise ValueError(f"pixel_shuffle: {channels} channels are not a multiple of {r} ** 2")
    parted = transpose(reshape(images, [-1, channels // (r * r), r, r, tall, wide]), [0, 1, 4, 2, 5, 3])
    return _as_it_was(reshape(parted, [-1, channels // (r * r), tall * r, wide * r]), data_format)


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Squares of factor ** 2 pixels become as many channels."""
    images = _channels_first(x, data_format)
    _, channels, tall, wide = images.shape
    r = downscale_factor
    if tall % r or wide % r:
        raise ValueError(f"pixel_unshuffle: {tall} x {wide} pixels are not a multiple of {r}")
    parted = transpose(reshape(images, [-1, channels, tall // r, r, wide // r, r]), [0, 1, 3, 5, 2, 4])
    return _as_it_was(reshape(parted, [-1, channels * r * r, tall // r, wide // r]), data_format)


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The first channels of all groups, then the second ones, and so on."""
    images = _channels_first(x, data_format)
    _, channels, tall, wide = images.shape
    if channels % groups:
        raise ValueError(f"channel_shuffle: {channels} channels are not a multiple of {groups}")
    parted = transpose(reshape(images, [-1, groups, channels // groups, tall, wide]), [0, 2, 1, 3, 4])
    return _as_it_was(reshape(parted, [-1, channels, tall, wide]), data_format)
