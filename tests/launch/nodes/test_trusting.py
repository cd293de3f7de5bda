"""Keys become known in rounds: jump hosts first, one question a round, and nothing without a yes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from paddle._launch.errors import LaunchError, NodeUnreachable
from paddle._launch.machines.host_keys import Hop
from paddle._launch.machines.known_hosts import Entry, HostKey, Known
from paddle._launch.machines.refusals import Door
from paddle._launch.nodes.trusting import Verdict, trust
from paddle._launch.settings import Host

FILE = Path("/known_hosts")


def key(name: str, kind: str = "ssh-ed25519") -> HostKey:
    return HostKey(kind, name)


class World:
    """Hosts by name with the keys that they show, ways to them, and what is known."""

    def __init__(self, keys: dict[str, list[HostKey] | LaunchError], ways: dict[str, list[str]]) -> None:
        self.keys, self.ways = keys, ways
        self.known: dict[str, list[HostKey]] = {}
        self.looked: list[str] = []
        self.asked: list[list[str]] = []
        self.answer = True
        self.open = 0

    def chain(self, host: Host) -> Chain:
        return Chain(self, self.ways.get(host.name, [host.name]))

    def is_right(self, new: Sequence[Verdict]) -> bool:
        self.asked.append([told.name for told in new])
        return self.answer

    def write(self, place: Path, entries: Sequence[Entry], *, hashed: bool) -> int:
        assert (place, hashed) == (FILE, True)
        for entry in entries:
            self.known.setdefault(entry.name, []).append(entry.key)
        return len(entries)

    def trust(self, *names: str) -> list[tuple[str, str, tuple[int, ...], tuple[int, ...]]]:
        hosts = [Host(name, "" if name == "local" else "root") for name in names]
        told = list(trust(hosts, self.is_right, self.write, self.chain))
        assert self.open == 0, "a way was not let go of"
        return [(one.name or one.host, one.state, one.nodes, one.behind) for one in told]


class Chain:
    def __init__(self, world: World, names: list[str]) -> None:
        self._world = world
        self._names = names
        if names == ["broken"]:
            raise LaunchError("your files are broken")
        self.hops = tuple(
            Hop(
                door=Door(user="root", host=name, port=22),
                known=tuple(Known(one, FILE) for one in world.known.get(name, ())),
                to_write=FILE,
                hashed=True,
            )
            for name in names
        )

    def shown(self, number: int) -> tuple[HostKey, ...]:
        self._world.open += 1
        assert all(name in self._world.known for name in self._names[:number]), "went by an unknown host"
        self._world.looked.append(self._names[number])
        found = self._world.keys[self._names[number]]
        if isinstance(found, LaunchError):
            raise found
        return tuple(found)

    def close(self) -> None:
        self._world.open -= 1


def test_all_kinds_of_a_new_host_become_known_after_one_question_for_all() -> None:
    world = World({"n1": [key("a"), key("b", "ssh-rsa")], "n2": [key("c")]}, {})
    assert world.trust("n1", "local", "n2") == [
        ("n1", "added", (0,), ()),
        ("n1", "added", (0,), ()),
        ("n2", "added", (2,), ()),
    ]
    assert world.asked == [["n1", "n1", "n2"]]
    assert world.known == {"n1": [key("a"), key("b", "ssh-rsa")], "n2": [key("c")]}


def test_what_is_known_is_left_alone_and_not_asked_for() -> None:
    world = World({"n1": [key("a")]}, {})
    world.known["n1"] = [key("a")]
    assert world.trust("n1") == [("n1", "known", (0,), ())]
    assert world.asked == []


def test_a_no_leaves_everything_unknown() -> None:
    world = World({"n1": [key("a")]}, {})
    world.answer = False
    assert world.trust("n1") == [("n1", "declined", (0,), ())]
    assert world.known == {}


def test_a_changed_key_is_told_and_what_is_known_stays() -> None:
    world = World({"n1": [key("new")], "n2": [key("c")]}, {})
    world.known["n1"] = [key("old")]
    assert world.trust("n1", "n2") == [("n1", "changed", (0,), ()), ("n2", "added", (1,), ())]
    assert world.known["n1"] == [key("old")]


def test_jump_hosts_come_first_and_each_is_asked_for_once() -> None:
    ways = {name: ["gate", "inner", name] for name in ("n1", "n2")}
    world = World({name: [key(name)] for name in ("gate", "inner", "n1", "n2")}, ways)
    assert world.trust("n1", "n2", "gate") == [
        ("gate", "added", (2,), (0, 1)),
        ("inner", "added", (), (0, 1)),
        ("n1", "added", (0,), ()),
        ("n2", "added", (1,), ()),
    ]
    assert world.asked == [["gate"], ["inner"], ["n1", "n2"]]
    assert sorted(world.looked) == ["gate", "inner", "n1", "n2"]


@pytest.mark.parametrize("known", [[], [key("other")]])
def test_nothing_goes_by_a_jump_host_that_is_not_known(known: list[HostKey]) -> None:
    world = World({"gate": [key("gate")], "n1": [key("n1")]}, {"n1": ["gate", "n1"]})
    world.answer = False
    if known:
        world.known["gate"] = known
    assert world.trust("n1") == [("gate", "changed" if known else "declined", (), (0,))]
    assert world.looked == ["gate"]


def test_a_host_that_cannot_be_reached_keeps_no_other_from_being_known() -> None:
    keys = {"n1": NodeUnreachable("it is off"), "n2": [key("c")], "n4": [key("d")]}
    world = World(keys, {"n3": ["broken"]})
    world.known["n4"] = keys["n4"]
    assert world.trust("n1", "n2", "n4", "n3") == [
        ("n1", "failed", (0,), ()),
        ("n4", "known", (2,), ()),
        ("n3", "failed", (3,), ()),
        ("n2", "added", (1,), ()),
    ]
