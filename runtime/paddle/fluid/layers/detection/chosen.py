"""Appending an operator whose results are chosen: no gradient goes through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid.layers.appending import several

__all__: list[str] = []


def chosen(
    type: str,
    inputs: Mapping[str, Any],
    outs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    layer: str = "",
) -> list[Variable]:
    """What it gives, in slots; a dtype that is None is that of the first input."""
    made = several(type, inputs, outs, attrs, name, layer)
    for each in made:
        each.stop_gradient = True
    return made


def listed(given: Any) -> list[Any]:
    """One or several as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]
