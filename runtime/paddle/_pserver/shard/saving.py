"""Saving: when a shard's state is cut to be written, and who waits until it lasts.

1.  A cut is due at every version that ``period`` divides, so that all shards of a synchronous job are cut at
    the same versions; where trainers are not in step, also ``interval_s`` after the last one. In step clocks
    would cut shards at different versions: so a shard whose interval has passed says that in its answers
    (``Answer.wants_cut``), a trainer that hears it marks its next push to all shards (``Push.cut``), and the
    cut is due at the step of that push.
2.  Whoever asks for a cut gets one that is made after it asked: one that is being written by then is too old.
    But a trainer whose journal is full is served by that one, if it holds all that the trainer has told.
3.  One cut is written at a time. One that is due meanwhile is skipped; one that is asked for waits.
4.  A cut that cannot be written is logged, and whoever asked for it is called all the same, and told that it
    failed (``Then``): mostly training continues, with the snapshots that were there before.
5.  Every cut has a cause, which is logged and counted: what asked first, else what was due.
6.  A cut on demand is of a given version and held in memory first, and written when the shard is told to
    (demand.py). Then it is the one of rule 3, and serves nobody else. While one is expected no cut begins
    that is only due.
7.  In step shards can continue together only from cuts of one version that all of them have (rule 1). So none
    is due while a shard lacks the last one, because it still writes it, or failed to: trainers hear that from
    the shard and tell all (``lacking``). A shard that failed tries again, alone, when the next would be due.
8.  Who waits for a cut on a connection hears that every ``WORD_S``, however long a disk takes.

It must never know a disk. Without options nothing is ever due, and nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Mark

Then = Callable[[bool], None]
"""What happens once a cut lasts (True) or could not be written."""

CauseKind = Literal["start", "period", "interval", "journal", "resume", "left_out", "goodbye", "demand"]
CAUSES: tuple[CauseKind, ...] = get_args(CauseKind)


WORD_S = 5.0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is a cut; ``text``: for people."""

    kind: CauseKind
    text: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """Somebody waits for a cut; ``session``: on this connection."""

    cause: Cause
    then: Then
    session: int | None


class Known(NamedTuple):
    """What a cut holds of a trainer: the process that had its place, and what that had told."""

    process: str
    mark: Mark


class Saving:
    """See the module's text."""

    def __init__(self, options: SnapshotOptions | None) -> None:
        self.options = options
        self._known: Sequence[Known] | None = None  # of the trainers, in the cut that is being written
        self.counts: dict[str, int] = dict.fromkeys(CAUSES, 0)  # of cuts that last
        self.failed = self.failing = 0  # cuts that could not be written: all, and those since one could
        self._cause = Cause("start", "")  # of the cut that is being written
        self._asked: list[_Asked] = []
        self._served: list[_Asked] = []  # by the cut that is being written
        self._word_at = 0.0
        self._last_version = -1
        self._last_at = 0.0
        self._before_held: tuple[int, float] | None = None  # the last ones, while a cut is held
        self.is_expecting = False  # a cut to hold
        self.is_late = False  # by the clock (rule 1)
        self._named = -1  # a version at which a cut is due, as a trainer has said
        self._left_out = -1  # up to here none is by ``period``, as a trainer has said (rule 7)
        self._is_for_all = self._has_failed = False  # the cut that is being written; the last of these

    @property
    def is_busy(self) -> bool:
        """Whether something is being written, or will be."""
        return self._known is not None or bool(self._asked)

    def ask(self, cause: Cause, then: Then, session: int | None = None) -> None:
        """Cut as soon as possible, and call ``then`` when that is over, for which ``session`` waits."""
        if self.options is None:
            then(True)
        else:
            self._asked.append(_Asked(cause, then, session))

    def join(self, trainer: int, told: Known, then: Then, session: int | None = None) -> None:
        """The journal of ``trainer`` is full: the same, where a cut will do that holds what it ``told``."""
        cause = Cause("journal", f"the journal of trainer {trainer} is full (journal_limit)")
        if self._known is not None and self._before_held is None and self._known[trainer] == told:
            self._served.append(_Asked(cause, then, session))
        else:
            self.ask(cause, then, session)

    def kept_waiting(self, now: float) -> list[int]:
        """On which connections somebody is to be told that it waits (rule 8); call about once a second."""
        waiting = [asked.session for asked in (*self._served, *self._asked) if asked.session is not None]
        if waiting and now - self._word_at < WORD_S:
            return []
        self._word_at = now
        return waiting

    def look(self, version: int, now: float) -> None:
        """See whether the last cut is long ago, and no next one is named; call about once a second."""
        is_free = self._known is None and not self.is_expecting and version >= self._named
        self.is_late = self.options is not None and is_free and now - self._last_at >= self.options.interval_s

    @property
    def is_lacking(self) -> bool:
        """Whether the last cut that all shards are to have does not last here (rule 7)."""
        return self._has_failed or (self._known is not None and self._is_for_all)

    def told(self, version: int, *, cut: bool, lacking: bool) -> None:
        """A trainer has said to all shards that they are to be cut at ``version``, which is the next; or that
        some are ``lacking`` the last one."""
        if cut:
            self._named, self.is_late = version, False
        elif lacking:
            self._left_out = version

    def is_due(self, version: int) -> bool:
        """Whether ``version`` is one at which all shards are cut."""
        if self.options is None or version <= self._last_version:
            return False
        return version == self._named or (not version % self.options.period and version > self._left_out)

    def wants(self, version: int, now: float, *, in_step: bool) -> bool:
        """Whether to cut now."""
        if self.options is None or self._known is not None:
            return False
        if self._asked or self.is_expecting:
            return bool(self._asked)
        if in_step:
            is_late = self._has_failed and (self.is_late or not version % self.options.period)
        else:
            is_late = now - self._last_at >= self.options.interval_s
        return self.is_due(version) or (is_late and version > self._last_version)

    def begin(self, version: int, known: Sequence[Known], now: float) -> Cause:
        """A cut is being written; why."""
        self._cause = self._asked[0].cause if self._asked else self._due(version)
        self._is_for_all = self.is_due(version)
        self._known, self._last_version, self._last_at, self.is_late = known, version, now, False
        self._served, self._asked = self._asked, []
        return self._cause

    def _due(self, version: int) -> Cause:
        """Why there is one that nobody asked for."""
        assert self.options is not None
        if not version % self.options.period:
            return Cause("period", f"one is due every {self.options.period} steps (--snapshot_period)")
        every = f"{self.options.interval_s:.0f} s"
        return Cause("interval", f"one is due every {every} (--snapshot_interval)")

    def hold(self, version: int, known: Sequence[Known], now: float) -> None:
        """A cut is there that may be written: :meth:`keep` or :meth:`let_go` is next."""
        self._before_held, self._is_for_all = (self._last_version, self._last_at), True
        self._known, self._last_version, self._last_at = known, version, now

    def keep(self, cause: Cause, then: Then) -> None:
        """The cut that is held is being written."""
        self._cause, self._served, self._before_held = cause, [_Asked(cause, then, None)], None

    def let_go(self) -> None:
        """The cut that is held is no one."""
        assert self._before_held is not None
        self._last_version, self._last_at = self._before_held
        self._known = self._before_held = None

    def end(self, *, lasts: bool) -> tuple[Sequence[Known], list[Then]]:
        """It is not any more: what it holds of the trainers, and what happens now. ``lasts``: it was
        written."""
        assert self._known is not None
        self.counts[self._cause.kind] += lasts
        self.failed += not lasts
        self.failing = 0 if lasts else self.failing + 1
        self._has_failed = not lasts and (self._has_failed or self._is_for_all)
        known, served = self._known, self._served
        self._known, self._served = None, []
        return known, [asked.then for asked in served]

    def resume(self, version: int, now: float) -> None:
        """The shard was restored from a cut at ``version``."""
        self._last_version, self._last_at = version, now
