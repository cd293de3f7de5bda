"""Rounds: who has told what in which round of which world, and who was heard of when.

Rules:
1.  A world has as many ranks as the first to speak said; who says another number is refused.
2.  A round is whole when every rank has told. What a rank tells again it has told already.
3.  A whole round is kept until every rank has told in a later one, or has left: until then its answer may
    have been lost on the way.
4.  A rank that has left tells no more: rounds that lack it will not be whole.
5.  A rank that was heard of once, and is not for a lease's time, is gone; one that never was may still come.
6.  A rank without which the job goes on is left out: it is waited for no more, and what it had told in rounds
    that are not whole counts. What comes of it later is refused, so that an answer does not change.
7.  Who has told in a later round tells no more in one that it has not told in: a process that was started
    again counts its rounds from the first, and the others are beyond it.

It must never know a connection or a clock: the time is an argument. Guarantee: each rank is given what every
rank told it in that very round, None of one that is left out, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle._pserver.parley.errors import OtherWorld, RankMissing
from paddle._pserver.parley.messages import Seat


@dataclass(slots=True)
class _World:
    size: int
    rounds: dict[int, dict[int, list[bytes]]] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    heard: dict[int, float] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)
    spared: set[int] = field(default_factory=set)


class Rounds:
    """See the module's text."""

    def __init__(self) -> None:
        self._worlds: dict[str, _World] = {}

    def tell(self, seat: Seat, round: int, parts: list[bytes], now_s: float) -> None:
        """Rules 1, 2, 3 and 6. Raises OtherWorld or RankMissing."""
        known = self._of(seat)
        if seat.rank in known.spared:
            raise RankMissing(f"the job goes on without {seat.world} {seat.rank}, this process")
        if len(parts) not in (1, known.size):
            raise OtherWorld(
                f"{seat.world} {seat.rank} has parts for {len(parts)} {seat.world}s, not for all"
            )
        known.left.discard(seat.rank)
        known.heard[seat.rank] = now_s
        known.rounds.setdefault(round, {}).setdefault(seat.rank, parts)
        known.latest[seat.rank] = max(round, known.latest.get(seat.rank, -1))
        self._forget(known)

    def here(self, seat: Seat, now_s: float) -> None:
        """Rule 5: it is alive. Raises OtherWorld."""
        self._of(seat).heard[seat.rank] = now_s

    def leave(self, seat: Seat) -> None:
        """Rule 4. Raises OtherWorld."""
        known = self._of(seat)
        known.left.add(seat.rank)
        self._forget(known)

    def spare(self, seat: Seat) -> None:
        """Rule 6. Raises OtherWorld."""
        self._of(seat).spared.add(seat.rank)
        self.leave(seat)

    def missing(self, world: str, round: int) -> list[int]:
        """The ranks that have not told, and are waited for."""
        known = self._worlds[world]
        come = known.rounds.get(round, {}).keys() | known.spared
        return [rank for rank in range(known.size) if rank not in come]

    def lost(self, world: str, round: int) -> list[int]:
        """Those of them that have left."""
        return [rank for rank in self.missing(world, round) if rank in self._worlds[world].left]

    def ahead(self, world: str, round: int, rank: int) -> list[int]:
        """Rule 7: those of them that have told in a later round, but for ``rank``, which asks."""
        latest, others = self._worlds[world].latest, set(self.missing(world, round)) - {rank}
        return sorted(other for other in others if latest.get(other, -1) > round)

    def gone(self, world: str, round: int, since_s: float) -> list[int]:
        """Rule 5: those of them that were heard of, and not ``since_s``."""
        heard = self._worlds[world].heard
        return [rank for rank in self.missing(world, round) if heard.get(rank, since_s) < since_s]

    def unseen(self, world: str, round: int) -> list[int]:
        """Those of them that were never heard of."""
        return [rank for rank in self.missing(world, round) if rank not in self._worlds[world].heard]

    def answer(self, world: str, round: int, rank: int) -> list[bytes | None]:
        """What a whole round has for a rank."""
        known = self._worlds[world]
        told = known.rounds[round]
        each = [told.get(other) for other in range(known.size)]
        return [None if parts is None else parts[rank if len(parts) > 1 else 0] for parts in each]

    def is_over(self) -> bool:
        """Whether all that have come have left."""
        return all(known.heard.keys() <= known.left for known in self._worlds.values())

    def _of(self, seat: Seat) -> _World:
        """Rule 1."""
        known = self._worlds.setdefault(seat.world, _World(seat.size))
        if seat.size != known.size or not 0 <= seat.rank < seat.size:
            raise OtherWorld(
                f"{seat.world} {seat.rank} speaks of {seat.size} {seat.world}s, and the first to come of "
                f"{known.size}: all processes of a job are told one number of them"
            )
        return known

    def _forget(self, known: _World) -> None:
        here = [known.latest.get(rank, -1) for rank in range(known.size) if rank not in known.left]
        needed = min(here, default=max(known.latest.values(), default=-1) + 1)
        for round in [round for round in known.rounds if round < needed]:
            del known.rounds[round]
