"""The process that keeps open tables is killed in the midst of training, and the job ends with the bits of
one to which nothing happened: rows, state, ids that were counted, days that ended."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paddle._pserver.remote import RemoteExchange
from tests.pserver.test_equality import update
from tests.pserver.test_open_tables import CHOOSY, Result, assert_same, locally, model, trainer

from .test_pserver_killed import TRAINERS, pservers

pytestmark = pytest.mark.faults

SPARSE = 2  # its number among the shards
SHRINKS = 3


@pytest.mark.parametrize("entry", ["always", "count"])
@pytest.mark.parametrize("when", [0, 2, 3, 4, 5])
def test_a_killed_shard_of_open_tables_comes_back_and_no_bit_is_different(
    tmp_path: Path, when: int, entry: str
) -> None:
    spec, parameters = update("adam", l2_rate=0.01), model(CHOOSY[entry])
    both = threading.Barrier(TRAINERS, timeout=60)
    with pservers(tmp_path / "kept", "--snapshot_period=2") as job:

        def kill(step: int) -> None:
            if step == when:
                both.wait()  # rows were looked up, and counted, since the last snapshot
                job.kill(SPARSE)

        def run(id: int) -> Result:
            exchange = RemoteExchange(
                ["127.0.0.1"],
                port=job.port,
                ports_num=2,
                ports_num_for_sparse=1,
                num_gradient_servers=TRAINERS,
                trainer_id=id,
                notice=lambda text: None,
            )
            disturb = kill if id == 0 else lambda step: both.wait() if step == when else None
            result = trainer(id, spec, parameters, SHRINKS, disturb)(exchange)
            exchange.close()
            return result

        with ThreadPoolExecutor(TRAINERS) as pool:
            first, second = pool.map(run, range(TRAINERS), timeout=120)
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, parameters, shrinks=SHRINKS))
