"""The fleet of a process, as programs of 1.x know it."""

from paddle._fleet.older import OlderFleet as FleetTranspiler
from paddle._fleet.older import OlderOptimizer as ParameterServerOptimizer
from paddle._fleet.older import OlderOptimizer as TranspilerOptimizer
from paddle.fluid.transpiler import DistributeTranspilerConfig

__all__ = [
    "DistributeTranspilerConfig",
    "FleetTranspiler",
    "ParameterServerOptimizer",
    "TranspilerOptimizer",
    "fleet",
]

fleet = FleetTranspiler()
