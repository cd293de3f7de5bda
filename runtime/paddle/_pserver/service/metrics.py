"""Metrics: a report in the text format of Prometheus, version 0.0.4.

It must never know where the text goes. Guarantee: every metric is a row of ``METRICS``, has one type and one
meaning, and is described in docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from paddle._pserver.service.meter import BOUNDS_S
from paddle._pserver.service.report import Report
from paddle._pserver.trust.auth import REASONS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "paddle_pserver_"

Sample = tuple[str, float]
"""What follows the metric's name, such as ``{trainer="0"}``, and the value."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: how its samples are read from a report."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: Callable[[Report], Iterable[Sample]]


def text(report: Report) -> str:
    """All metrics of a report."""
    return "".join(f"{line}\n" for metric in METRICS for line in _lines(metric, report))


def _lines(metric: Metric, report: Report) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for suffix, value in metric.samples(report):
        yield f"{metric.name}{suffix} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def label(name: str, value: object) -> str:
    """One label in its braces."""
    escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{{{name}="{escaped}"}}'


def _one(read: Callable[[Report], float]) -> Callable[[Report], Iterable[Sample]]:
    return lambda report: [("", read(report))]


def _states(report: Report) -> Iterator[Sample]:
    for state in ("waiting", "ready", "broken", "over"):
        yield label("state", state), float(report.state == state)


def _trainers(report: Report) -> Iterator[Sample]:
    for state in ("expected", "joined", "gone", "lost"):
        yield label("state", state), sum(trainer.state == state for trainer in report.trainers)


def _waited_for(report: Report) -> Iterator[Sample]:
    awaited = frozenset(report.waiting_for)
    for trainer in report.trainers:
        yield label("trainer", trainer.trainer_id), float(trainer.trainer_id in awaited)


def _per_trainer(read: Callable[..., float]) -> Callable[[Report], Iterable[Sample]]:
    return lambda report: [(label("trainer", one.trainer_id), read(one)) for one in report.trainers]


def _per_table(read: Callable[..., float]) -> Callable[[Report], Iterable[Sample]]:
    return lambda report: [(label("table", table.name), read(table)) for table in report.tables]


def _latencies(report: Report) -> Iterator[Sample]:
    for question, latency in report.latencies.items():
        bounds = [*(repr(bound) for bound in BOUNDS_S), "+Inf"]
        for bound, count in zip(bounds, accumulate(latency.counts), strict=True):
            yield f'_bucket{{question="{question}",le="{bound}"}}', count
        yield f'_sum{{question="{question}"}}', latency.sum_s
        yield f'_count{{question="{question}"}}', latency.count


def _denied(report: Report) -> Iterator[Sample]:
    for reason in REASONS:
        yield label("reason", reason), report.door.denied.get(reason, 0)


def _snapshots(report: Report) -> Iterator[Sample]:
    for cause, count in report.snapshots.items():
        yield label("cause", cause), count


def _row(
    kind: Literal["counter", "gauge", "histogram"],
    name: str,
    help: str,
    samples: Callable[[Report], Iterable[Sample]],
) -> Metric:
    return Metric(_PREFIX + name, kind, help, samples)


# fmt: off
METRICS = (
    _row("gauge", "state", "1 for the state that the shard is in, else 0.", _states),
    _row("gauge", "uptime_seconds", "Age of the process.", _one(lambda r: r.uptime_s)),
    _row("counter", "steps_total", "Steps applied.", _one(lambda r: r.version)),
    _row("counter", "samples_total", "Samples in these steps.", _one(lambda r: r.samples)),
    _row("counter", "drops_total", "Gradients discarded as stale.", _one(lambda r: r.drops)),
    _row("counter", "busy_seconds_total", "Time in which the shard was at work.", _one(lambda r: r.busy_s)),
    _row("counter", "received_bytes_total", "Bytes that came from trainers, framing included.",
         _one(lambda r: r.traffic.received)),
    _row("counter", "sent_bytes_total", "Bytes that went to trainers, framing included.",
         _one(lambda r: r.traffic.sent)),
    _row("histogram", "answer_seconds", "From a question to its answer, waits included.", _latencies),
    _row("counter", "damaged_frames_total", "Connections closed because of malformed frames.",
         _one(lambda r: r.damaged_frames)),
    _row("counter", "snapshots_total", "Snapshots written, by why they were.", _snapshots),
    _row("counter", "snapshots_failed_total", "Snapshots that could not be written.",
         _one(lambda r: r.snapshots_failed)),
    _row("gauge", "dense_values", "Values of dense parameters kept.", _one(lambda r: r.dense_values)),
    _row("gauge", "dense_bytes", "Bytes for these and their state.", _one(lambda r: r.dense_bytes)),
    _row("gauge", "table_rows", "Rows of a sparse table kept.", _per_table(lambda table: table.rows)),
    _row("gauge", "table_bytes", "Bytes for these and their state.", _per_table(lambda table: table.bytes)),
    _row("gauge", "table_candidates", "Ids that were seen and have no row yet.",
         _per_table(lambda table: table.candidates)),
    _row("gauge", "memory_bytes", "Resident memory of the process.", _one(lambda r: r.memory_bytes)),
    _row("gauge", "memory_limit_bytes", "What the shard's parameters may need.",
         _one(lambda r: r.memory_limit_bytes)),
    _row("gauge", "trainers", "Trainers by state.", _trainers),
    _row("counter", "trainer_pushes_total", "Gradients admitted: the trainer's clock.",
         _per_trainer(lambda trainer: trainer.pushes)),
    _row("counter", "trainer_drops_total", "Its gradients that were discarded as stale.",
         _per_trainer(lambda trainer: trainer.dropped)),
    _row("gauge", "trainer_staleness", "Pushes of this pass behind the furthest trainer in it.",
         _per_trainer(lambda trainer: trainer.staleness)),
    _row("gauge", "waiting_seconds", "Age of the oldest question that waits for a trainer.",
         _one(lambda r: r.waiting_s)),
    _row("gauge", "waited_for", "1 for a trainer that others wait for, else 0.", _waited_for),
    _row("gauge", "locked", "1 where a token is wanted, else 0.", _one(lambda r: r.door.locked)),
    _row("counter", "challenges_total", "Connections asked to prove that they have the token.",
         _one(lambda r: r.door.challenges)),
    _row("counter", "admitted_total", "Connections that did.", _one(lambda r: r.door.admitted)),
    _row("counter", "denied_total", "Connections and looks refused.", _denied),
)
# fmt: on
