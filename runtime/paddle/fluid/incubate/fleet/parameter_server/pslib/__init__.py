"""The fleet that stood on Baidu's own parameter server: here on the same one, where no trainer waits."""

from __future__ import annotations

from typing import Any

from paddle._fleet.absent_names import PSLIB, refuse
from paddle._fleet.older import OlderFleet, OlderOptimizer
from paddle._fleet.older_strategies import StrategyFactory
from paddle.fluid._listed import lacking

__all__ = ["DownpourOptimizer", "PSLib", "fleet"]

__getattr__ = lacking(__name__)

DownpourOptimizer = OlderOptimizer


class PSLib(OlderFleet):
    """One process's."""

    _spreads = True

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> OlderOptimizer:
        """The optimizer of the job. ``strategy``: its settings, a dict; they change nothing here."""
        kept = strategy if strategy is not None and not isinstance(strategy, dict) else None
        return super().distributed_optimizer(optimizer, kept or StrategyFactory.create_async_strategy())

    def shrink_sparse_table(self) -> None:
        """Have tables without a height forget rows that nobody has used since this was last called."""
        self.shrink(1)

    def __getattr__(self, name: str) -> Any:
        refuse(self, __name__ + ".fleet", PSLIB, name)


fleet = PSLib()
