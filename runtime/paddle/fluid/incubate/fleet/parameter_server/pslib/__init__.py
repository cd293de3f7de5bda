"""The fleet that stood on Baidu's own parameter server: here on the same one, where no trainer waits."""

from __future__ import annotations

from typing import Any

from paddle import _absent
from paddle._fleet.older import OlderFleet, OlderOptimizer
from paddle._fleet.older_strategies import StrategyFactory

__all__ = ["DownpourOptimizer", "PSLib", "fleet"]

DownpourOptimizer = OlderOptimizer
_LATER = {
    **dict.fromkeys(
        ("save_cache_model", "save_cache_table", "save_model_with_whitelist", "load_one_table"),
        "tables are saved by save_persistables",
    ),
    **dict.fromkeys(
        ("shrink_dense_table", "clear_model", "clear_one_table"), "dense parameters are kept as they are"
    ),
    **dict.fromkeys(("print_table_stat", "set_date"), "servers show what they have on a page of their own"),
    "load_model": "servers begin from init_server(model_dir)",
}


class PSLib(OlderFleet):
    """One process's."""

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> OlderOptimizer:
        """The optimizer of the job. ``strategy``: its settings, a dict; they change nothing here."""
        kept = strategy if strategy is not None and not isinstance(strategy, dict) else None
        return super().distributed_optimizer(optimizer, kept or StrategyFactory.create_async_strategy())

    def shrink_sparse_table(self) -> None:
        """Have tables without a height forget rows that nobody has used since this was last called."""
        self.shrink(1)

    def __getattr__(self, name: str) -> Any:
        if name in _LATER:
            raise _absent.AbsentName(f"pslib's fleet.{name} is not in this release: {_LATER[name]}.")
        raise AttributeError(f"pslib's fleet.{name} does not exist", name=name, obj=self)


fleet = PSLib()
