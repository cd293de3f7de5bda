"""File systems."""

from paddle._fleet.hadoop import HDFSClient
from paddle._fleet.local_files import LocalFS

__all__ = ["HDFSClient", "LocalFS"]
