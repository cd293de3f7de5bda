"""Functions of tensors by their modules; ``paddle``, and this package, have all of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle import _homes


def __getattr__(name: str) -> Any:
    home = _homes.HOMES.get(name, "")
    if not home.startswith("tensor."):
        raise AttributeError(f"paddle.tensor.{name} does not exist", name=name)
    return getattr(import_module(f"paddle.{home}"), name)
