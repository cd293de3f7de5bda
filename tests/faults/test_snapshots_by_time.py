"""Also where trainers are in step there is a snapshot every so often, of the same step at all shards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from tests.faults.pservers import pservers, versions
from tests.pserver.conftest import BIAS, TABLE, update, values_of

pytestmark = [pytest.mark.faults, pytest.mark.patient]

AT_LEAST = 2
MODEL = (BIAS, TABLE)
VALUES = values_of(MODEL, 3)


def test_in_step_all_shards_write_the_same_step_by_the_clock(tmp_path: Path) -> None:
    flags = ("--snapshot_period=1000000", "--snapshot_interval=1", "--snapshot_keep=1000")
    with pservers(tmp_path / "kept", *flags) as job:
        folders = [tmp_path / "kept" / name for name in ("dense-0", "dense-1", "sparse-0")]

        def train(exchange: RemoteExchange, id: int) -> int:
            exchange.start(MODEL, update(), VALUES)
            for step in range(1 << 30):
                if id == 0 and not step % 20 and all(len(versions(folder)) >= AT_LEAST for folder in folders):
                    ends.append(step + 100)  # which the other one has not reached: it is a step ahead at most
                if ends and step == ends[0]:
                    break
                rows = SparseRows(np.array([id, 2]), np.ones((2, 6), np.float32), 50)
                version = exchange.step({"b": np.ones(60, np.float32), "emb": rows}, 1).version
            return version

        ends: list[int] = []
        steps = job.run(lambda exchange: train(exchange, 0), lambda exchange: train(exchange, 1))
        job.end()
    written = [versions(folder) for folder in folders]
    assert written[0] == written[1] == written[2]
    assert written[0][-1] == steps[0] == steps[1]  # that of the goodbye
    assert len(written[0]) > AT_LEAST and all(version % 1_000_000 for version in written[0])
