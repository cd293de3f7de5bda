"""Fleet of 1.x."""

from paddle._fleet.older import OlderFleet as Fleet
from paddle._fleet.older import OlderOptimizer as DistributedOptimizer

__all__ = ["DistributedOptimizer", "Fleet", "Mode"]


class Mode:
    """How a fleet of 1.x was made."""

    TRANSPILER = 1
    PSLIB = 2
    COLLECTIVE = 3
