"""File systems."""

from paddle._absent import absent
from paddle._fleet.local_files import LocalFS

__all__ = ["HDFSClient", "LocalFS"]

HDFSClient = absent(
    "paddle.fluid.incubate.fleet.utils.HDFSClient",
    "files are on this machine: mount what is elsewhere, and use LocalFS",
)
