"""Tasks of which batches are read ahead: what a master is told of them, and when."""

from __future__ import annotations

import threading
from pathlib import Path

from paddle._data.ahead import SourceAhead
from paddle._data.turn import learned
from paddle._pserver.tasks.client import MasterClient, Patience
from paddle.batch import batch
from tests.waiting import PATIENCE_S

from .test_tasks_master import Clock, a_master, serving
from .test_tasks_master import data as data


def test_a_task_counts_as_finished_when_what_was_read_of_it_has_been_learned(data: Path) -> None:
    clock, asked = Clock(), threading.Event()
    master = a_master(clock)

    def before_finished() -> None:
        asked.set()
        learned()

    with serving(master) as address:
        client = MasterClient(address, Patience(clock=clock, sleep=clock.sleep))
        client.set_dataset([f"{data}/*"])
        reader = batch(lambda: client.records(0, before_finished=before_finished), 4)  # a task each
        with SourceAhead(reader, lambda rows: {}, lambda: 0.0) as source:
            assert source.next() is not None
            source.begin_turn()
            assert asked.wait(PATIENCE_S) and master.queue.counts()["done"] == 0
            source.end_turn()
            assert source.next() is not None and master.queue.counts()["done"] == 1
        client.release()
