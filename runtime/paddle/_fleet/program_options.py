"""What fleet notes at a program that it trains, ``program._fleet_opt``: programs of PaddleRec look there and
write.

It must never know a program. Guarantee: what is written there and would have to be done, and is not, is
refused by name; what is dumped (reading/dumping.py), names of variables and of the original's trainers are
kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.reading import dumping


class ProgramOptions(dict[str, Any]):
    """A dict of options. ``strategy``: what a DistributedStrategy says of trainers."""

    def __init__(self, strategy: Mapping[str, Any], **own: Any) -> None:
        super().__init__(own)
        for name in dumping.DUMPED:
            if value := strategy.get(name):
                self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        dumping.check({name: value}, name)
        super().__setitem__(name, value)
