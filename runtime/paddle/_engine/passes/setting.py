"""Setting: what a pass may know besides operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paddle._engine.program import Variable


@dataclass(frozen=True, slots=True)
class Setting:
    """``keep``: variables whose values are wanted after the run. ``variables``: those that the program
    declares. ``lent``: see Lending, of the exchange that the plan is for; ``joint``: see Joining."""

    keep: frozenset[str]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    lent: Mapping[str, float] = field(default_factory=dict)
    joint: Mapping[str, float | None] = field(default_factory=dict)
