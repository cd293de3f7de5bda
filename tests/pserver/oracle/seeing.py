"""What trainers see of a job, in order, with real pservers on loopback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from paddle._engine.exchange import Exchange
from paddle._pserver.trainer.trainer_modes import in_mode

from ..conftest import Pservers
from .job import TRAINERS, Event, Job, samples
from .table import DENSE

Sight = dict[str, np.ndarray]


class Seeing:
    """A trainer, and all that it sees, in order."""

    def __init__(self, job: Job, exchange: Exchange) -> None:
        self.job, self.exchange, self.sights = job, exchange, list[Sight]()
        self.arrays = exchange.start(job.model, job.update, job.values)

    def do(self, what: str, place: int) -> None:
        if what == "fetch":
            self.fetch()
            return
        ids = self.job.rows(place)
        packed = {name: ids[name] for name in ids if name in self.arrays}
        self.exchange.prefetch(packed)
        rows = {name: self.arrays[name][mine] for name, mine in packed.items()}
        opened = {name: mine for name, mine in ids.items() if name not in packed}
        if opened:
            rows |= self.exchange.lookup(opened, training=True)
        self.sights.append(rows)
        dropped = self.exchange.step(self.job.batch(place), samples(place)).dropped > 0
        dense = {p.name: self.arrays[p.name].copy() for p in DENSE}
        self.sights.append({**dense, "dropped": np.array(dropped)})

    def fetch(self, *, is_last: bool = False) -> None:
        """In step another one may be making rows of open tables meanwhile."""
        self.exchange.fetch()
        seen = {name: array.copy() for name, array in self.arrays.items()}
        for p in self.job.model:
            if p.is_open and (is_last or not self.job.cell.mode.is_in_step):
                rows = self.exchange.export(p.name)
                seen |= {p.name: rows.values, f"ids of {p.name}": rows.ids}
        self.sights.append(seen)
        if self.job.average is not None:
            self.sights.append({name: array.copy() for name, array in self.exchange.averages().items()})


def trained(pservers: Pservers, job: Job, passes: list[list[Event]]) -> list[list[Sight]]:
    """In step each trainer goes its own way, in a thread; else they take turns, but where a pass ends."""
    trainers = range(TRAINERS)
    exchanges = [in_mode(pservers.exchange(id), job.cell.mode, TRAINERS) for id in trainers]
    with ThreadPoolExecutor(TRAINERS) as pool:
        seeing = list(pool.map(lambda exchange: Seeing(job, exchange), exchanges))

        def run(id: int) -> None:
            for number, events in enumerate(passes):
                exchanges[id].begin_pass(number)
                for place, (who, what) in enumerate(events):
                    if who == id:
                        seeing[id].do(what, 100 * number + place)
                exchanges[id].end_pass(number)
                seeing[id].fetch(is_last=number == len(passes) - 1)
            exchanges[id].close()

        if job.cell.mode.is_in_step:
            list(pool.map(run, trainers))
            return [each.sights for each in seeing]
        for number, events in enumerate(passes):
            for each in exchanges:
                each.begin_pass(number)
            for place, (id, what) in enumerate(events):
                seeing[id].do(what, 100 * number + place)
            for each in seeing:
                each.fetch()
            list(pool.map(ended, exchanges, [number] * TRAINERS))
        for each in seeing:
            each.fetch()
        for exchange in exchanges:
            exchange.close()
    return [each.sights for each in seeing]


def ended(exchange: Exchange, number: int) -> None:
    """Waits for the other's."""
    exchange.end_pass(number)
