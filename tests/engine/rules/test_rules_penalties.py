"""A parameter's own rates against the job's."""

from __future__ import annotations

import math

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.penalties import Penalties, penalties

JOB = UpdateSpec(
    rule=RuleSpec(name="sgd"),
    schedule=ScheduleSpec(),
    l1_rate=0.1,
    l2_rate=0.2,
    gradient_clipping_threshold=3.0,
)


def of(**rates: float | None) -> Penalties:
    return penalties(ParameterSpec(name="w", shape=(2,), **rates), JOB)


def test_a_parameter_without_rates_has_the_jobs():
    assert of() == Penalties(l1=0.1, l2=0.2, clip=3.0)


def test_a_parameters_own_rates_win():
    assert of(l1_rate=0.5, l2_rate=0.6, gradient_clipping_threshold=7.0) == Penalties(
        l1=0.5, l2=0.6, clip=7.0
    )


def test_a_rate_of_zero_is_a_rate_but_a_threshold_of_zero_is_none():
    assert of(l1_rate=0.0, l2_rate=0.0, gradient_clipping_threshold=0.0) == Penalties(clip=3.0)


def test_without_any_threshold_nothing_is_clipped():
    job = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec())
    assert penalties(ParameterSpec(name="w", shape=(2,)), job) == Penalties(l1=0.0, l2=0.0, clip=math.inf)
