"""File systems."""

from paddle._fleet.local_files import LocalFS

__all__ = ["LocalFS"]
