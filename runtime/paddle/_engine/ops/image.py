"""Images, (samples, channels, height, width): convolution and pooling.

Sources of the semantics: v2's ``img_conv`` and ``img_pool``, fluid's ``conv2d`` and ``pool2d``. Weights are
(filters, channels of a group, height, width). A window that moves by steps takes places while it lies in the
image and its zeros; of pooling with ``ceil_mode`` also one more that sticks out; and one that is a little
larger than the image takes one place. Of equal pixels the first is a window's maximum, as in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.around import Sides, around
from paddle._engine.ops.convolving.convolution import Convolution, Frame, scratch
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps

Pair = tuple[int, int]


def _places(size: int, window: int, step: int, zeros: Sides, *, ceil: bool = False) -> int:
    """How many places a window takes along one axis. One that is larger than it by less than a step, or with
    ``ceil`` by no more than two steps less two, takes one, as in all releases: they round towards 0."""
    if size == -1:
        return -1
    room = size + sum(zeros) - window + (step - 1 if ceil else 0)
    if step < 1 or room <= -step:
        raise ShapeError(
            f"a window of {window} by steps of {step} does not fit {size} with "
            f"{zeros[0]} zeros before and {zeros[1]} behind"
        )
    return max(room // step, 0) + 1


def image_form(forms: Forms, slot: str = "X") -> Form:
    if len(forms[slot].shape) != 4:
        raise ShapeError(f"{slot} must be images [n, channels, height, width], got {list(forms[slot].shape)}")
    return forms[slot]


def frame_of(call: Call, window: Pair, image: np.ndarray, out: np.ndarray) -> Frame:
    """How the window of a call moves: see kernels/images.py."""
    down, across = call.attrs["strides"]
    (above, _), (left, _) = around(image.shape[2:], window, (down, across), call.attrs["paddings"])
    return (
        *window,
        down,
        across,
        above,
        left,
        out.shape[2],
        out.shape[3],
        *call.attrs.get("dilations", (1, 1)),
    )


def _conv_shape(forms: Forms) -> Mapping[str, Form]:
    x, filters, groups = image_form(forms), image_form(forms, "Filter"), forms.attrs["groups"]
    count, depth, tall, wide = filters.shape
    if not shapes.agree(x.shape[1], depth * groups) or count % groups:
        raise ShapeError(f"{x.shape[1]} channels in {groups} groups do not fit filters {list(filters.shape)}")
    steps = forms.attrs["strides"]
    reach = [1 + (k - 1) * apart for k, apart in zip((tall, wide), forms.attrs["dilations"], strict=True)]
    zeros = around(x.shape[2:], (tall, wide), steps, forms.attrs["paddings"])
    rows, columns = (_places(*side) for side in zip(x.shape[2:], reach, steps, zeros, strict=True))
    return {"Out": replace(x, shape=(x.shape[0], count, rows, columns))}


def _conv_scratch(forms: Forms) -> Mapping[str, Form]:
    return scratch(forms["X"], forms["Filter"], _conv_shape(forms)["Out"], forms.attrs["groups"])


def _gradient_scratch(forms: Forms) -> Mapping[str, Form]:
    return scratch(forms["X"], forms["Filter"], forms["Out@GRAD"], forms.attrs["groups"], weighs=True)


def convolution(call: Call, images: np.ndarray, planes: np.ndarray) -> Convolution:
    """By the filters and the attributes of a call."""
    filters, groups = call["Filter"], call.attrs["groups"]
    frame = frame_of(call, (filters.shape[2], filters.shape[3]), images, planes)
    return Convolution(images, filters, planes, groups, frame, call.scratch)


def _conv(call: Call) -> Steps:
    yield convolution(call, call["X"], call["Out"]).convolving()


def _conv_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    if "Filter@GRAD" in call:
        yield convolution(call, call["X"], grad).weighing(call["Filter@GRAD"])
    if "X@GRAD" in call:
        yield convolution(call, call["X@GRAD"], grad).giving_back()


def _pool_shape(forms: Forms) -> Mapping[str, Form]:
    x, attrs = image_form(forms), forms.attrs
    zeros = around(x.shape[2:], attrs["ksize"], attrs["strides"], attrs["paddings"])
    sides = list(zip(x.shape[2:], attrs["ksize"], attrs["strides"], zeros, strict=True))
    rows, columns = (_places(*side, ceil=attrs["ceil_mode"]) for side in sides)
    return {"Out": replace(x, shape=(*x.shape[:2], rows, columns))}


def _max_pool_shape(forms: Forms) -> Mapping[str, Form]:
    x = image_form(forms)
    is_one = forms.attrs["ksize"] == _WHOLE
    out = replace(x, shape=(*x.shape[:2], 1, 1)) if is_one else _pool_shape(forms)["Out"]
    return {"Out": out, "Places": replace(out, dtype="int32")}


def _planes(images: np.ndarray) -> np.ndarray:
    return images.reshape(-1, *images.shape[2:])


def _max_pool(call: Call) -> Steps:
    from paddle._engine.kernels.images import pool_max  # loads numba

    x, out, window = call["X"], call["Out"], call.attrs["ksize"]
    frame = frame_of(call, x.shape[2:] if window == _WHOLE else window, x, out)
    yield partial(pool_max, _planes(x), frame, _planes(out), _planes(call["Places"]))


def _max_pool_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import put_back  # loads numba

    yield partial(put_back, _planes(call["Out@GRAD"]), _planes(call["Places"]), _planes(call["X@GRAD"]))


def _parts_shape(forms: Forms) -> Mapping[str, Form]:
    x, size = image_form(forms), tuple(forms.attrs["size"])
    if len(size) != 2 or min(size) < 1:
        raise ShapeError(f"an image is parted into one part or more down and across, not {list(size)}")
    out = replace(x, shape=(*x.shape[:2], *size))
    return {"Out": out, "Places": replace(out, dtype="int32")}


def _max_of_parts(call: Call) -> Steps:
    from paddle._engine.kernels.images import pool_parts  # loads numba

    yield partial(pool_parts, _planes(call["X"]), _planes(call["Out"]), _planes(call["Places"]))


def _average_pool(call: Call) -> Steps:
    from paddle._engine.kernels.images import pool_average  # loads numba

    x, out = call["X"], call["Out"]
    frame = frame_of(call, call.attrs["ksize"], x, out)
    yield partial(pool_average, _planes(x), frame, not call.attrs["exclusive"], _planes(out))


def _average_pool_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import spread_average  # loads numba

    grad, counts_zeros = call["Out@GRAD"], not call.attrs["exclusive"]
    dx = call["X@GRAD"]
    frame = frame_of(call, call.attrs["ksize"], dx, grad)
    yield partial(spread_average, _planes(grad), frame, counts_zeros, _planes(dx))


_WHOLE = (0, 0)  # a window: the image, whatever its size
_WINDOW = {"ksize": REQUIRED, "strides": (1, 1), "paddings": (0, 0), "ceil_mode": False}

ROWS = (
    Row(
        type="conv2d",
        inputs=("X", "Filter"),
        attrs={"strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "groups": 1},
        shape=_conv_shape,
        forward=Kernel(_conv, _conv_scratch),
        gradient=Gradient(_conv_gradient, _gradient_scratch, of=("X", "Filter"), needs=("X", "Filter")),
    ),
    Row(
        type="max_pool2d",
        outputs=("Out", "Places"),
        attrs=_WINDOW,
        shape=_max_pool_shape,
        forward=Kernel(_max_pool),
        gradient=Gradient(_max_pool_gradient, needs=("Places",)),
    ),
    Row(
        type="adaptive_max_pool2d",
        outputs=("Out", "Places"),
        attrs={"size": REQUIRED},
        shape=_parts_shape,
        forward=Kernel(_max_of_parts),
        gradient=Gradient(_max_pool_gradient, needs=("Places",)),
    ),
    Row(
        type="average_pool2d",
        attrs={**_WINDOW, "exclusive": True},
        shape=_pool_shape,
        forward=Kernel(_average_pool),
        gradient=Gradient(_average_pool_gradient),
    ),
)
