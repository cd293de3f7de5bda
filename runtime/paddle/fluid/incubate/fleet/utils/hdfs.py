"""Files that are elsewhere."""

from paddle.fluid.incubate.fleet.utils.fs import HDFSClient

__all__ = ["HDFSClient"]
