"""Images, (samples, channels, height, width): convolution and pooling.

Sources of the semantics: v2's ``img_conv`` and ``img_pool``, fluid's ``conv2d`` and ``pool2d``. Weights are
(filters, channels of a group, height, width). A window that moves by steps takes places while it lies in the
image and its zeros; of pooling with ``ceil_mode`` also one more that sticks out. Of equal pixels the first is
a window's maximum, as in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Steps

Pair = tuple[int, int]
Frame = tuple[int, int, int, int, int, int, int, int, int, int]


def _places(size: int, window: int, step: int, zeros: int, *, ceil: bool = False) -> int:
    """How many places a window takes along one axis."""
    if size == -1:
        return -1
    room = size + 2 * zeros - window
    if room < 0 or step < 1:
        raise ShapeError(
            f"a window of {window} by steps of {step} does not fit {size} with {zeros} zeros around"
        )
    return (-(-room // step) if ceil else room // step) + 1


def image_form(forms: Forms, slot: str = "X") -> Form:
    if len(forms[slot].shape) != 4:
        raise ShapeError(f"{slot} must be images [n, channels, height, width], got {list(forms[slot].shape)}")
    return forms[slot]


def frame_of(call: Call, window: Pair, out: np.ndarray) -> Frame:
    """See kernels/images.py."""
    (down, across), (above, left) = call.attrs["strides"], call.attrs["paddings"]
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
    (down, across), (above, left) = forms.attrs["strides"], forms.attrs["paddings"]
    tall, wide = (
        1 + (k - 1) * apart for k, apart in zip((tall, wide), forms.attrs["dilations"], strict=True)
    )
    rows, columns = _places(x.shape[2], tall, down, above), _places(x.shape[3], wide, across, left)
    return {"Out": replace(x, shape=(x.shape[0], count, rows, columns))}


def _conv_scratch(forms: Forms) -> Mapping[str, Form]:
    """What the windows see of one group of one image."""
    _, depth, tall, wide = forms["Filter"].shape
    seen = "Out@GRAD" if "Out@GRAD" in forms.slots else None
    rows, columns = (forms[seen] if seen else _conv_shape(forms)["Out"]).shape[2:]
    form = Form((depth * tall * wide, rows * columns), forms["X"].dtype)
    again = replace(
        forms["Filter"], shape=(forms["Filter"].shape[0] // forms.attrs["groups"], depth * tall * wide)
    )
    return {"seen": form, "weights": again}


class Groups:
    """A convolution as products of matrices, one for each group of each image."""

    def __init__(self, call: Call, out: np.ndarray) -> None:
        filters, groups = call["Filter"], call.attrs["groups"]
        self.frame = frame_of(call, (filters.shape[2], filters.shape[3]), out)
        self.seen, self.groups = call.scratch["seen"], groups
        self.weights = filters.reshape(groups, len(filters) // groups, -1)

    def parts(self, images: np.ndarray) -> np.ndarray:
        """(samples, groups, channels of a group, height, width)."""
        return images.reshape(len(images), self.groups, -1, *images.shape[2:])

    def planes(self, images: np.ndarray) -> np.ndarray:
        """(samples, groups, filters of a group, places)."""
        return images.reshape(len(images), self.groups, self.weights.shape[1], -1)


def _conv(call: Call) -> Steps:
    from paddle._engine.kernels.images import unfold  # loads numba

    work = Groups(call, call["Out"])
    parts, out, frame, seen = work.parts(call["X"]), work.planes(call["Out"]), work.frame, work.seen

    def convolve() -> None:
        for image, planes in zip(parts, out, strict=True):
            for part, weights, plane in zip(image, work.weights, planes, strict=True):
                unfold(part, frame, seen)
                np.matmul(weights, seen, plane)

    yield convolve


def _conv_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import fold, unfold  # loads numba

    grad = call["Out@GRAD"]
    work, again = Groups(call, grad), call.scratch["weights"]
    parts, given, frame, seen = work.parts(call["X"]), work.planes(grad), work.frame, work.seen
    if "Filter@GRAD" in call:
        dweights = call["Filter@GRAD"].reshape(work.weights.shape)

        def sum_up() -> None:
            dweights.fill(0)
            for image, planes in zip(parts, given, strict=True):
                for part, plane, dweight in zip(image, planes, dweights, strict=True):
                    unfold(part, frame, seen)
                    np.matmul(plane, seen.T, again)
                    np.add(dweight, again, dweight)

        yield sum_up
    if "X@GRAD" in call:
        back = work.parts(call["X@GRAD"])

        def give_back() -> None:
            for image, planes in zip(back, given, strict=True):
                for part, weights, plane in zip(image, work.weights, planes, strict=True):
                    np.matmul(weights.T, plane, seen)
                    fold(seen, frame, part)

        yield give_back


def _pool_shape(forms: Forms) -> Mapping[str, Form]:
    x, attrs = image_form(forms), forms.attrs
    sides = zip(x.shape[2:], attrs["ksize"], attrs["strides"], attrs["paddings"], strict=True)
    if any(zeros >= window for window, zeros in zip(attrs["ksize"], attrs["paddings"], strict=True)):
        raise ShapeError(f"paddings {attrs['paddings']} let a window {attrs['ksize']} see no pixel")
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
    frame = frame_of(call, x.shape[2:] if window == _WHOLE else window, out)
    yield partial(pool_max, _planes(x), frame, _planes(out), _planes(call["Places"]))


def _max_pool_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import put_back  # loads numba

    yield partial(put_back, _planes(call["Out@GRAD"]), _planes(call["Places"]), _planes(call["X@GRAD"]))


def _average_pool(call: Call) -> Steps:
    from paddle._engine.kernels.images import pool_average  # loads numba

    out, frame = call["Out"], frame_of(call, call.attrs["ksize"], call["Out"])
    yield partial(pool_average, _planes(call["X"]), frame, not call.attrs["exclusive"], _planes(out))


def _average_pool_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import spread_average  # loads numba

    grad, counts_zeros = call["Out@GRAD"], not call.attrs["exclusive"]
    frame = frame_of(call, call.attrs["ksize"], grad)
    yield partial(spread_average, _planes(grad), frame, counts_zeros, _planes(call["X@GRAD"]))


_WHOLE = (0, 0)  # a window: the image, whatever its size
_WINDOW = {"ksize": REQUIRED, "strides": (1, 1), "paddings": (0, 0), "ceil_mode": False}

ROWS = (
    Row(
        type="conv2d",
        inputs=("X", "Filter"),
        attrs={"strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "groups": 1},
        shape=_conv_shape,
        forward=Kernel(_conv, _conv_scratch),
        gradient=Gradient(_conv_gradient, _conv_scratch, of=("X", "Filter"), needs=("X", "Filter")),
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
        type="average_pool2d",
        attrs={**_WINDOW, "exclusive": True},
        shape=_pool_shape,
        forward=Kernel(_average_pool),
        gradient=Gradient(_average_pool_gradient),
    ),
)
