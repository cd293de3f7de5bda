"""How a fleet of 1.x was made."""

from paddle.fluid.incubate.fleet.base.fleet_base import Mode

__all__ = ["Mode"]
