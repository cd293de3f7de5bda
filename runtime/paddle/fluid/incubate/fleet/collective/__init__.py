"""Fleet of 1.x without parameter servers: the one of a process, and what it takes."""

from paddle._fleet.checkpoints import TrainStatus
from paddle._fleet.collective import (
    Collective,
    CollectiveOptimizer,
    DistFCConfig,
    DistributedStrategy,
    LambConfig,
)

__all__ = [
    "Collective",
    "CollectiveOptimizer",
    "DistFCConfig",
    "DistributedStrategy",
    "LambConfig",
    "TrainStatus",
    "fleet",
]

fleet = Collective()
