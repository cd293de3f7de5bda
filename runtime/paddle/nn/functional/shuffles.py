"""Images whose pixels and channels change places, and parts that gate others: ``pixel_shuffle``, ``glu``.

It must never compute: each function appends operators to the default program. Guarantee: nothing but the
order of elements changes in a shuffle.
"""

from __future__ import annotations

from typing import Any

from paddle.nn.functional.activation import elu, sigmoid, softmax
from paddle.nn.functional.basics import dropout, pad
from paddle.tensor import math
from paddle.tensor.creation import ones, triu
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import reshape, split, transpose

__all__ = [
    *("celu", "channel_shuffle", "glu", "pixel_shuffle", "pixel_unshuffle"),
    *("scaled_dot_product_attention", "zeropad2d"),
]


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    if alpha == 0:
        raise ZeroDivisionError("alpha of celu divides x: it is not 0")
    return math.scale(elu(math.scale(x, 1.0 / alpha), 1.0), float(alpha), name=name)


def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half of x along ``axis`` times the sigmoid of the second."""
    first, second = split(x, 2, axis)
    return math.multiply(first, sigmoid(second), name)


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
        raise ValueError(f"pixel_shuffle: {channels} channels are no multiple of {r} ** 2")
    parted = transpose(reshape(images, [-1, channels // (r * r), r, r, tall, wide]), [0, 1, 4, 2, 5, 3])
    return _as_it_was(reshape(parted, [-1, channels // (r * r), tall * r, wide * r]), data_format)


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Squares of factor ** 2 pixels become as many channels."""
    images = _channels_first(x, data_format)
    _, channels, tall, wide = images.shape
    r = downscale_factor
    if tall % r or wide % r:
        raise ValueError(f"pixel_unshuffle: {tall} x {wide} pixels are no multiple of {r}")
    parted = transpose(reshape(images, [-1, channels, tall // r, r, wide // r, r]), [0, 1, 3, 5, 2, 4])
    return _as_it_was(reshape(parted, [-1, channels * r * r, tall // r, wide // r]), data_format)


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The first channels of all groups, then the second ones, and so on."""
    images = _channels_first(x, data_format)
    _, channels, tall, wide = images.shape
    if channels % groups:
        raise ValueError(f"channel_shuffle: {channels} channels are no multiple of {groups}")
    parted = transpose(reshape(images, [-1, groups, channels // groups, tall, wide]), [0, 2, 1, 3, 4])
    return _as_it_was(reshape(parted, [-1, channels, tall, wide]), data_format)


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Zeros around images: [left, right, top, bottom]."""
    return pad(x, padding, "constant", 0.0, data_format, name)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(query @ key / sqrt(size) + mask) @ value, of (n, length, heads, size)."""
    q, k, v = (transpose(each, [0, 2, 1, 3]) for each in (query, key, value))
    scores = matmul(math.scale(q, query.shape[-1] ** -0.5), k, transpose_y=True)
    if attn_mask is not None:
        scores = math.add(scores, attn_mask)
    if is_causal:
        scores = math.add(scores, _future(query.shape[1], key.shape[1]))
    shares = softmax(scores)
    if dropout_p:
        shares = dropout(shares, dropout_p, training=training)
    return transpose(matmul(shares, v), [0, 2, 1, 3], name)


def _future(queries: int, keys: int) -> Any:
    if min(queries, keys) < 0:
        raise ValueError("is_causal needs declared lengths of query and key: give attn_mask")
    return math.scale(triu(ones([queries, keys]), 1), -1e30)
