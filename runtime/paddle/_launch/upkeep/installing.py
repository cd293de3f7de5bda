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
from paddle._launch.machines.crowd import Say, Sending, crowd
from paddle._launch.machines.transport import Transport
from paddle._launch.remote import Remote
from paddle._launch.settings import Host
from paddle._launch.upkeep import interpreter
from paddle._launch.upkeep.furnishing import Furnished, Kit, furnish
from paddle._launch.upkeep.interpreter import Interpreter, Premises
from paddle._launch.upkeep.visit import SshVisit, first_fit
from paddle._launch.upkeep.wheelhouse import Wheelhouses


@dataclass(frozen=True, slots=True)
class Site:
    """A node that has said what it is, and will do."""

    visit: SshVisit
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
        hear: Callable[[int | None, str | Sending], None],
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
                site.visit.close()
        failed = {node: site for node, site in reached.items() if isinstance(site, LaunchError)}
        return [self._outcome(node, {**failed, **done}[node]) for node in reached]

    def _reach(self, host: Host, say: Say) -> Site:
        visit = SshVisit(self._transport, host, "fab install --python=/path/to/python3")
        try:
            order = {"root": str(self._remote.root)}
            premises = interpreter.read(first_fit(visit, self._pythons, "agent.premises", order))
            return Site(visit, premises, premises.interpreter)
        except BaseException:
            visit.close()
            raise

    def _kits(self, sites: Iterable[Site], *, fresh: bool) -> dict[Interpreter, Kit | LaunchError]:
        """What to bring to each kind of node; for some there may be no wheels."""
        nodes, root = len(self._hosts), self._remote.root
        dispatch = partial(Dispatch, root=root, nodes=nodes, digests=self._digests, limit=KEPT)
        runtime = dispatch(self._remote.contents)
        kits: dict[Interpreter, Kit | LaunchError] = {}
        for site in sites:
            if site.interpreter in kits:
                continue
            try:
                house = self._houses.of(
                    site.interpreter, site.premises.marks, partial(self._hear, None), fresh=fresh
                )
            except LaunchError as error:
                kits[site.interpreter] = error
                continue
            wheels = dispatch(house.entries)
            kits[site.interpreter] = Kit(self._remote, house, wheels, runtime, self._modules)
        return kits

    @staticmethod
    def _outcome(node: int, came: Furnished | LaunchError) -> Outcome:
        if isinstance(came, LaunchError):
            return Outcome(node, None, str(came))
        return Outcome(node, came)


def _furnish(site: Site, kit: Kit | LaunchError, say: Say) -> Furnished:
    if isinstance(kit, LaunchError):
        raise kit
    return furnish(site.visit, site.premises, kit, say)
