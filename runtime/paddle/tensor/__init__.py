"""Functions of tensors by their modules; ``paddle``, and this package, have all of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle import _homes

# A function that has its module's name: importing the module later must not put the module in its place.
from paddle.tensor.einsum import einsum as einsum

# What this package alone has, of fluid's making.
_OF_FLUID = frozenset(
    {
        *("array_length", "array_read", "array_write", "create_array", "create_tensor", "fill_constant"),
        "sigmoid",
    }
)


def __getattr__(name: str) -> Any:
    home = "fluid.layers" if name in _OF_FLUID else _homes.HOMES.get(name, "")
    if not home.startswith(("tensor.", "fluid.layers")):
        raise AttributeError(f"paddle.tensor.{name} does not exist", name=name)
    return getattr(import_module(f"paddle.{home}"), name)
