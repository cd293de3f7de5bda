"""Pserver processes are killed where trainers are not in step, and what they had counted is not lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.remote import RemoteExchange
from paddle._pserver.trainer_modes import in_mode
from tests.pserver.conftest import values_of
from tests.pserver.test_equality import MODEL, assert_same, gradients_of, seed_of, update

from .test_pserver_killed import TRAINERS, Job, pservers

pytestmark = pytest.mark.faults

STEPS = 12


def train(
    job: Job, mode: ModeSpec, begun: Callable[[int, RemoteExchange], None]
) -> list[dict[str, np.ndarray]]:
    """What the trainers end with; ``begun(trainer, exchange)`` is called before the first step."""

    def run(trainer_id: int) -> dict[str, np.ndarray]:
        remote = RemoteExchange(
            ["127.0.0.1"],
            port=job.port,
            ports_num=2,
            ports_num_for_sparse=1,
            num_gradient_servers=TRAINERS,
            trainer_id=trainer_id,
            call_timeout_s=30,
            notice=lambda text: None,
        )
        exchange = in_mode(remote, mode, TRAINERS)
        try:
            arrays = exchange.start(MODEL, update("sgd", mode=mode), values_of(MODEL, trainer_id))
            begun(trainer_id, remote)
            exchange.begin_pass(0)
            for step in range(STEPS):
                gradients = gradients_of(MODEL, seed_of(trainer_id, step))
                exchange.prefetch({n: g.ids for n, g in gradients.items() if isinstance(g, SparseRows)})
                exchange.step(gradients, samples=8)
            exchange.end_pass(0)
            exchange.fetch()
            result = {name: array.copy() for name, array in arrays.items()}
        except BaseException as error:
            exchange.close(str(error))
            raise
        exchange.close()
        return result

    with ThreadPoolExecutor(TRAINERS) as pool:
        return list(pool.map(run, range(TRAINERS), timeout=120))


@pytest.mark.parametrize(("asked", "times"), [("ask_changes", 1), ("hear_count", 1), ("hear_count", 2)])
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
