"""What fleet notes at a program that it trains, ``program._fleet_opt``: programs of PaddleRec look there and
write.

It must never know a program. Guarantee: what is written there and would have to be done, and is not, is
refused by name; names of variables and of the original's trainers are kept.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet.strategy_fields import UNBUILT

_DUMPED = frozenset(UNBUILT["trainer_desc_configs"])


class ProgramOptions(dict[str, Any]):
    """A dict of options."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name in _DUMPED and value:
            raise NotInThisRelease(
                f"program._fleet_opt[{name!r}] is not in this release: nothing is dumped. Fetch what is "
                "wanted, by fetch_list of Executor.run or of train_from_dataset"
            )
        super().__setitem__(name, value)
