"""The process that keeps open tables is killed in the midst of training, and the job ends with the bits of
one to which nothing happened: rows, state, ids that were counted, days that ended."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.pserver.tables.test_open_tables import CHOOSY, assert_same, locally, model, trainer
from tests.pserver.test_equality import update
from tests.waiting import PATIENCE_S

from .pservers import TRAINERS, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]

SPARSE = 2  # its number among the shards
SHRINKS = 3


@pytest.mark.parametrize("entry", [pytest.param("always", marks=pytest.mark.thorough), "count"])
@pytest.mark.parametrize("when", [0, 2, 3, 4, 5])
def test_a_killed_shard_of_open_tables_comes_back_and_no_bit_is_different(
    tmp_path: Path, when: int, entry: str
) -> None:
    spec, parameters = update("adam", l2_rate=0.01), model(CHOOSY[entry])
    both = threading.Barrier(TRAINERS, timeout=PATIENCE_S)
    with pservers(tmp_path / "kept", "--snapshot_period=2") as job:

        def kill(step: int) -> None:
            if step == when:
                both.wait()  # rows were looked up, and counted, since the last snapshot
                job.kill(SPARSE)

        def wait(step: int) -> None:
            if step == when:
                both.wait()

        first, second = job.run(
            *(trainer(id, spec, parameters, SHRINKS, (kill, wait)[id]) for id in range(TRAINERS))
        )
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, parameters, shrinks=SHRINKS))
