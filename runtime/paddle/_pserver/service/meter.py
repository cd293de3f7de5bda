"""Meter: how long a shard's answers take, and how often it gives them. It stands around the shard and only
looks on; time is an argument.

It must never know what a question means. Guarantee: what it keeps does not grow with time, only with the
connections that have an open question.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    EndPass,
    Export,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Reply,
    Request,
    Waiting,
)

BOUNDS_S = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10.0,
    60.0,
)
"""Upper bounds of the buckets; one more takes the rest."""

QUESTIONS = {
    Push: "push",
    Pull: "pull",
    PullRows: "pull_rows",
    CountChanges: "count_changes",
    PullChanges: "pull_changes",
    Export: "export",
    EndPass: "end_pass",
}
_PULLS = ("pull", "pull_rows", "pull_changes", "export")
_WINDOW = 10  # looks over which rates are taken


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """A histogram. ``counts``: per bucket of ``BOUNDS_S``, not summed up, and the rest."""

    counts: tuple[int, ...]
    sum_s: float

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def bound_of(self, share: float) -> float:
        """The bound that ``share`` of all were within; infinity where that is none."""
        enough, so_far = share * self.count, 0
        for bound, count in zip(BOUNDS_S, self.counts, strict=False):
            so_far += count
            if so_far >= enough:
                return bound
        return float("inf")


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that went over connections, with all that frames them."""

    received: int = 0
    sent: int = 0


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Per second, over the last looks. ``busy``: the share of time in which the shard was at work."""

    steps: float = 0.0
    samples: float = 0.0
    pushes: float = 0.0
    pulls: float = 0.0
    drops: float = 0.0
    busy: float = 0.0


_NO_TRAFFIC = Traffic()


class Meter:
    """See the module's text. ``drops``: how many gradients were discarded so far, told again or not."""

    def __init__(self, drops: Callable[[], int] = lambda: 0) -> None:
        self._drops = drops
        self.busy_s = 0.0
        self.traffic = Traffic()  # of connections that are gone
        self._counts = {name: [0] * (len(BOUNDS_S) + 1) for name in QUESTIONS.values()}
        self._sums = dict.fromkeys(self._counts, 0.0)
        self._open: dict[int, tuple[str, float]] = {}
        self._looks: deque[Sequence[float]] = deque(maxlen=_WINDOW + 1)

    def asked(self, session: int, message: Request, now: float) -> None:
        """A question has come whole; of one that waits before it is dealt with the first time counts."""
        name = QUESTIONS.get(type(message))
        if name is not None:
            self._open.setdefault(session, (name, now))

    def told(self, session: int, reply: Reply, now: float) -> None:
        """Something is on its way to a trainer."""
        if type(reply) is Waiting or (question := self._open.pop(session, None)) is None:
            return
        if type(reply) is Answer:
            name, since = question
            self._counts[name][bisect_left(BOUNDS_S, now - since)] += 1
            self._sums[name] += now - since

    @property
    def drops(self) -> int:
        """So many gradients were discarded."""
        return self._drops()

    def worked(self, seconds: float) -> None:
        """The shard has dealt with something."""
        self.busy_s += seconds

    def lost(self, session: int, traffic: Traffic = _NO_TRAFFIC) -> None:
        """Nobody is there to answer any more; ``traffic`` went over this connection."""
        self._open.pop(session, None)
        self.traffic = self.total([traffic])

    def total(self, connections: Iterable[Traffic]) -> Traffic:
        """All traffic, that of ``connections`` included, which are still there."""
        each = [self.traffic, *connections]
        return Traffic(received=sum(one.received for one in each), sent=sum(one.sent for one in each))

    def latencies(self) -> dict[str, Latency]:
        """By kind of question."""
        return {
            name: Latency(counts=tuple(counts), sum_s=self._sums[name])
            for name, counts in self._counts.items()
        }

    def look(self, steps: int, samples: int, now: float) -> None:
        """Take note of all counters; call about once a second."""
        self._looks.append(self._now(steps, samples, now))

    def rates(self, steps: int, samples: int, now: float) -> Rates:
        """From the oldest look that is kept until now."""
        if not self._looks or now <= self._looks[0][0]:
            return Rates()
        past = self._looks[0]
        seconds = now - past[0]
        changes = zip(self._now(steps, samples, now), past, strict=True)
        _, *each = (max(0.0, (new - old) / seconds) for new, old in changes)  # a restored shard counts anew
        return Rates(**dict(zip(Rates.__struct_fields__, each, strict=True)))

    def _now(self, steps: int, samples: int, now: float) -> Sequence[float]:
        pushes, pulls = sum(self._counts["push"]), sum(sum(self._counts[name]) for name in _PULLS)
        return (now, steps, samples, pushes, pulls, self.drops, self.busy_s)
