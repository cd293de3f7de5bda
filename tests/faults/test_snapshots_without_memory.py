"""Snapshots for which the system has no memory: real processes that may have no more address space.

What a test patches fails where it says; here whatever asks first does.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RowsSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from tests.cluster.by_hand import RUNTIME
from tests.faults.conftest import ROOT
from tests.faults.pservers import STEPS, TRAINERS, pservers
from tests.pserver.conftest import update
from tests.pserver.test_equality import assert_same, locally
from tests.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

SPARSE = 2
PERIOD, FILLED = 10, 2  # in so many periods a table gets its rows
MODEL = (
    ParameterSpec(name="w", shape=(3000,)),
    ParameterSpec(name="o", shape=(OPEN, 1), sparse=True, rows=RowsSpec()),
)
AT_ONCE = 50_000  # of each trainer: 2,000,000 rows, whose ids alone are 16 MB
SLACK = 4 << 20
PATIENCE_S = 240.0  # a disk that others write to, too, takes its time


def step(exchange: RemoteExchange, rows: range) -> None:
    ids = np.array(rows, np.int64)
    gradient = SparseRows(ids, np.ones((len(ids), 1), np.float32), OPEN)
    exchange.step({"w": np.ones(3000, np.float32), "o": gradient}, 1)


def limit(pid: int, more_bytes: int | None) -> None:
    """So much more address space; None: as much as it likes."""
    _, most = resource.prlimit(pid, resource.RLIMIT_AS)
    now = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(pid, resource.RLIMIT_AS, (most if more_bytes is None else now + more_bytes, most))


def tried(status: Any) -> int:
    """How many of the cuts that were due are over, and their memory is free."""
    return int(status["snapshots"]["period"] + status["snapshots_failed"])


def test_a_shard_that_has_no_memory_for_a_cut_goes_on_and_writes_the_next_one(tmp_path: Path) -> None:
    both, seen = Barrier(TRAINERS), list[Any]()
    with pservers(tmp_path / "kept", f"--snapshot_period={PERIOD}") as job:

        def train(exchange: RemoteExchange, id: int) -> None:
            exchange.start(MODEL, update(), {"w": np.zeros(3000, np.float32)})
            for turn, more_bytes in enumerate((None, None, SLACK, None), 1):
                if id == 0:
                    limit(job.children()[SPARSE], more_bytes)
                both.wait(PATIENCE_S)
                for number in range(PERIOD):
                    first = 2 * AT_ONCE * (PERIOD * (turn - 1) + number) + id * AT_ONCE
                    step(exchange, range(first, first + AT_ONCE) if turn <= FILLED else range(number))
                if id == 0:
                    until(lambda: tried(job.status(SPARSE)) == turn, "a snapshot to be over", PATIENCE_S)  # noqa: B023
                    seen.append(job.status(SPARSE))
                both.wait(PATIENCE_S)

        job.run(lambda exchange: train(exchange, 0), lambda exchange: train(exchange, 1))
        log = job.end()
    assert seen[-1]["tables"][0]["rows"] == 2 * AT_ONCE * PERIOD * FILLED
    assert [each["snapshots_failed"] for each in seen] == [0, 0, 1, 1]
    assert log.count("a snapshot could not be written: there is no memory to copy what it is of") == 1


@pytest.mark.parametrize("shard", [0, SPARSE], ids=["dense", "sparse"])
def test_where_a_snapshot_may_take_no_memory_steps_wait_for_it_and_no_bit_is_different(
    tmp_path: Path, shard: int
) -> None:
    spec, seen = update("momentum"), list[Any]()
    with pservers(tmp_path / "kept", "--snapshot_memory=0", "--snapshot_period=3") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == 8:
                until(lambda: job.status(shard)["snapshots"]["period"], "a snapshot to last", PATIENCE_S)
                seen.append(job.status(shard)["snapshots_failed"])
                job.kill(shard)

        first, second = job.train(spec, disturb)
        job.end()
    assert seen == [0]
    assert_same(first, second)
    assert_same(first, locally(spec, TRAINERS, STEPS))


ASIDE = """
import resource, sys
import numpy as np
from pathlib import Path
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.streamed import pieces
from tests.pserver.hashed import normal, table, update

of, other = table(width=16, how=update("adam")), table(width=16, how=update("adam"))
ids = np.arange(400_000)
for step in (1, 2):
    for each in (of, other):
        each.apply([Rows(ids, normal(step, len(ids), 16))], None, 0.1, step)
third = [Rows(part, normal(3, len(part), 16)) for part in np.split(ids, 40)]
cut = of.cut(CutRoom(), 0)
now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (8 << 20), resource.RLIM_INFINITY))
for step, part in enumerate(third, 3):
    of.apply([part], None, 0.1, step)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for step, part in enumerate(third, 3):
    other.apply([part], None, 0.1, step)
assert of.peek(ids).tobytes() == other.peek(ids).tobytes()
try:
    for array in cut.values():
        for piece in pieces(array):
            pass
except OSError as error:
    print(error)
"""


def test_a_table_that_has_no_memory_to_keep_rows_aside_goes_on_with_the_right_ones() -> None:
    ran = subprocess.run(
        [sys.executable, "-P", "-c", ASIDE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(RUNTIME), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ran.returncode == 0, ran.stderr
    assert "rows that changed meanwhile could not be kept" in ran.stdout
