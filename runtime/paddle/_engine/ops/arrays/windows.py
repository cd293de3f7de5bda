"""Windows of images as rows, from left to right and downwards, and the sequences that these are: one of each
image.

Source of the semantics: fluid's ``im2sequence``, v2's ``block_expand``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps

Array = np.ndarray


def _places(size: int, window: int, step: int, before: int, behind: int) -> int:
    room = size + before + behind - window
    if size == -1:
        return -1
    if room < 0 or step < 1:
        raise ShapeError(f"a window of {window} by steps of {step} does not fit {size} and {before + behind}")
    return room // step + 1


def _around(attrs: Mapping[str, Any], sizes: Sequence[int]) -> tuple[int, int, int, int]:
    """Zeros above, left, below and right. Where only the first two are told there are as many behind an image
    as its last window needs, which may stick out, into these."""
    told = attrs["paddings"]
    if len(told) == 4:
        above, left, below, right = told
        return above, left, below, right
    sides = zip(sizes, attrs["kernels"], attrs["strides"], told, strict=True)
    below, right = (_needed(*side) for side in sides)
    return (*told, below, right)


def _needed(size: int, window: int, step: int, before: int) -> int:
    room = max(size + 2 * before - window, 0)
    return max(-(-room // step) * step + window - size - before, 0)


def _counts(forms: Forms) -> tuple[int, int]:
    (tall, wide), (down, across) = forms.attrs["kernels"], forms.attrs["strides"]
    height, width = forms["X"].shape[2:]
    above, left, below, right = _around(forms.attrs, (height, width))
    return _places(height, tall, down, above, below), _places(width, wide, across, left, right)


def _shape(forms: Forms) -> Mapping[str, Form]:
    x = forms["X"]
    if len(x.shape) != 4:
        raise ShapeError(f"X must be images [n, channels, height, width], got {list(x.shape)}")
    rows, columns = _counts(forms)
    tall, wide = forms.attrs["kernels"]
    count = -1 if min(x.shape[0], rows, columns) < 0 else x.shape[0] * rows * columns
    return {"Out": replace(x, shape=(count, x.shape[1] * tall * wide))}


def _scratch(forms: Forms) -> Mapping[str, Form]:
    return {"framed": _framed(forms, forms["X"])}


def _framed(forms: Forms, x: Form) -> Form:
    n, channels, height, width = x.shape
    above, left, below, right = _around(forms.attrs, (height, width))
    return replace(x, shape=(n, channels, height + above + below, width + left + right))


def _seen(call: Call, framed: Array) -> Array:
    """(n, rows, columns, channels, tall, wide)."""
    (down, across) = call.attrs["strides"]
    axes: Any = (2, 3)  # numpy's own types know one axis alone before 2.4
    windows = sliding_window_view(framed, call.attrs["kernels"], axes, writeable=True)
    found: Array = windows[:, :, ::down, ::across].transpose(0, 2, 3, 1, 4, 5)
    return found


def _inside(call: Call, framed: Array, like: Array) -> Array:
    above, left, *_ = call.attrs["paddings"]
    return framed[:, :, above : above + like.shape[2], left : left + like.shape[3]]


def _windows(call: Call) -> Steps:
    x, out, framed = call["X"], call["Out"], call.scratch["framed"]
    seen = _seen(call, framed)
    yield partial(framed.fill, 0)
    yield partial(np.copyto, _inside(call, framed, x), x)
    yield partial(np.copyto, out.reshape(seen.shape), seen)


def _windows_gradient(call: Call) -> Steps:
    grad, dx, framed = call["Out@GRAD"], call["X@GRAD"], call.scratch["framed"]
    seen = _seen(call, framed)
    given = grad.reshape(seen.shape)
    yield partial(framed.fill, 0)
    for y in range(seen.shape[4]):
        for x in range(seen.shape[5]):
            here = seen[..., y, x]
            yield partial(np.add, here, given[..., y, x], here)
    yield partial(np.copyto, dx, _inside(call, framed, dx))


def _ends(forms: Forms) -> Mapping[str, Form]:
    count = forms["Of"].shape[0]
    return {"Out": Form((count + 1 if count >= 0 else -1,), "int64")}


def _evenly(call: Call) -> Steps:
    rows, out = len(call["X"]), call["Out"]
    yield partial(np.copyto, out, np.arange(len(out)) * (rows // max(len(out) - 1, 1)))


ROWS = (
    Row(
        type="even_offsets",  # of sequences of one length, which are rows of X, one for each row of Of
        inputs=("X", "Of"),
        shape=_ends,
        forward=Kernel(_evenly),
        sized=lambda attrs: True,
    ),
    Row(
        type="image_windows",
        attrs={"kernels": REQUIRED, "strides": (1, 1), "paddings": (0, 0, 0, 0)},
        shape=_shape,
        forward=Kernel(_windows, _scratch),
        gradient=Gradient(_windows_gradient, _scratch, needs=("X",)),
    ),
)
