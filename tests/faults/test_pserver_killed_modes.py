"""Pserver processes are killed where trainers are not in step, and what they had counted is not lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.marks import on_demand
from tests.pserver.test_equality import assert_same, trainer, update

from .pservers import STEPS, TRAINERS, Job, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]


def train(
    job: Job, mode: ModeSpec, begun: Callable[[int, RemoteExchange], None]
) -> list[dict[str, np.ndarray]]:
    """What the trainers end with; ``begun(trainer, exchange)`` is called before the first step."""

    def in_its_mode(id: int) -> Callable[[RemoteExchange], dict[str, np.ndarray]]:
        def run(remote: RemoteExchange) -> dict[str, np.ndarray]:
            def before_step(step: int) -> None:
                if step == 0:
                    begun(id, remote)

            work = trainer(id, update("sgd", mode=mode), STEPS, before_step=before_step)
            return work(in_mode(remote, mode, TRAINERS))

        return run

    return job.run(*map(in_its_mode, range(TRAINERS)))


@pytest.mark.parametrize(
    ("asked", "times"), [on_demand("ask_changes", 1), on_demand("hear_count", 1), ("hear_count", 2)]
)
def test_a_trainer_that_hears_of_changed_rows_goes_on_when_the_shard_is_killed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, times: int
) -> None:
    """Also where it had counted them, and forgot that when it was killed."""
    with pservers(tmp_path / "kept") as job:
        kills = iter(range(times))

        def begun(trainer: int, remote: RemoteExchange) -> None:
            (shard,) = remote._sparse
            ask, done = getattr(shard, asked), 0

            def then_kill(*given: Any) -> None:
                nonlocal done
                ask(*given)
                done += 1
                if done >= 6 and next(kills, None) is not None:
                    job.kill(2 if done == 6 else -1)

            if trainer == 0:
                monkeypatch.setattr(shard, asked, then_kill)

        first, second = train(job, ModeSpec(name="geo"), begun)
        job.end()
    assert_same(first, second)
