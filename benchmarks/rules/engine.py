"""The project's own rule, as a shard calls it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np

from benchmarks.rules.data import gradient, start, updating
from benchmarks.worker import Work
from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import rule


def prepare(settings: Mapping[str, Any]) -> Work:
    """The rule of ``settings`` on values of its own."""
    options = {"momentum": 0.9} if settings["rule"] == "momentum" else {}
    chosen, penalties = rule(RuleSpec(name=settings["rule"], options=options)), Penalties()
    values, slope = start(settings["floats"]), gradient(settings["floats"])
    slots = [np.zeros_like(values) for _ in chosen.slots]
    rate, steps = settings["learning_rate"], count(1)

    def step() -> None:
        chosen.dense(values, slope, slots, rate, penalties, next(steps))

    return updating(step, lambda: values, values.copy())
