"""Demand: a snapshot that somebody wants who is no trainer (``paddle snapshot``), from the shard's side.

1.  It is asked for on a connection of its own, on which nobody said Hello. Whoever only looks is answered at
    once; of those that want a copy there is one at a time.
2.  In step the copy is of the version that was named, so that all shards of a job can hold the same one. A
    version that is past, or comes while another snapshot is being written, is answered so; one that does not
    come within ``EXPECT_S`` too. Where trainers are not in step, it is of now.
3.  A copy is held in memory until it is told to be kept, which is said once all shards hold theirs. So none
    is written that others lack, and no older one is given up for it. It is let go when its connection ends,
    or after ``HOLD_S``: nobody waits longer for one who went away.
4.  One that is kept is a snapshot as any, and counts among ``--snapshot_keep``.
5.  Before the job is kept (resuming.py), or when it is broken, nothing is held.

It must never know a disk. Guarantee: what is held is exactly what the shard has after that step.
"""

from __future__ import annotations

from paddle._pserver.errors import BadMessage, NoSnapshot, PserverError
from paddle._pserver.protocol.messages import Answer, Held, Hold, Keep, Reply, Waiting, failure
from paddle._pserver.shard import effects
from paddle._pserver.shard.beginning import Beginning
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.cuts import Cuts
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.saving import Cause, Saving
from paddle._pserver.shard.state import State

EXPECT_S = 5.0
HOLD_S = 30.0
_WORD_S = 5.0  # between two signs of life while it is written


class Demand:
    """See the module's text."""

    def __init__(
        self, beginning: Beginning, cuts: Cuts, clocks: Clocks, outbox: Outbox, saving: Saving
    ) -> None:
        self._beginning, self._cuts, self._clocks = beginning, cuts, clocks
        self._outbox, self._saving = outbox, saving
        self._session: int | None = None  # of the one that wants a copy
        self._peer = ""
        self._version: int | None = None  # that is to be held
        self._held: State | None = None
        self._since = 0.0  # of what is going on

    def hear(self, session: int, message: Hold | Keep, peer: str, now: float, *, can: bool) -> None:
        """Somebody asks; ``can``: the job has begun, and is kept."""
        if self._saving.options is None:
            raise NoSnapshot("it keeps no snapshots: start pservers with a --snapshot_dir")
        if not can:
            raise NoSnapshot("the job has not begun: trainers have not given, or taken up, its parameters")
        if isinstance(message, Keep):
            return self._keep(session, now)
        if self._session not in (None, session):
            if message.version is None:
                return self._outbox.send(session, self._seen())
            raise NoSnapshot("somebody else is taking a snapshot right now: try again when that is done")
        if self._session is not None and self._held is None and self._version is None:
            raise BadMessage("a copy is asked for before the last one lasts")
        self.lost(session)
        if message.version is None:
            return self._outbox.send(session, self._seen())
        self._session, self._peer, self._since = session, peer, now
        self._version = message.version if self._beginning.is_in_step else self._clocks.version
        self._saving.is_expecting = True
        return None

    def look(self, now: float) -> None:
        """Hold a copy, if this is the moment; at the end of every event."""
        if self._version is None or self._clocks.version < self._version:
            return None
        if self._clocks.version == self._version and not self._saving.is_busy:
            try:
                self._held = self._cuts.hold(now)
            except NoSnapshot as error:
                return self._refuse(error)
        return self._answer(now)

    def tick(self, now: float) -> None:
        """Time has passed (rules 2 and 3); and whoever waits for a disk hears that the shard is there."""
        if self._session is None:
            return
        session, lasted_s = self._session, now - self._since
        if self._version is not None:
            if lasted_s >= EXPECT_S:
                self._answer(now)
        elif self._held is None:
            if lasted_s >= _WORD_S:
                self._since = now
                self._outbox.send(session, Waiting("writing its snapshot"))
        elif lasted_s >= HOLD_S:
            self._refuse(NoSnapshot(f"a copy was held for {HOLD_S:.0f} s and then let go"))

    def lost(self, session: int) -> None:
        """A connection is gone, or wants something else; what is being written is written."""
        if session != self._session:
            return
        if self._held is not None:
            self._saving.let_go()
        self._session = self._version = self._held = None
        self._saving.is_expecting = False

    def broken(self, error: PserverError) -> None:
        """The job is: whoever waits is told why."""
        if self._session is not None:
            self._refuse(error)

    def _refuse(self, error: PserverError) -> None:
        """Tell the one that wants a copy why there is none, or none any more."""
        assert self._session is not None
        session = self._session
        self.lost(session)
        self._end(session, failure(error))

    def _answer(self, now: float) -> None:
        """What came of it."""
        assert self._session is not None
        self._version, self._since, self._saving.is_expecting = None, now, False
        session = self._session
        if self._held is None:
            self._session = None
        self._outbox.send(session, self._seen(holds=self._held is not None))

    def _keep(self, session: int, now: float) -> None:
        if session != self._session or self._held is None:
            raise BadMessage("there is no copy to keep")
        state, self._held, self._since = self._held, None, now
        cause = Cause("demand", f"it was asked for, at {self._peer}")
        version = state.facts.version

        def told(lasts: bool) -> None:
            if self._session != session:
                return  # gone meanwhile
            self._session = None
            error = NoSnapshot("its snapshot could not be written: its log says why")
            self._end(session, Answer(version) if lasts else failure(error))

        self._saving.keep(cause, told)
        self._outbox.effects.append(effects.Write(state, cause.text))

    def _end(self, session: int, reply: Reply) -> None:
        self._outbox.send(session, reply)
        self._outbox.close(session)

    def _seen(self, *, holds: bool = False) -> Held:
        model, options = self._beginning.model, self._saving.options
        assert model is not None and options is not None
        declared = model.declaration
        return Held(
            version=self._clocks.version,
            holds=holds,
            is_in_step=self._beginning.is_in_step,
            is_busy=self._saving.is_busy and not holds,
            folder=options.folder,
            shard=declared.shard,
            shards=declared.shards,
            has_sparse=any(parameter.sparse for parameter in declared.parameters),
        )
