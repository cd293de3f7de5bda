"""Clipping of gradients, as operators on them.

It must never know an optimizer. Guarantee: what no attribute asks to be clipped is passed on as it is.
"""

from __future__ import annotations

from typing import Any


def append_gradient_clip_ops(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs, clipped as the attributes of the parameters say; those of one clip together."""
    order: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
    for pair in pairs:
        clip = getattr(pair[0], "gradient_clip_attr", None)
        order.setdefault(id(clip), (clip, []))[1].append(pair)
    clipped = {
        pair[0].name: pair
        for clip, members in order.values()
        for pair in (members if clip is None else clip(members))
    }
    return [clipped[parameter.name] for parameter, _ in pairs]
