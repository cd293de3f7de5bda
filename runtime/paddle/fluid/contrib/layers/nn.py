"""Layers of networks that fluid had under ``contrib``. It must never hold code of its own."""

from paddle._program.writing.sparse_embedding import sparse_embedding
from paddle.fluid._listed import lacking

__all__ = ["sparse_embedding"]

__getattr__ = lacking("paddle.fluid.contrib.layers")
