"""Softmax of scores of which some are hidden: ``paddle.incubate.softmax_mask_fuse``.

It must never compute: each function appends operators to the default program.
"""

from __future__ import annotations

from typing import Any

from paddle.nn.functional.activation import softmax
from paddle.tensor import math
from paddle.tensor.creation import ones, triu

__all__ = ["softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]


def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Any:
    """softmax(x + mask) along the last axis."""
    return softmax(math.add(x, mask), name=name)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """softmax of x along the last axis, without what is above the diagonal of the last two, whose sizes are
    declared."""
    rows, columns = x.shape[-2:]
    if rows < 0 or columns < 0:
        raise ValueError(f"the last two axes have no declared sizes: {list(x.shape)}")
    return softmax(math.add(x, math.scale(triu(ones([rows, columns]), 1), -1e30)))
