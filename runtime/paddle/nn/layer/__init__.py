"""Layers by their modules; ``paddle.nn``, and this package, have all of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle.nn.layer.layers import Layer

__all__ = ["Layer"]


def __getattr__(name: str) -> Any:
    home = import_module("paddle.nn")._WHERE.get(name, "")
    if not home.startswith("layer."):
        raise AttributeError(f"paddle.nn.layer.{name} does not exist", name=name)
    return getattr(import_module(f"paddle.nn.{home}"), name)
