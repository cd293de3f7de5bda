"""Report: all that can be seen of one pserver process at one moment: its shard's status, and what is measured
around the shard. JSON, metrics, the page and the log all show this one struct.

It must never change anything, and holds nothing secret: no value of a parameter, no token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from paddle._pserver.memory import memory
from paddle._pserver.service.meter import BOUNDS_S, Latency, Meter, Rates, Traffic
from paddle._pserver.service.status import Status, status
from paddle._pserver.shard.roster import MOST_NAMED
from paddle._pserver.shard.shard import Shard

_MB = 1 << 20


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """Who came to the door. ``locked``: a token is wanted; ``denied``: how often, by reason."""

    locked: bool = False
    challenges: int = 0
    admitted: int = 0
    denied: dict[str, int] = {}


class Report(Status, frozen=True, kw_only=True):
    """See the module's text. ``memory_limit_bytes``: what the shard's tables may need."""

    name: str
    uptime_s: float
    rates: Rates
    latencies: dict[str, Latency]
    latency_bounds_s: tuple[float, ...] = BOUNDS_S
    busy_s: float
    traffic: Traffic = Traffic()
    drops: int
    damaged_frames: int
    memory_bytes: int
    memory_limit_bytes: int
    door: Door = Door()


_NONE, _OPEN = Traffic(), Door()


def report(
    shard: Shard,
    meter: Meter,
    *,
    name: str,
    damaged_frames: int,
    since: float,
    now: float,
    shard_now: float,
    traffic: Traffic = _NONE,
    door: Door = _OPEN,
) -> Report:
    """The process at ``now``; it began ``since``. ``shard_now``: on the clock by which the shard waits."""
    own = msgspec.structs.asdict(status(shard, shard_now))
    return Report(
        **own,
        name=name,
        uptime_s=round(now - since, 1),
        rates=meter.rates(shard.clocks.version, shard.clocks.samples, now),
        latencies=meter.latencies(),
        busy_s=meter.busy_s,
        traffic=traffic,
        drops=meter.drops,
        damaged_frames=damaged_frames,
        memory_bytes=memory.resident_bytes(),
        memory_limit_bytes=shard.options.memory_limit_bytes,
        door=door,
    )


def lines(seen: Report) -> Iterator[str]:
    """The report for a log."""
    yield _work(seen)
    for question, latency in seen.latencies.items():
        if latency.count:
            half, most = within(latency.bound_of(0.5)), within(latency.bound_of(0.99))
            yield f"{question}: {latency.count} answered, half {half}, 99 % {most}"
    if seen.dense_values:
        yield f"dense parameters: {seen.dense_values} values, {seen.dense_bytes / _MB:.1f} MiB"
    for table in seen.tables:
        waiting = f", {table.candidates} ids without a row" if table.candidates else ""
        yield f"table {table.name}: {table.rows} rows, {table.bytes / _MB:.1f} MiB{waiting}"
    yield from _trainers(seen)
    if seen.waiting_for:
        yield f"waiting {seen.waiting_s:.0f} s for {named(seen.waiting_for)}"
    if any(seen.snapshots.values()) or seen.snapshots_failed:
        last = f", the last {seen.snapshots_failing} of them" if seen.snapshots_failing else ""
        yield f"snapshots: {_counted(seen.snapshots)} written, {seen.snapshots_failed} not{last}"
    if seen.door.locked:
        yield f"door: {seen.door.admitted} admitted, {_counted(seen.door.denied)} refused"


def _work(seen: Report) -> str:
    rates = seen.rates
    return (
        f"{seen.version} steps: per second {rates.steps:.1f} steps, {rates.samples:.0f} samples, "
        f"{rates.pushes:.1f} pushes, {rates.pulls:.1f} pulls, {rates.drops:.1f} drops; "
        f"busy {100 * rates.busy:.0f} %, memory {seen.memory_bytes / _MB:.0f} MiB "
        f"(parameters may need {seen.memory_limit_bytes / _MB:.0f}), "
        f"received {seen.traffic.received / _MB:.1f} MiB, sent {seen.traffic.sent / _MB:.1f} MiB, "
        f"{seen.damaged_frames} damaged frames; {seen.samples} samples in all"
    )


def _counted(by: Mapping[str, int]) -> str:
    """How many there are, and of which kinds."""
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in by.items() if count)
    return f"{sum(by.values())} ({kinds})" if kinds else "0"


def _trainers(seen: Report) -> Iterator[str]:
    """Each; of very many those that are furthest behind."""
    furthest = sorted(seen.trainers, key=lambda trainer: -trainer.staleness)[:MOST_NAMED]
    for trainer in sorted(furthest, key=lambda trainer: trainer.trainer_id):
        yield (
            f"trainer {trainer.trainer_id} {trainer.state}: {trainer.pushes} pushes, "
            f"{trainer.staleness} behind, {trainer.dropped} discarded"
        )
    if (more := len(seen.trainers) - MOST_NAMED) > 0:
        yield f"and {more} trainers more, none of them further behind"


def named(trainers: tuple[int, ...]) -> str:
    """Trainers, for people; of very many the first."""
    shown = ", ".join(f"trainer {id}" for id in trainers[:MOST_NAMED])
    return f"{shown} and {more} more" if (more := len(trainers) - MOST_NAMED) > 0 else shown


def within(bound: float) -> str:
    """A bound of the histograms, or infinity behind them, for people."""
    if bound > BOUNDS_S[-1]:
        return f"above {BOUNDS_S[-1]:g} s"
    return f"within {bound * 1000:g} ms" if bound < 1 else f"within {bound:g} s"


def duration(seconds: float) -> str:
    """For people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, hours = int(seconds / 60), int(seconds / 3600)
    if hours == 0:
        return f"{minutes} min {int(seconds % 60)} s"
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"
