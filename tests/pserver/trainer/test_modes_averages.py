"""ModelAverage where trainers update by themselves: of the common parameters, each meeting a step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine.exchange import (
    AverageSpec,
    Exchange,
    ModeSpec,
    ParameterSpec,
    RuleSpec,
    ScheduleSpec,
    UpdateSpec,
)
from paddle._pserver.trainer.trainer_modes import in_mode

from ..conftest import Start

AVERAGE = AverageSpec(window=0.5, min_window=2, max_window=5)
PARAMETERS = (ParameterSpec(name="w", shape=(4,)),)
STEPS, MOMENTUM, RATE = 24, 0.9, 0.1


def gradient(step: int) -> np.ndarray:
    return np.random.default_rng(step).standard_normal(4).astype(np.float32)


def expected(every: int) -> dict[int, np.ndarray]:
    """By step, of what one trainer's own momentum made of the parameters at each meeting until then."""
    values, velocity = np.ones(4), np.zeros(4)
    window: list[np.ndarray] = []
    before: list[np.ndarray] = []
    means = {}
    for step in range(1, STEPS + 1):
        velocity = MOMENTUM * velocity - RATE * gradient(step)
        values = values + velocity
        if step % every:
            continue
        window.append(values)
        if len(window) >= 2 and len(window) >= min(5, int(0.5 * step / every)):
            before, window = window, []
        means[step] = np.mean(before + window, axis=0)
    return means


@pytest.mark.parametrize(
    "mode",
    [
        ModeSpec(name="geo", k_steps=1),
        ModeSpec(name="geo", k_steps=3),
        ModeSpec(name="average", k_steps=2),
    ],
    ids=lambda mode: f"{mode.name}-{mode.k_steps}",
)
def test_averages_are_of_the_common_parameters_at_each_meeting(start_pservers: Start, mode: ModeSpec) -> None:
    update = UpdateSpec(
        rule=RuleSpec(name="momentum", options={"momentum": MOMENTUM}),
        schedule=ScheduleSpec(learning_rate=RATE),
        average=AVERAGE,
        mode=mode,
    )

    def run(center: Exchange) -> dict[int, np.ndarray]:
        exchange = in_mode(center, mode, 1)
        exchange.start(PARAMETERS, update, {"w": np.ones(4, np.float32)})
        exchange.begin_pass(0)
        found: dict[int, np.ndarray] = {}
        for step in range(1, STEPS + 1):
            exchange.step({"w": gradient(step)}, 1)
            averages: Mapping[str, np.ndarray] = exchange.averages()
            found[step] = averages["w"].copy()
        return found

    (found,) = start_pservers().train(run)
    for step, mean in expected(mode.k_steps).items():
        np.testing.assert_allclose(found[step], mean, atol=1e-4, err_msg=f"after step {step}")
