"""Update rules by name, one per file.

``rule(spec)`` is the only door: whoever keeps parameters asks for a rule by its name and never imports one.
"""

from __future__ import annotations

import dataclasses

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import RuleSpec
from paddle._engine.rules.rule import Rule
from paddle._engine.rules.sgd import SGD

__all__ = ["RULES", "Rule", "rule"]

RULES: dict[str, type[Rule]] = {"sgd": SGD}


def rule(spec: RuleSpec, momentum: float | None = None) -> Rule:
    """The rule that ``spec`` names. ``momentum``: a parameter's own, replacing the job's where the rule has one.

    So the rules of one job may differ in slots: a parameter without momentum keeps no velocity.
    """
    chosen = RULES.get(spec.name)
    if chosen is None:
        raise UnknownName(f"there is no update rule {spec.name!r}; there are {', '.join(sorted(RULES))}")
    options = dict(spec.options)
    known = [field.name for field in dataclasses.fields(chosen)]  # type: ignore[arg-type]
    for name in options:
        if name not in known:
            raise UnknownName(
                f"update rule {spec.name!r} has no option {name!r}; it has {', '.join(known) or 'none'}"
            )
    if momentum is not None and "momentum" in known:
        options["momentum"] = momentum
    return chosen(**options)
