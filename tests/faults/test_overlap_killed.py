"""A pserver is killed while a gradient streams to it, or an answer from it: no bit is different."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pserver.overlapping import Heard, Net
from tests.pserver.test_equality import assert_same

from .test_pserver_killed import TRAINERS, Job, pservers

pytestmark = pytest.mark.faults

STEPS = 9
DIES_AT = 6
Result = tuple[list[float], dict[str, np.ndarray]]


def train(job: Job, trainer_id: int, dies: tuple[str, Any] | None) -> Result:
    """One trainer's costs and parameters; a dense shard is killed at its moment ``dies`` of one step."""
    step = 0
    alive = [dies]

    def told(what: str, name: Any) -> None:
        if step == DIES_AT and (what, name) == alive[0]:
            alive[0] = None
            job.kill(1)

    exchange = Heard(
        ["127.0.0.1"],
        port=job.port,
        ports_num=2,
        ports_num_for_sparse=1,
        num_gradient_servers=TRAINERS,
        trainer_id=trainer_id,
        call_timeout_s=30,
        notice=lambda text: None,
        shares_memory=False,
        told=told,
    )
    try:
        trainer = Net().begin(exchange)
        exchange.begin_pass(0)
        costs = []
        for step in range(STEPS):
            costs += [trainer.step(10 * step + trainer_id)]
        exchange.end_pass(0)
        exchange.fetch()
        assert dies is None or alive[0] is None, "nothing was killed"
    except BaseException as error:
        exchange.close(str(error))
        raise
    exchange.close()
    return costs, {name: array.copy() for name, array in trainer.arrays.items()}


def trained(folder: Path, dies: tuple[str, Any] | None) -> list[Result]:
    with pservers(folder) as job, ThreadPoolExecutor(TRAINERS) as pool:
        results = pool.map(lambda id: train(job, id, dies if id == 0 else None), range(TRAINERS), timeout=120)
        found = list(results)
        job.end()
        return found


@pytest.mark.parametrize(
    "dies",
    [
        ("gave", "third"),
        ("gave", "first"),
        ("waits for", frozenset({"first"})),
        ("has", frozenset({"first"})),
    ],
    ids=["first part", "last part", "answer", "half of the answer"],
)
def test_a_pserver_killed_in_the_midst_of_an_overlapping_step_changes_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: tuple[str, Any]
) -> None:
    monkeypatch.setattr("paddle._pserver.delivery.APART_BYTES", 0)
    monkeypatch.setattr("paddle._pserver.ahead.PART_BYTES", 1)
    whole = trained(tmp_path / "whole", None)
    killed = trained(tmp_path / "killed", dies)
    for (costs, parameters), (same_costs, same_parameters) in zip(whole, killed, strict=True):
        assert costs == same_costs
        assert_same(parameters, same_parameters)
