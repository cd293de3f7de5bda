"""Transposed convolution: what would give back the gradient of a convolution's input, as a layer of its own.

Source of the semantics: fluid's ``conv2d_transpose``. Filter is (channels of X, channels of a group of Out,
height, width); Out is as large as what a convolution with these attributes would make X of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.around import around
from paddle._engine.ops.image import Groups, image_form
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, filters, attrs = image_form(forms), image_form(forms, "Filter"), forms.attrs
    if not shapes.agree(x.shape[1], filters.shape[0]) or filters.shape[0] % attrs["groups"]:
        raise ShapeError(
            f"{x.shape[1]} channels in {attrs['groups']} groups do not fit filters {list(filters.shape)}"
        )
    zeros_around = around(x.shape[2:], filters.shape[2:], attrs["strides"], attrs["paddings"])
    sides = zip(
        x.shape[2:], filters.shape[2:], attrs["strides"], zeros_around, attrs["dilations"], strict=True
    )
    least = [
        -1 if size == -1 else (size - 1) * step - sum(zeros) + (window - 1) * apart + 1
        for size, window, step, zeros, apart in sides
    ]
    return {"Out": replace(x, shape=(x.shape[0], filters.shape[1] * attrs["groups"], *_wanted(least, attrs)))}


def _wanted(least: list[int], attrs: Mapping[str, object]) -> tuple[int, ...]:
    """The size of Out, which steps of more than one leave open: the least that fits, or so much more."""
    more, strides = attrs["output_padding"] or (0, 0), attrs["strides"]
    told = attrs["output_size"] or [
        at if at == -1 else at + each
        for at, each in zip(least, more, strict=True)  # type: ignore[call-overload]
    ]
    sides = zip(told, least, strides, strict=True)  # type: ignore[call-overload]
    if wrong := [(size, at) for size, at, step in sides if at != -1 and not at <= size < at + step]:
        raise ShapeError(
            f"output_size {list(told)}: {wrong[0][0]} is not one of those from {wrong[0][1]} on that fit"  # type: ignore[call-overload]
        )
    return tuple(told)  # type: ignore[arg-type]


def _scratch(forms: Forms) -> Mapping[str, Form]:
    count, depth, tall, wide = forms["Filter"].shape
    x = forms["X"]
    seen = Form((depth * tall * wide, x.shape[2] * x.shape[3]), x.dtype)
    again = Form((count // forms.attrs["groups"], depth * tall * wide), x.dtype)
    return {"seen": seen, "weights": again}


def _convolve(call: Call) -> Steps:
    from paddle._engine.kernels.images import fold  # loads numba

    work = Groups(call, call["X"])
    parts, out, frame, seen = work.planes(call["X"]), work.parts(call["Out"]), work.frame, work.seen

    def convolve() -> None:
        for planes, image in zip(parts, out, strict=True):
            for plane, weights, part in zip(planes, work.weights, image, strict=True):
                np.matmul(weights.T, plane, seen)
                fold(seen, frame, part)

    yield convolve


def _gradient(call: Call) -> Steps:
    from paddle._engine.kernels.images import unfold  # loads numba

    x, grad = call["X"], call["Out@GRAD"]
    work, again = Groups(call, x), call.scratch["weights"]
    given, parts, frame, seen = work.parts(grad), work.planes(x), work.frame, work.seen
    dfilter = call.get("Filter@GRAD", np.empty_like(call["Filter"])).reshape(work.weights.shape)
    dx = work.planes(call.get("X@GRAD", np.empty_like(x)))

    def give_back() -> None:
        dfilter.fill(0)
        for images, planes, back in zip(given, parts, dx, strict=True):
            for k, (image, plane) in enumerate(zip(images, planes, strict=True)):
                unfold(image, frame, seen)
                np.matmul(work.weights[k], seen, back[k])
                np.matmul(plane, seen.T, again)
                np.add(dfilter[k], again, dfilter[k])

    yield give_back


ROWS = (
    Row(
        type="conv2d_transpose",
        inputs=("X", "Filter"),
        attrs={
            **{"strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1), "groups": 1},
            **{"output_size": (), "output_padding": ()},
        },
        shape=_shape,
        forward=Kernel(_convolve, _scratch),
        gradient=Gradient(_gradient, _scratch, of=("X", "Filter"), needs=("X", "Filter")),
    ),
)
