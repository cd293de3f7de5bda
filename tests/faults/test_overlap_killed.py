"""A pserver is killed while a gradient streams to it, or an answer from it: no bit is different."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pserver.overlapping import Heard, Net
from tests.pserver.test_equality import assert_same

from .pservers import TRAINERS, Job, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]

STEPS = 9
DIES_AT = 6
Result = tuple[list[float], dict[str, np.ndarray]]


def training(job: Job, trainer_id: int, dies: tuple[str, Any] | None) -> Callable[[Heard], Result]:
    """One trainer's costs and parameters; a dense shard is killed at its moment ``dies`` of one step."""
    step = 0
    alive = [dies]

    def told(what: str, name: Any) -> None:
        if step == DIES_AT and (what, name) == alive[0]:
            alive[0] = None
            job.kill(1)

    def run(exchange: Heard) -> Result:
        nonlocal step
        exchange.told = told
        trainer = Net().begin(exchange)
        exchange.begin_pass(0)
        costs = []
        for step in range(STEPS):
            costs += [trainer.step(10 * step + trainer_id)]
        exchange.end_pass(0)
        exchange.fetch()
        assert dies is None or alive[0] is None, "nothing was killed"
        return costs, {name: array.copy() for name, array in trainer.arrays.items()}

    return run


def trained(folder: Path, dies: tuple[str, Any] | None) -> list[Result]:
    with pservers(folder) as job:
        trainers = [training(job, id, dies if id == 0 else None) for id in range(TRAINERS)]
        found = job.run(*trainers, kind=Heard, shares_memory=False)
        job.end()
        return found


@pytest.mark.parametrize(
    "dies",
    [
        ("gave", "third"),
        pytest.param(("gave", "first"), marks=pytest.mark.thorough),
        pytest.param(("waits for", frozenset({"first"})), marks=pytest.mark.thorough),
        ("has", frozenset({"first"})),
    ],
    ids=["first part", "last part", "answer", "half of the answer"],
)
def test_a_pserver_killed_in_the_midst_of_an_overlapping_step_changes_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: tuple[str, Any]
) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.delivery.APART_BYTES", 0)
    monkeypatch.setattr("paddle._pserver.protocol.ahead.PART_BYTES", 1)
    whole = trained(tmp_path / "whole", None)
    killed = trained(tmp_path / "killed", dies)
    for (costs, parameters), (same_costs, same_parameters) in zip(whole, killed, strict=True):
        assert costs == same_costs
        assert_same(parameters, same_parameters)
