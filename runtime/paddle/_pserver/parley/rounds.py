"""Rounds: who has told what in which round of which world, and who was heard of when.

Rules:
1.  A world has as many ranks as the first to speak said; who says another number is refused.
2.  A round is whole when every rank has told. What a rank tells again it has told already.
3.  A whole round is kept until every rank has told in a later one, or has left: until then its answer may
    have been lost on the way.
4.  A rank that has left tells no more: rounds that lack it will not be whole.
5.  A rank that was heard of once, and is not for a lease's time, is gone; one that never was may still come.

It must never know a connection or a clock: the time is an argument. Guarantee: each rank is given what every
rank told it in that very round, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle._pserver.parley.errors import OtherWorld
from paddle._pserver.parley.messages import Seat


@dataclass(slots=True)
class _World:
    size: int
    rounds: dict[int, dict[int, list[bytes]]] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    heard: dict[int, float] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)


class Rounds:
    """See the module's text."""

    def __init__(self) -> None:
        self._worlds: dict[str, _World] = {}

    def tell(self, seat: Seat, round: int, parts: list[bytes], now_s: float) -> None:
        """Rules 1, 2 and 3. Raises OtherWorld."""
        known = self._of(seat)
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

    def missing(self, world: str, round: int) -> list[int]:
        """The ranks that have not told."""
        known = self._worlds[world]
        return [rank for rank in range(known.size) if rank not in known.rounds.get(round, {})]

    def lost(self, world: str, round: int) -> list[int]:
        """Those of them that have left."""
        return [rank for rank in self.missing(world, round) if rank in self._worlds[world].left]

    def gone(self, world: str, round: int, since_s: float) -> list[int]:
        """Rule 5: those of them that were heard of, and not ``since_s``."""
        heard = self._worlds[world].heard
        return [rank for rank in self.missing(world, round) if heard.get(rank, since_s) < since_s]

    def unseen(self, world: str, round: int) -> list[int]:
        """Those of them that were never heard of."""
        return [rank for rank in self.missing(world, round) if rank not in self._worlds[world].heard]

    def answer(self, world: str, round: int, rank: int) -> list[bytes]:
        """What a whole round has for a rank."""
        told = self._worlds[world].rounds[round]
        return [parts[rank if len(parts) > 1 else 0] for _, parts in sorted(told.items())]

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
