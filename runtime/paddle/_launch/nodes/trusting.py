"""`fab trust`: keys that hosts show become known to this machine, once somebody has said that they are right.

It must never know SSH, a file or a terminal. Rules:

1. What is known is left as it is, and nothing is added to what is known of a host.
2. A host that shows another key than it is known by is told with both, and what is known stays.
3. A jump host has its turn before what is behind it, and nothing is asked through one that is not known.
4. Hosts are looked at side by side; what they show is asked for together, so a round has one question.
5. Without an answer, or with a no, nothing becomes known.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from paddle._launch.errors import HostKeyUnknown, LaunchError
from paddle._launch.machines.crowd import together
from paddle._launch.machines.host_keys import Chain, Hop
from paddle._launch.machines.known_hosts import Entry, HostKey
from paddle._launch.settings import Host

LOOKING_S = 60.0
State = Literal["known", "new", "added", "declined", "changed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a host's key, or of a host that showed none. ``nodes``: those that it is; ``behind``:
    those to which one goes by it. ``name``: as known_hosts has it."""

    nodes: tuple[int, ...]
    behind: tuple[int, ...]
    host: str
    state: State
    name: str = ""
    key: HostKey | None = None
    text: str = ""


class Book(Protocol):
    """Where keys become known."""

    def __call__(self, place: Path, entries: Sequence[Entry], *, hashed: bool) -> int:
        """Add them; gives how many were not there."""
        ...


@dataclass(frozen=True, slots=True)
class _Turn:
    """A host whose turn it is, the one of that number on a chain. ``nodes`` and ``behind``: see Verdict."""

    nodes: tuple[int, ...]
    behind: tuple[int, ...]
    chain: Chain
    number: int

    @property
    def hop(self) -> Hop:
        return self.chain.hops[self.number]

    def told(self, state: State, key: HostKey | None = None, text: str = "") -> Verdict:
        """Something of it."""
        door = self.hop.door
        return Verdict(
            nodes=self.nodes,
            behind=self.behind,
            host=door.host,
            state=state,
            name=door.known_as if key else "",
            key=key,
            text=text,
        )

    def look(self) -> tuple[HostKey, ...]:
        try:
            return self.chain.shown(self.number)
        finally:
            self.chain.close()


def trust(
    hosts: Sequence[Host],
    is_right: Callable[[Sequence[Verdict]], bool],
    write: Book,
    chain: Callable[[Host], Chain] = Chain,
) -> Iterator[Verdict]:
    """Have hosts known; gives what is found and done, as it comes. ``is_right`` is asked about new keys."""
    met = {node: 0 for node, host in enumerate(hosts) if not host.is_local}  # so many on its way are known
    while met:
        turns, wrong = _turns({node: (hosts[node], number) for node, number in met.items()}, chain)
        looks, errors = together({name: turn.look for name, turn in turns.items()}, LOOKING_S)
        found = {name: _judged(turns[name], shown) for name, shown in looks.items()}
        failed = [turns[name].told("failed", text=str(error)) for name, error in errors.items()]
        settled = [told for several in found.values() for told in several if told.state != "new"]
        yield from sorted([*wrong, *failed, *settled], key=lambda told: (*told.nodes, *told.behind))
        new = {
            name: fresh
            for name, several in found.items()
            if (fresh := tuple(told for told in several if told.state == "new"))
        }
        known = {name for name, several in found.items() if several[0].state == "known"}
        if new:
            known |= yield from _enrol({name: (turns[name].hop, new[name]) for name in new}, is_right, write)
        met = {node: met[node] + 1 for name in known for node in turns[name].behind}


def _turns(
    wanted: Mapping[int, tuple[Host, int]], chain: Callable[[Host], Chain]
) -> tuple[dict[str, _Turn], list[Verdict]]:
    """Whose turn it is, each host once, by its name; and what this machine's own files do not let us know."""
    turns: dict[str, _Turn] = {}
    wrong = []
    for node, (host, number) in wanted.items():
        try:
            way = chain(host)
        except LaunchError as error:
            wrong.append(Verdict(nodes=(node,), behind=(), host=host.name, state="failed", text=str(error)))
            continue
        name = way.hops[number].door.known_as
        turn = turns.get(name) or _Turn((), (), way, number)
        if number == len(way.hops) - 1:
            turns[name] = replace(turn, nodes=(*turn.nodes, node))
        else:
            turns[name] = replace(turn, behind=(*turn.behind, node))
    return turns, wrong


def _judged(turn: _Turn, shown: tuple[HostKey, ...]) -> tuple[Verdict, ...]:
    return tuple(_of_key(turn, key) for key in shown)


def _of_key(turn: _Turn, key: HostKey) -> Verdict:
    match turn.hop.judge(key):
        case None:
            return turn.told("known", key)
        case HostKeyUnknown():
            return turn.told("new", key)
        case error:
            return turn.told("changed", key, str(error))


def _enrol(
    new: Mapping[str, tuple[Hop, tuple[Verdict, ...]]],
    is_right: Callable[[Sequence[Verdict]], bool],
    write: Book,
) -> Generator[Verdict, None, set[str]]:
    """Ask, and write; gives the names that are known now."""
    asked = [told for _, several in new.values() for told in several]
    if not is_right(asked):
        yield from (replace(told, state="declined") for told in asked)
        return set()
    places: dict[tuple[Path, bool], list[Entry]] = {}
    for hop, several in new.values():
        entries = [Entry(told.name, told.key) for told in several if told.key]
        places.setdefault((hop.to_write, hop.hashed), []).extend(entries)
    for (place, hashed), entries in places.items():
        write(place, entries, hashed=hashed)
    for hop, several in new.values():
        yield from (replace(told, state="added", text=str(hop.to_write)) for told in several)
    return set(new)
