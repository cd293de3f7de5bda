"""Fleet, and the one of this process."""

from paddle._fleet.fleet import Fleet
from paddle._fleet.optimizer import DistributedOptimizer
from paddle._fleet.together import UtilBase

__all__ = ["DistributedOptimizer", "Fleet", "UtilBase", "fleet"]

fleet = Fleet()
