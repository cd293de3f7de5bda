"""`fab install`: every node gets a virtual environment that jobs run with, and the runtime; all at once.

It must never know how anything is shown. Guarantee, by four rules:

1. Nothing is changed on a node before it has said what it is, and that is fit.
2. What a node has already is not sent and not made again; a second installation changes nothing.
3. A node that fails keeps no other from being installed, and is told with why and what to do.
4. An installation that was cut off anywhere leaves nothing that a job would run with, and the next one sends
   and makes what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from paddle._launch.digests import DigestCache
from paddle._launch.dispatch import KEPT, Dispatch
from paddle._launch.errors import LaunchError
from paddle._launch.machines.conversation import converse, first_fit
from paddle._launch.machines.crowd import Bytes, Say, crowd, outcome
from paddle._launch.machines.transport import Line, Transport
from paddle._launch.remote import Remote
from paddle._launch.settings import Host
from paddle._launch.upkeep.furnishing import Furnished, Kit, furnish
from paddle._launch.upkeep.interpreter import Interpreter, Premises
from paddle._launch.upkeep.wheelhouse import Wheelhouses

_NAME_IT = "fab install --python=/path/to/python3"


@dataclass(frozen=True, slots=True)
class Site:
    """A node that has said what it is, and will do."""

    line: Line
    premises: Premises
    interpreter: Interpreter


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a node: it is furnished, or why not."""

    node: int
    furnished: Furnished | None
    trouble: str = ""


class Installation:
    """One, on all ``hosts``. ``pythons``: which may be built on, the first that is new enough. ``modules``:
    that must load in the end. ``hear``: told what goes on, of a node or, with None, of all."""

    def __init__(
        self,
        remote: Remote,
        hosts: Sequence[Host],
        houses: Wheelhouses,
        digests: DigestCache,
        *,
        pythons: Sequence[str],
        modules: Sequence[str],
        hear: Callable[[int | None, str | Bytes], None],
    ) -> None:
        self._remote = remote
        self._hosts = hosts
        self._houses = houses
        self._digests = digests
        self._pythons = pythons
        self._modules = tuple(modules)
        self._hear = hear
        self._transport = Transport(remote.host_keys)

    def run(self, *, fresh: bool = False) -> list[Outcome]:
        """Install; gives what came of every node, in their order. ``fresh``: of wheels fetched now."""
        reached = crowd({n: partial(self._reach, host) for n, host in enumerate(self._hosts)}, self._hear)
        sites = {node: site for node, site in reached.items() if isinstance(site, Site)}
        try:
            kits = self._kits(sites.values(), fresh=fresh)
            tasks = {node: partial(_furnish, site, kits[site.interpreter]) for node, site in sites.items()}
            done: Mapping[int, Furnished | LaunchError] = crowd(tasks, self._hear)
        finally:
            for site in sites.values():
                site.line.close()
        failed = {node: site for node, site in reached.items() if isinstance(site, LaunchError)}
        return [self._outcome(node, {**failed, **done}[node]) for node in reached]

    def _reach(self, host: Host, say: Say) -> Site:
        line = self._transport.line(host).open()
        try:
            premises = first_fit(self._pythons, partial(self._look, line))
            return Site(line, premises, premises.interpreter)
        except BaseException:
            line.close()
            raise

    def _look(self, line: Line, python: str) -> Premises:
        with converse(line, (python,), "agent.premises", name_it=_NAME_IT) as talk:
            return talk.ask({"root": str(self._remote.root)}, Premises)

    def _kits(self, sites: Iterable[Site], *, fresh: bool) -> dict[Interpreter, Kit | LaunchError]:
        """What to bring to each kind of node; for some there may be no wheels."""
        nodes, root = len(self._hosts), self._remote.root
        dispatch = partial(Dispatch, root=root, nodes=nodes, digests=self._digests, limit=KEPT)
        runtime = dispatch(self._remote.contents)
        kits: dict[Interpreter, Kit | LaunchError] = {}
        tell = partial(self._hear, None)
        for kind in dict.fromkeys(site.interpreter for site in sites):
            house = outcome(partial(self._houses.of, kind, tell, fresh=fresh))
            if isinstance(house, LaunchError):
                kits[kind] = house
                continue
            kits[kind] = Kit(self._remote, house, dispatch(house.entries), runtime, self._modules)
        return kits

    @staticmethod
    def _outcome(node: int, came: Furnished | LaunchError) -> Outcome:
        if isinstance(came, LaunchError):
            return Outcome(node, None, str(came))
        return Outcome(node, came)


def _furnish(site: Site, kit: Kit | LaunchError, say: Say) -> Furnished:
    if isinstance(kit, LaunchError):
        raise kit
    return furnish(site.line, site.premises, kit, say)
