"""Rounds: who has told what in which round of which world.

Rules:
1.  A world has as many ranks as the first to speak said; who says another number is refused.
2.  A round is whole when every rank has told. What a rank tells again it has told already.
3.  A whole round is kept until every rank has told in a later one, or has left: until then its answer may
    have been lost on the way.
4.  A rank that has left tells no more: rounds that lack it will not be whole.

It must never know a connection or a clock. Guarantee: each rank is given what every rank told it in that very
round, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paddle._pserver.parley.errors import ParleyError


@dataclass(slots=True)
class _World:
    size: int
    rounds: dict[int, dict[int, list[bytes]]] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)


class Rounds:
    """See the module's text."""

    def __init__(self) -> None:
        self._worlds: dict[str, _World] = {}

    def tell(self, world: str, size: int, rank: int, round: int, parts: list[bytes]) -> None:
        """Rules 1, 2 and 3. Raises ParleyError."""
        known = self._worlds.setdefault(world, _World(size))
        if size != known.size or not 0 <= rank < size or len(parts) not in (1, size):
            raise ParleyError(
                f"{world} {rank} speaks of {size} {world}s, and the first to come of {known.size}: all "
                "processes of a job are told one number of them"
            )
        known.left.discard(rank)
        known.rounds.setdefault(round, {}).setdefault(rank, parts)
        known.latest[rank] = max(round, known.latest.get(rank, -1))
        self._forget(known)

    def missing(self, world: str, round: int) -> list[int]:
        """The ranks that have not told."""
        known = self._worlds[world]
        return [rank for rank in range(known.size) if rank not in known.rounds.get(round, {})]

    def lost(self, world: str, round: int) -> list[int]:
        """Those of them that will not."""
        return [rank for rank in self.missing(world, round) if rank in self._worlds[world].left]

    def answer(self, world: str, round: int, rank: int) -> list[bytes]:
        """What a whole round has for a rank."""
        told = self._worlds[world].rounds[round]
        return [parts[rank if len(parts) > 1 else 0] for _, parts in sorted(told.items())]

    def leave(self, world: str, rank: int) -> None:
        """Rule 4."""
        known = self._worlds.get(world)
        if known is not None:
            known.left.add(rank)
            self._forget(known)

    def is_over(self) -> bool:
        """Whether all that have come have left."""
        return all(set(known.latest) <= known.left for known in self._worlds.values())

    def _forget(self, known: _World) -> None:
        here = [known.latest.get(rank, -1) for rank in range(known.size) if rank not in known.left]
        needed = min(here, default=max(known.latest.values(), default=-1) + 1)
        for round in [round for round in known.rounds if round < needed]:
            del known.rounds[round]
