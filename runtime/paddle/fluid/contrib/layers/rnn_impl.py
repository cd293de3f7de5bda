"""Recurrent layers that fluid had under ``contrib``, of which none is built: each name says so."""

from paddle.fluid._listed import lacking

__all__: list[str] = []

__getattr__ = lacking("paddle.fluid.contrib.layers")
