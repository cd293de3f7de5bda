"""Layers by their modules; ``paddle.nn`` has all of them."""

from paddle.nn.layer.layers import Layer

__all__ = ["Layer"]
