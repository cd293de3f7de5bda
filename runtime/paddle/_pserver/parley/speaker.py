"""Speaker: one process's side of a world in which processes of a job meet. Blocking.

Rules:
1.  Others are waited for as long as they are heard of (presence.py): work may be as uneven as it likes. One
    that was never heard of is waited for ``patience_s``.
2.  A place where nobody answers is asked again for ``patience_s``, and for ``LEASE_S`` once it has answered
    somebody of this process: who held it has gone.
3.  Who waits long is told for whom, once.
4.  Who runs the job hears once that no other process can take this one's place, and every second that it
    finds nobody. What others told first is kept until all come a second time (rounds.py, rule 3), so that is
    when this one does; for who holds the place it is behind the first time, as its answers end with it. Where
    it could not be told, it is again with the next meeting.

It must never know what it tells. Guarantee: a call ends with what all have told, or with an error that names
who is missing, or where nobody was found; an answer that was lost is asked for again.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from paddle._pserver.parley.errors import RankMissing
from paddle._pserver.parley.line import Line
from paddle._pserver.parley.messages import Seat, Tell, Told, Waiting
from paddle._pserver.parley.presence import LEASE_S

PATIENCE_S = 600.0
NOTICE_S = 30.0
_POLL_S = 20.0
_PAUSE_S = 0.05
_LOOK_S = 1.0
_SPARE_S = 5.0
"""An answer may come this much later than it was asked to."""


class Speaker:
    """Who has ``seat``, by ``line``. ``was_met``: whether the place has answered others of this process.
    ``notice`` is told what rule 3 says, ``meets`` what rule 4: whether nobody is found; it gives whether that
    could be told. ``holds``: the place is this process's."""

    def __init__(
        self,
        line: Line,
        seat: Seat,
        *,
        patience_s: float = PATIENCE_S,
        was_met: Callable[[], bool] = lambda: False,
        notice: Callable[[str], None] = lambda text: None,
        meets: Callable[[bool], bool] = lambda finds_nobody: True,
        holds: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._line, self._seat, self._patience_s = line, seat, patience_s
        self._notice, self._meets, self._holds = notice, meets, holds
        self._clock, self._sleep = clock, sleep
        self._round, self._poll_s = 0, _POLL_S
        self._was_met = was_met
        self._was_reached = self._has_said = False
        self._turn = threading.Lock()

    def exchange(self, parts: list[bytes]) -> list[bytes | None]:
        """Tell each rank its part, or all the same one; what each told this one, in their order, and None for
        those without which the job goes on."""
        with self._turn:
            if self._round:
                self._say_met()
            found = self._exchanged(parts)
            if self._holds:
                self._say_met()
            self._round += 1
        return found

    def close(self) -> None:
        """Hang up. Idempotent."""
        self._line.close()

    def _say_met(self) -> None:
        """Rule 4."""
        self._has_said = self._has_said or self._meets(False)

    def _exchanged(self, parts: list[bytes]) -> list[bytes | None]:
        begun, noticed = self._clock(), False
        while True:
            waited_s = self._clock() - begun
            poll_s = (
                self._poll_s
                if waited_s >= self._patience_s
                else min(self._poll_s, self._patience_s - waited_s)
            )
            found = self._answer(Tell(self._seat, self._round, parts, poll_s), poll_s + _SPARE_S)
            if isinstance(found, Told):
                return found.parts
            waited_s = self._clock() - begun
            if found.unseen and waited_s >= self._patience_s:
                raise self._missing(f"{self._named(found.unseen)} has not come for {waited_s:.0f} s")
            if waited_s >= NOTICE_S and not noticed:
                self._notice(
                    f"{self._who} waits for {self._named(found.missing)}, for {waited_s:.0f} s by now"
                )
                noticed = True

    def _answer(self, told: Tell, answer_s: float) -> Told | Waiting:
        """Rules 2 and 4."""
        since = said = self._clock()
        while True:
            try:
                body = self._line.ask("round", told, answer_s)
            except RankMissing as error:
                raise self._missing(str(error)) from error
            except (OSError, http.client.HTTPException) as error:
                waited_s = self._clock() - since
                is_known = self._was_reached or self._was_met()
                if waited_s >= (min(LEASE_S, self._patience_s) if is_known else self._patience_s):
                    raise self._line.unreachable(error, waited_s) from error
                if self._clock() - said >= _LOOK_S:
                    said = self._clock()
                    self._meets(True)
                self._sleep(_PAUSE_S)
                continue
            self._was_reached = True
            return msgspec.msgpack.decode(body, type=Told | Waiting)

    @property
    def _who(self) -> str:
        return f"{self._seat.world} {self._seat.rank}"

    def _named(self, ranks: Sequence[int]) -> str:
        return ", ".join(f"{self._seat.world} {rank}" for rank in ranks)

    def _missing(self, said: str) -> RankMissing:
        world = self._seat.world
        return RankMissing(
            f"{self._who} waited for all {self._seat.size} {world}s to meet (the {self._round + 1}. time): "
            f"{said}. Every {world} has to make the same calls (barrier, all_reduce, metrics...) in the "
            "same order; look at the log of the one named"
        )
