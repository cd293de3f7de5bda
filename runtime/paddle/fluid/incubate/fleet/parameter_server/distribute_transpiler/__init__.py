"""The fleet of a process, as programs of 1.x know it, and the strategies that it takes: some programs have
them from here."""

from paddle._fleet.older import OlderFleet as FleetTranspiler
from paddle._fleet.older import OlderOptimizer as ParameterServerOptimizer
from paddle._fleet.older import OlderOptimizer as TranspilerOptimizer
from paddle._fleet.older_strategies import (
    AsyncStrategy,
    DistributedStrategy,
    GeoStrategy,
    HalfAsyncStrategy,
    ServerRuntimeConfig,
    StrategyFactory,
    SyncStrategy,
    TrainerRuntimeConfig,
)
from paddle.fluid.transpiler import DistributeTranspilerConfig

__all__ = [
    "AsyncStrategy",
    "DistributeTranspilerConfig",
    "DistributedStrategy",
    "FleetTranspiler",
    "GeoStrategy",
    "HalfAsyncStrategy",
    "ParameterServerOptimizer",
    "ServerRuntimeConfig",
    "StrategyFactory",
    "SyncStrategy",
    "TrainerRuntimeConfig",
    "TranspilerOptimizer",
    "fleet",
]

fleet = FleetTranspiler()
