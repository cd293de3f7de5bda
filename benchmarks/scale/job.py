"""Job: trainers, servers and what is between them, simulated for some batches of each trainer.

Shards are alike: placement gives each the same share, and every trainer speaks with all of them in the same
order. So of many, ``simulated`` are enough, spread over that order, the first and the last among them; on the
trainers' side each stands for its share of all (connection.py), so that trainers compute, send and receive no
less than they would. What is lost is the greatest of many shards' chance delays, of which there are few: a
shard's work has no chance in it but when trainers come.

Guarantee: a job and its noise's seed give the same result everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.scale.agenda import Agenda
from benchmarks.scale.connection import Connection, Part
from benchmarks.scale.cores import Cores, OwnCore, SharedCores, Thread
from benchmarks.scale.costs import Costs
from benchmarks.scale.links import Card, Network
from benchmarks.scale.noise import Noise
from benchmarks.scale.result import Result, Shares
from benchmarks.scale.script import script_of
from benchmarks.scale.server import Question, Server
from benchmarks.scale.trainer import Trainer
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where processes run. ``shared_cores``: all on one machine with so many; 0: each process has a core.

    ``gbit``: of the card of each machine, 0: no network. A machine has ``trainers`` of them, or ``shards`` of
    each role, which share its card: trainers as they come, shards in equal parts (they are busy together).
    """

    shared_cores: float = 0.0
    gbit: float = 0.0
    latency_s: float = 0.0
    trainers: int = 1
    shards: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """``dense``, ``sparse``: shards of each role. ``batches``: of each trainer; ``simulated``: see the
    module's text."""

    workload: Workload
    mode: ModeSpec
    trainers: int
    dense: int = 1
    sparse: int = 1
    machines: Machines = field(default_factory=Machines)
    noise: Noise = field(default_factory=Noise)
    batches: int = 20
    simulated: int = 4


def weights(shards: int, simulated: int) -> list[int]:
    """For how many shards each of those stands that are simulated."""
    few = min(shards, simulated)
    return [shards * (index + 1) // few - shards * index // few for index in range(few)]


def simulate(job: Job, costs: Costs) -> Result:
    """Run it until a trainer has done its batches: as long as all are at work."""
    return simulated_servers(job, costs)[0]


def simulated_servers(job: Job, costs: Costs) -> tuple[Result, list[Server]]:
    """The same, and what the servers know at the end."""
    run = _Run(job, costs)
    return run.result(), run.servers


class _Run:
    """One simulation."""

    def __init__(self, job: Job, costs: Costs) -> None:
        self._job, self._costs, self._agenda = job, costs, Agenda()
        self._done = [0] * job.trainers
        self._worked = [0.0] * job.trainers  # until its last batch that is done
        machines = job.machines
        self._network = Network(self._agenda, machines.latency_s)
        self._byte_s = 8e-9 / machines.gbit if machines.gbit else 0.0
        own, shared = OwnCore(self._agenda), machines.shared_cores
        self._cores: Cores = SharedCores(self._agenda, shared) if shared else own
        few = len(weights(max(job.dense, job.sparse), job.simulated))
        cards = [Card(self._byte_s * machines.shards) for _ in range(few)]
        load = job.workload
        shard = costs.shard
        self._dense = self._servers(job.dense if load.floats else 0, cards, shard.wake_s)
        self._sparse = self._servers(job.sparse if load.rows else 0, cards, shard.table_wake_s)
        self._cards = [Card(self._byte_s) for _ in range(-(-job.trainers // machines.trainers))]
        self._threads = [Thread(self._cores) for _ in range(job.trainers)]
        batches = script_of(job.mode, job.trainers, job.batches)
        self._times = [job.noise.times(load.compute_s, id, job.batches) for id in range(job.trainers)]
        for id in range(job.trainers):
            self._agenda.begin(self._trainer(id).run(batches, self._times[id]))

    def _servers(self, count: int, cards: Sequence[Card], wake_s: float) -> list[tuple[Server, Part, int]]:
        job, shard = self._job, self._costs.shard
        part = Part(job.workload, self._costs, count, is_live=not job.mode.is_in_step)

        def server(card: Card) -> Server:
            given = shard, job.mode, job.trainers, _speak, wake_s
            return Server(self._agenda, self._cores, card, *given)

        parts = weights(count, job.simulated) if count else ()
        return [(server(card), part, weight) for card, weight in zip(cards, parts, strict=False)]

    def _trainer(self, id: int) -> Trainer:
        job, card, thread = self._job, self._cards[id // self._job.machines.trainers], self._threads[id]

        def connections(servers: Sequence[tuple[Server, Part, int]]) -> list[Connection]:
            return [
                Connection(id, server, part, weight, self._network, thread, card)
                for server, part, weight in servers
            ]

        return Trainer(
            id,
            connections(self._dense),
            connections(self._sparse),
            workload=job.workload,
            costs=self._costs.trainer,
            mode_costs=self._costs.of_mode(job.mode.name),
            hears_own=job.mode.name != "geo",
            thread=thread,
            on_batch=self._batch_done,
        )

    def _batch_done(self, id: int) -> None:
        self._done[id] += 1
        self._worked[id] = self._threads[id].busy_s
        self._agenda.is_over = self._done[id] == self._job.batches

    @property
    def servers(self) -> list[Server]:
        """Those that are simulated."""
        return [server for server, _, _ in (*self._dense, *self._sparse)]

    def result(self) -> Result:
        """Run, and say what came of it."""
        self._agenda.run()
        elapsed_s, job, servers = self._agenda.now, self._job, self.servers
        computed = sum(sum(times[:done]) for times, done in zip(self._times, self._done, strict=True))
        worked = sum(self._worked)
        cards = [server.card for server in servers]
        idle_s = max(server.held_idle_s for server in servers) / job.trainers
        shares = Shares(
            computing=computed / job.trainers / elapsed_s,
            exchanging=max(0.0, worked - computed) / job.trainers / elapsed_s,
            shard=max(server.busy_s for server in servers) / elapsed_s,
            shard_card=max(max(card.sending_s, card.receiving_s) for card in cards) / elapsed_s,
            trainer_card=max(max(card.sending_s, card.receiving_s) for card in self._cards) / elapsed_s,
            stragglers=idle_s / elapsed_s,
        )
        dropped = sum(sum(server.clocks.dropped) for server in servers)
        pushed = sum(sum(server.clocks.pushes) for server in servers)
        batches = sum(self._done)
        own_s, served_s = max(0.0, worked - computed), sum(server.busy_s for server in servers)
        lost = dropped / pushed if pushed else 0.0
        return Result(batches, elapsed_s, shares, own_s / batches, served_s / batches, lost)


def _speak(question: Question) -> None:
    question.asker.answered(question)
