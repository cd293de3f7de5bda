"""Orders: what the field is told to do, and the field as its commander holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from benchmarks.json_process import JsonProcess
from benchmarks.scale.job import Job, Machines
from benchmarks.scale.noise import Noise
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec

_DEADLINE_S = 180.0
Part = Literal["pull", "prefetch", "push", "train"]


class FieldError(Exception):
    """A real run failed; the message has its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who does what in a real run. ``batches``: of each trainer."""

    workload: Workload
    mode: ModeSpec = field(default_factory=ModeSpec)
    trainers: int = 1
    dense: int = 1
    sparse: int = 1
    batches: int = 20
    noise: Noise = field(default_factory=Noise)


@dataclass(frozen=True, slots=True)
class Real:
    """What a real run did until its first trainer had done its batches. ``trainer_cpu_s``, ``shard_cpu_s``:
    processor time of a batch, without its computation, of its trainer and of all shards. ``others``: the
    share of the machine that others kept busy meanwhile."""

    batches: int
    elapsed_s: float
    trainer_cpu_s: float
    shard_cpu_s: float
    others: float

    @property
    def cpu_s(self) -> float:
        """Processor time of a batch, its computation left out."""
        return self.trainer_cpu_s + self.shard_cpu_s

    @property
    def steps_per_s(self) -> float:
        """Batches per second, of all trainers together."""
        return self.batches / self.elapsed_s


@dataclass(frozen=True, slots=True)
class Probed:
    """Processor time of one time: ``trainer_s`` of each, in their order; ``shards_s``: of all shards
    together, on average."""

    trainer_s: tuple[float, ...]
    shards_s: float


def job_of(order: Order, cores: float) -> Job:
    """The job that an order orders, on so many cores."""
    return Job(
        workload=order.workload,
        mode=order.mode,
        trainers=order.trainers,
        dense=order.dense,
        sparse=order.sparse,
        machines=Machines(shared_cores=cores),
        noise=order.noise,
        batches=order.batches,
    )


class Field:
    """The process of field.py. Guarantee: leaving the ``with`` block ends it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = JsonProcess("benchmarks.scale.field", environment=environment, deadline_s=_DEADLINE_S)

    def __enter__(self) -> Field:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.end()

    def run(self, order: Order) -> Real:
        """Do one real run."""
        answer = self.ask({"do": "run", **asdict(order)})
        began, trainers = answer["began"], answer["trainers"]
        first = min(told["ended"][-1] for told in trainers)
        batches = sum(time <= first for told in trainers for time in told["ended"])
        total = order.batches * order.trainers
        return Real(
            batches,
            first - began,
            sum(told["cpu_s"] for told in trainers) / total,
            sum(answer["shard_cpu_s"]) / total,
            answer["others"],
        )

    def probe(self, order: Order, parts: Sequence[Part], for_s: float) -> dict[str, Probed]:
        """Have one trainer do each of ``parts`` for so long."""
        told = self.ask({"do": "probe", **asdict(order), "parts": parts, "for_s": for_s})
        return {part: Probed(tuple(told[part]["trainer"]), told[part]["shards"]) for part in parts}

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and wait for its answer."""
        self._process.tell(request)
        answer = self._process.hear()
        if answer is None:
            raise FieldError("the process of the real runs ended with no answer")
        if "error" in answer:
            raise FieldError(answer["error"])
        return answer
