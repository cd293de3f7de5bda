"""Zeros around an image: how many there are above, below, left and right of it.

Source of the semantics: fluid's ``conv2d`` and ``pool2d``, whose paddings are for each axis, for each side,
or ``"SAME"``: as many as make each step of a window one place, the odd one below or to the right. It must
never know pixels. Guarantee: an axis whose size is open has what "SAME" says of it when that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

Sides = tuple[int, int]
Paddings = Sequence[int] | str

SAME = "SAME"


def around(
    sizes: Sequence[int], windows: Sequence[int], steps: Sequence[int], told: Paddings
) -> tuple[Sides, Sides]:
    """(above, below), (left, right), of an image with these sizes."""
    if told == SAME:
        down, across = (_same(*side) for side in zip(sizes, windows, steps, strict=True))
        return down, across
    numbers = cast(Sequence[int], told)
    above, below, left, right = numbers if len(numbers) == 4 else (numbers[0],) * 2 + (numbers[1],) * 2
    return (above, below), (left, right)


def _same(size: int, window: int, step: int) -> Sides:
    if size == -1:
        return 0, 0
    missing = max((-(-size // step) - 1) * step + window - size, 0)
    return missing // 2, missing - missing // 2
