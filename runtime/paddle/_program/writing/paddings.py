"""Paddings of images, as programs of either generation tell them and as operators are told.

It must never know an operator. Guarantee: a padding that has no meaning is refused by the name of the layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from paddle._program.errors import BadArgument


def paddings_of(layer: str, given: Any, data_format: str = "NCHW") -> tuple[list[int], str]:
    """Two numbers, for each axis, or four, above, below, left and right; and the way they are found. Of a
    volume ("NCDHW", "NDHWC") three or six.

    ``given``: a number, two, four, a pair for each axis of the image or for all four axes, "SAME" or "VALID".
    """
    axes = len(data_format) - 2
    if isinstance(given, str):
        if given.upper() not in ("SAME", "VALID"):
            raise BadArgument(f"{layer}: padding is numbers, 'SAME' or 'VALID', not {given!r}")
        return [0] * axes, given.upper()
    numbers: list[Any] = [given] * axes if isinstance(given, Integral) else _listed(given)
    if numbers and all(isinstance(each, list | tuple) for each in numbers):
        numbers = [side for pair in _of_image(layer, numbers, data_format) for side in pair]
    if len(numbers) not in (axes, 2 * axes) or not all(isinstance(each, Integral) for each in numbers):
        known = "two, or four (above" if axes == 2 else "three, or six (before, behind, above"
        raise BadArgument(f"{layer}: padding is one number, {known}, below, left and right), not {given!r}")
    sides = [int(each) for each in numbers]
    if len(sides) == 2 * axes and sides[::2] == sides[1::2]:
        sides = sides[::2]
    return sides, "EXPLICIT"


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else []


def _of_image(layer: str, pairs: list[Sequence[int]], data_format: str) -> list[Sequence[int]]:
    """Those of height and width, and of the depth."""
    axes = len(data_format) - 2
    if len(pairs) != axes + 2:
        return pairs
    at = 1 if data_format.endswith("C") else 2
    if any(side for pair in pairs[:at] + pairs[at + axes :] for side in pair):
        raise BadArgument(
            f"{layer}: samples and channels are not padded: {pairs} says more than zeros of them"
        )
    return pairs[at : at + axes]
