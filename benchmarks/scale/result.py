"""Result: what a simulated job did, and what held it up."""

from __future__ import annotations

from dataclasses import dataclass, fields

WORDS = {
    "computing": "compute",
    "exchanging": "trainer CPU",
    "shard": "shard CPU",
    "shard_card": "shard link",
    "trainer_card": "trainer link",
    "stragglers": "stragglers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the time that passed: how much of it an average trainer computed, or did the work of exchanging
    (``exchanging``); the busiest shard was at work, its card, or the busiest trainer's card; and how long on
    average a trainer was held by its mode while the shard had nothing to do: it waited for slower ones."""

    computing: float
    shard: float
    shard_card: float
    trainer_card: float
    stragglers: float
    exchanging: float = 0.0

    @property
    def bottleneck(self) -> str:
        """What takes most of the time."""
        return WORDS[max((field.name for field in fields(self)), key=lambda name: getattr(self, name))]


@dataclass(frozen=True, slots=True)
class Result:
    """``batches`` of all trainers in ``elapsed_s``. ``trainer_cpu_s``, ``shards_cpu_s``: processor time of a
    batch without its computation, of its trainer and of all shards that were simulated. ``dropped``: the
    share of pushes that was discarded."""

    batches: int
    elapsed_s: float
    shares: Shares
    trainer_cpu_s: float
    shards_cpu_s: float
    dropped: float = 0.0

    @property
    def cpu_s(self) -> float:
        """Both."""
        return self.trainer_cpu_s + self.shards_cpu_s

    @property
    def steps_per_s(self) -> float:
        """Batches per second, of all trainers together."""
        return self.batches / self.elapsed_s
