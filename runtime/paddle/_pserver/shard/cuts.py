"""Cuts: a shard's state as it is now, for a snapshot that is written (saving.py) or held (demand.py).

A cut is made before anybody counts on it. Where there is no memory to copy what it is of, that is read where
it lies while it is written, and the shard stands still (service/standstill.py). None can be held so: it has
failed, and training goes on; nor where there is not even memory to note which rows there are.

It must never know a disk, or who asked. Guarantee: a cut is made at the end of an event, and holds all of it.
"""

from __future__ import annotations

from paddle._pserver.errors import NoSnapshot
from paddle._pserver.protocol.messages import Waiting
from paddle._pserver.shard.beginning import Beginning
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.effects import Write
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.saving import Saving
from paddle._pserver.shard.state import State, cut, known


class Cuts:
    """See the module's text. ``serving``: see ShardOptions."""

    def __init__(
        self,
        beginning: Beginning,
        clocks: Clocks,
        roster: Roster,
        outbox: Outbox,
        saving: Saving,
        serving: str,
    ) -> None:
        self._beginning, self._clocks, self._roster = beginning, clocks, roster
        self._outbox, self._saving, self._serving = outbox, saving, serving

    def look(self, now: float) -> str | None:
        """Have the state written, if this is the moment for it; at the end of every event. Gives why it could
        not be cut, if it could not."""
        if self._saving.options is None:
            return None
        model, version, in_step = self._beginning.model, self._clocks.version, self._beginning.is_in_step
        if model is None or not model.is_complete or not self._saving.wants(version, now, in_step=in_step):
            return None
        failure = None
        try:
            is_regular = self._saving.is_due(version) or not in_step
            state = self._cut(is_regular=is_regular, may_stand=True)
        except NoSnapshot as error:
            failure = str(error)
        cause = self._saving.begin(version, known(self._clocks, self._roster), now)
        if failure is None:
            self._outbox.effects.append(Write(state, cause.text))
        return failure

    def tick(self, now: float) -> None:
        """Time has passed: whoever waits for a disk hears that the shard is there."""
        self._saving.look(self._clocks.version, now)
        for session in self._saving.kept_waiting(now):
            self._outbox.send(session, Waiting("waiting for a snapshot that lasts, which is being written"))

    def hold(self, now: float) -> State:
        """The state, to be held until it is to be written or let go. Raises NoSnapshot."""
        state = self._cut(is_regular=True)
        self._saving.hold(self._clocks.version, known(self._clocks, self._roster), now)
        return state

    def _cut(self, *, is_regular: bool, may_stand: bool = False) -> State:
        model = self._beginning.model
        assert model is not None  # it was looked whether it is complete
        try:
            return cut(
                model,
                self._clocks,
                self._roster,
                is_regular=is_regular,
                serving=self._serving,
                may_stand=may_stand,
            )
        except (OSError, MemoryError) as error:
            raise NoSnapshot(f"there is no memory to copy what it is of: {error or 'none at all'}") from error
