"""A trainer fails for its own reasons while pserver processes are being started again."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from paddle._pserver.errors import ShardUnreachable, TrainerLost
from paddle._pserver.trainer.remote import RemoteExchange
from tests.pserver.test_equality import trainer, update
from tests.waiting import PATIENCE_S, until

from .pservers import STEPS, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]


@pytest.mark.parametrize("killed", [(0,), (0, 1, 2)])
def test_pservers_that_come_back_hear_of_it_and_nobody_waits(tmp_path: Path, killed: tuple[int, ...]) -> None:
    """Else they would, for 600 s of ``barrier_timeout``."""
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == 7:
                dead = [job.children()[shard] for shard in killed]
                for shard in reversed(killed):
                    job.kill(shard)
                until(lambda: not set(dead) & set(job.children()), "they are gone")
                raise KeyError("a word")

        with pytest.raises((KeyError, TrainerLost), match="a word"):
            job.train(update("momentum"), disturb)
        assert job.process.wait(PATIENCE_S) == 1


class Impatient(RemoteExchange):
    """Of which trainer 0 gives up long before a process can be there again."""

    def __init__(self, *pservers: Any, trainer_id: int, **options: Any) -> None:
        patience_s = 0.1 if trainer_id == 0 else 60
        super().__init__(*pservers, trainer_id=trainer_id, reconnect_timeout_s=patience_s, **options)


def test_one_that_gives_up_a_moment_before_pservers_are_back_keeps_no_other_waiting(tmp_path: Path) -> None:
    """The other one comes back, and what it tells again waits for who is gone."""
    spec = update("momentum")
    with pservers(tmp_path / "kept") as job:

        def disturb(step: int) -> None:
            if step == 7:
                os.kill(job.process.pid, signal.SIGSTOP)  # which would start them again
                for shard in job.children():
                    os.kill(shard, signal.SIGKILL)

        def gives_up(exchange: RemoteExchange) -> object:
            try:
                return trainer(0, spec, STEPS, before_step=disturb)(exchange)
            finally:
                os.kill(job.process.pid, signal.SIGCONT)

        # which of the two is through first is open: the other hears of it while the one still says goodbye
        with pytest.raises((ShardUnreachable, TrainerLost), match="did not come back"):
            job.run(gives_up, trainer(1, spec, STEPS), kind=Impatient)
        assert job.process.wait(PATIENCE_S) == 1
