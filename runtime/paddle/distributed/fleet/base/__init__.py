"""``paddle.distributed.fleet.base``: where upstream keeps role makers, strategies and Fleet itself."""

from paddle.distributed.fleet.base import distributed_strategy, fleet_base, role_maker, util_factory

__all__ = ["distributed_strategy", "fleet_base", "role_maker", "util_factory"]
