"""Transposed convolution: what would give back the gradient of a convolution's input, as a layer of its own.

Source of the semantics: fluid's ``conv2d_transpose``. Filter is (channels of X, channels of a group of Out,
height, width); Out is as large as what a convolution with these attributes would make X of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.around import around
from paddle._engine.ops.convolving.convolution import scratch
from paddle._engine.ops.image import convolution, image_form
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
    return scratch(_shape(forms)["Out"], forms["Filter"], forms["X"], forms.attrs["groups"])


def _gradient_scratch(forms: Forms) -> Mapping[str, Form]:
    return scratch(forms["Out@GRAD"], forms["Filter"], forms["X"], forms.attrs["groups"], weighs=True)


def _convolve(call: Call) -> Steps:
    yield convolution(call, call["Out"], call["X"]).giving_back()


def _gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    if "Filter@GRAD" in call:
        yield convolution(call, grad, call["X"]).weighing(call["Filter@GRAD"])
    if "X@GRAD" in call:
        yield convolution(call, grad, call["X@GRAD"]).convolving()


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
        gradient=Gradient(_gradient, _gradient_scratch, of=("X", "Filter"), needs=("X", "Filter")),
    ),
)
