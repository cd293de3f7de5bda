"""Update rules by name: v2's one per file, and fluid's where they differ (fluid.py).

``rule(spec)`` is the only door: whoever keeps parameters asks for a rule by its name and never imports
one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import ParameterSpec, RuleSpec, UpdateSpec
from paddle._engine.rules.adadelta import AdaDelta
from paddle._engine.rules.adagrad import AdaGrad
from paddle._engine.rules.adam import Adam
from paddle._engine.rules.adamax import Adamax
from paddle._engine.rules.adamw import AdamW
from paddle._engine.rules.counted import Counted
from paddle._engine.rules.decayed_adagrad import DecayedAdaGrad
from paddle._engine.rules.fluid import (
    FluidAdaDelta,
    FluidAdaGrad,
    FluidDecayedAdaGrad,
    FluidMomentum,
    FluidRMSProp,
    LarsMomentum,
)
from paddle._engine.rules.ftrl import Ftrl
from paddle._engine.rules.lamb import Lamb
from paddle._engine.rules.momentum import Momentum
from paddle._engine.rules.private import PrivateSGD
from paddle._engine.rules.rmsprop import RMSProp
from paddle._engine.rules.rule import Rule
from paddle._engine.rules.sgd import SGD

__all__ = ["RULES", "Counted", "Rule", "needs_whole", "rule", "rule_of"]

RULES: dict[str, Any] = {
    "adadelta": AdaDelta,
    "adagrad": AdaGrad,
    "adam": Adam,
    "adamax": Adamax,
    "adamw": AdamW,
    "decayed_adagrad": DecayedAdaGrad,
    "fluid_adadelta": FluidAdaDelta,
    "fluid_adagrad": FluidAdaGrad,
    "fluid_decayed_adagrad": FluidDecayedAdaGrad,
    "fluid_momentum": FluidMomentum,
    "fluid_rmsprop": FluidRMSProp,
    "ftrl": Ftrl,
    "lamb": Lamb,
    "lars_momentum": LarsMomentum,
    "momentum": Momentum,
    "private_sgd": PrivateSGD,
    "rmsprop": RMSProp,
    "sgd": SGD,
}


OF_TABLES: dict[str, Any] = {"counted": Counted}
"""Those that only a table can have, for its own."""


def needs_whole(spec: RuleSpec) -> bool:
    """Whether the rule that ``spec`` names takes parameters whole; no, where there is none of that name."""
    return bool(spec.name in RULES and RULES[spec.name].needs_whole)


def rule(spec: RuleSpec, momentum: float | None = None) -> Rule:
    """The rule that ``spec`` names; a parameter's own ``momentum`` replaces the job's where the rule has one.

    So the rules of one job may differ in slots: a parameter without momentum keeps no velocity.
    Raises ``UnknownName`` for a name or an option that does not exist.
    """
    return _made(RULES, spec, momentum)


def _made(rules: dict[str, Any], spec: RuleSpec, momentum: float | None) -> Rule:
    make = rules.get(spec.name)
    if make is None:
        raise UnknownName(f"there is no update rule {spec.name!r}; there are {', '.join(rules)}")
    known = [field.name for field in fields(make)]
    for option in spec.options:
        if option not in known:
            names = ", ".join(known) or "none"
            raise UnknownName(f"update rule {spec.name!r} has no option {option!r}; it has {names}")
    own = {"momentum": momentum} if momentum is not None and "momentum" in known else {}
    made: Rule = make(**{**spec.options, **own})
    return made


def rule_of(parameter: ParameterSpec, update: UpdateSpec) -> Rule:
    """The rule of a parameter: a table's own, where it has one, or the job's. Raises as ``rule``."""
    own = None if parameter.rows is None else parameter.rows.rule
    return rule(update.rule, parameter.momentum) if own is None else _made(OF_TABLES, own, None)
