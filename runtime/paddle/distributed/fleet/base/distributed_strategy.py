"""DistributedStrategy of 2.x."""

from paddle._fleet.strategy import DistributedStrategy

__all__ = ["DistributedStrategy"]
