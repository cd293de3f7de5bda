"""Volumes, (samples, channels, depth, height, width): convolutions and pooling, made of images'.

A convolution is one of images whose channels are those of the planes that a window sees; pooling goes over
planes first, and over the depth then. It must never know a kernel, nor who writes a program. Guarantee: of
equal voxels the first is a window's maximum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddle._engine.builder import Builder
from paddle._engine.program import Variable

Sides = tuple[int, int]
Pass = tuple[str, Mapping[str, Any]]
"""An operator of images, and its attributes."""


@dataclass(frozen=True, slots=True)
class Moving:
    """How a window moves along the depth: of ``size``, by ``step``, with zeros before and behind, the planes
    that it sees ``apart``; and ``planes``, the attributes of what is done in each plane."""

    size: int
    step: int
    zeros: Sides
    apart: int
    planes: dict[str, Any]

    @property
    def reach(self) -> int:
        """How many planes lie from the first to the last that it sees."""
        return (self.size - 1) * self.apart + 1

    def places(self, depth: int) -> int:
        """How many places it takes, the last of them within."""
        return (depth + sum(self.zeros) - self.reach) // self.step + 1

    def least(self, places: int) -> int:
        """The fewest planes in which it takes so many places."""
        return (places - 1) * self.step + self.reach - sum(self.zeros)


@dataclass(frozen=True, slots=True)
class Pooled:
    """``out``, and of maxima the places that each pass took them from, in a plane and along the depth."""

    out: Variable
    in_planes: Variable | None
    along: Variable | None


def convolved(builder: Builder, x: Variable, filters: Variable, moving: Moving) -> Variable:
    """``filters``: (count, channels of a group, depth, height, width)."""
    op, (_, channels, depth, height, width) = builder.op, x.shape
    count, part, *window = filters.shape
    places = moving.places(depth)
    x, last = _padded(builder, x, 2, moving.zeros), moving.step * (places - 1) + 1
    starts = [number * moving.apart for number in range(moving.size)]
    seen = [_cut(builder, x, 2, start, start + last, moving.step) for start in starts]
    beside = op("concat", {"axis": 2}, X=[op("unsqueeze", {"axes": (2,)}, X=each) for each in seen])
    turned = op("transpose", {"axis": (0, 3, 1, 2, 4, 5)}, X=beside)
    images = op("reshape", {"shape": (-1, channels * moving.size, height, width)}, X=turned)
    flat = op("reshape", {"shape": (count, part * moving.size, *window[1:])}, X=filters)
    out = op("conv2d", moving.planes, X=images, Filter=flat)
    out = op("reshape", {"shape": (-1, places, *out.shape[1:])}, X=out)
    return op("transpose", {"axis": (0, 2, 1, 3, 4)}, X=out)


def laid_down(builder: Builder, x: Variable, filters: Variable, moving: Moving, size: int) -> Variable:
    """The way back, to a depth of ``size``. ``filters``: (channels, count of a group, depth, ...)."""
    op, (_, channels, depth, height, width) = builder.op, x.shape
    _, part, *window = filters.shape
    turned = op("transpose", {"axis": (0, 2, 1, 3, 4)}, X=x)
    images = op("reshape", {"shape": (-1, channels, height, width)}, X=turned)
    flat = op("reshape", {"shape": (channels, part * moving.size, *window[1:])}, X=filters)
    out = op("conv2d_transpose", moving.planes, X=images, Filter=flat)
    count, sides = part * moving.planes["groups"], out.shape[2:]
    out = op("reshape", {"shape": (-1, depth, count, moving.size, *sides)}, X=out)
    out = op("transpose", {"axis": (0, 2, 3, 1, 4, 5)}, X=out)
    return _cut(builder, _overlapped(builder, out, moving), 2, moving.zeros[0], moving.zeros[0] + size)


def _overlapped(builder: Builder, out: Variable, moving: Moving) -> Variable:
    """What each plane gives to those that it lies over, added up: (samples, filters, window, depth, ...)."""
    op, (_, count, _, depth, *sides) = builder.op, out.shape
    parts = []
    for number in range(moving.size):
        each = op("squeeze", {"axes": (2,)}, X=_cut(builder, out, 2, number, number + 1))
        apart = _padded(builder, op("unsqueeze", {"axes": (3,)}, X=each), 3, (0, moving.step - 1))
        each = op("reshape", {"shape": (-1, count, depth * moving.step, *sides)}, X=apart)
        before = number * moving.apart
        parts.append(_padded(builder, each, 2, (before, moving.reach - 1 - before)))
    return op("sum", X=parts)


def by_axes(builder: Builder, x: Variable, planes: Pass, along: Pass) -> Pooled:
    """Operators of images: one over each plane, and one over the depth, where a line is all of a plane."""
    op, (_, channels, depth, *sides) = builder.op, x.shape
    flat = op("reshape", {"shape": (-1, channels * depth, *sides)}, X=x)
    inner = builder.ops(planes[0], planes[1], X=flat)
    tall, wide = inner["Out"].shape[2:]
    lines = op("reshape", {"shape": (-1, channels, depth, tall * wide)}, X=inner["Out"])
    outer = builder.ops(along[0], along[1], X=lines)
    shape = (-1, channels, outer["Out"].shape[2], tall, wide)
    out = op("reshape", {"shape": shape}, X=outer["Out"])
    return Pooled(out, inner.get("Places"), outer.get("Places"))


def passes(how: str, window: Sequence[int], moving: Moving, told: Mapping[str, Any]) -> tuple[Pass, Pass]:
    """Maxima ("max") or averages under a window, told more by ``told``: over planes, and along the depth."""
    type = "max_pool2d" if how == "max" else "average_pool2d"
    planes = {**told, **moving.planes, "ksize": tuple(window[1:])}
    along = {"ksize": (moving.size, 1), "strides": (moving.step, 1), "paddings": (*moving.zeros, 0, 0)}
    return (type, planes), (type, {**told, **along})


def _padded(builder: Builder, x: Variable, axis: int, zeros: Sides) -> Variable:
    if not any(zeros):
        return x
    paddings = tuple(zeros if each == axis else (0, 0) for each in range(len(x.shape)))
    return builder.op("pad", {"paddings": paddings}, X=x)


def _cut(builder: Builder, x: Variable, axis: int, start: int, end: int, step: int = 1) -> Variable:
    told = {"axes": (axis,), "starts": (start,), "ends": (end,), "steps": (step,)}
    return builder.op("slice", told, X=x)
