"""`fab check`: all nodes are asked at once what they are like, and then each whom it reaches.

It must never judge (diagnosis.py does), nor print. Rules:

1. All nodes are visited side by side; one that does not answer keeps no other from being asked, and is a
   finding in the words of the launcher.
2. While the nodes that answered listen at the ports of a job, each dials all others, as trainers would.
3. Nothing is changed anywhere, and nothing of it goes on once it is over, or its user has had enough.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from paddle._launch import job, remote, workspace
from paddle._launch.errors import NodeUnfit, UsageError, WorkspaceError
from paddle._launch.machines import parcel
from paddle._launch.machines.conversation import Conversation, begin
from paddle._launch.machines.crowd import together
from paddle._launch.machines.fitness import Wanted
from paddle._launch.machines.here import Here
from paddle._launch.machines.shards import share
from paddle._launch.machines.transport import Line, Transport
from paddle._launch.nodes import diagnosis, reach, survey
from paddle._launch.nodes.diagnosis import Visit
from paddle._launch.nodes.findings import Finding, State
from paddle._launch.plan import address_of
from paddle._launch.settings import Host, Settings
from paddle._launch.workspace import Entry

_ENTRY = "agent.survey"
_MOST = 1 << 22  # bytes that a node says: it may have thousands of processes and ports
_VISIT_S, _DIALLING_S = 50.0, 30.0
_PATIENCE_S = 3.0  # with another node that does not answer
_MOST_DIALLED = 16  # ports of a node; of more the first and the last stand for all


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What nodes are checked for. ``package``: a workspace to send, ``deployed``: one that is there; neither
    has to be. ``live``: ids of jobs that run. ``runtime``: the folder here with the package ``paddle``."""

    settings: Settings
    package: Path | None
    deployed: Path | None
    live: Collection[str]
    runtime: Path


def check(wish: Wish) -> Iterator[Finding]:
    """Give what is found: first of the launch as a whole, then of the nodes, then of all together."""
    hosts = wish.settings.hosts
    root = job.root_of(wish.settings)
    content, found = _content(wish, root)
    yield from found
    expedition = _Expedition(wish, root, content)
    try:
        visits, errors = together(
            {node: partial(expedition.visit, node) for node in range(len(hosts))}, _VISIT_S, len(hosts)
        )
        dials = {node: partial(expedition.dial, node, visits) for node in visits}
        tries, _ = together(dials, _DIALLING_S, len(hosts))
    finally:
        expedition.close()
    encrypts = wish.settings["tls"] != "off" and not hosts[0].is_local
    visits = {node: _without(visit, errors, expedition.addresses) for node, visit in visits.items()}
    yield from diagnosis.of_all(visits)
    twins = diagnosis.twins(visits)
    for node in range(len(hosts)):
        if node in errors:
            what = "python" if isinstance(errors[node], NodeUnfit) else "ssh"
            yield Finding(node, what, State.FAIL, str(errors[node]))
        else:
            yield from diagnosis.of_node(visits[node], encrypts=encrypts, is_twin=node in twins)
    yield from reach.of_reach(visits, tries)


def _content(wish: Wish, root: Path) -> tuple[tuple[Entry, ...], list[Finding]]:
    """What a launch would send, and what of the launch itself is wrong."""
    found: list[Finding] = []
    content: tuple[Entry, ...] = ()
    try:
        job.check_nics(wish.settings)
    except UsageError as error:
        found.append(Finding(None, "conf", State.FAIL, str(error)))
    if wish.settings["host_keys"] == "any" and not wish.settings.hosts[0].is_local:
        text = (
            f"{wish.settings.written('host_keys')}: any takes whoever answers for a node. `fab trust` has "
            "the keys known that nodes show; HOST_KEYS = 'known' in conf.py holds them to these."
        )
        found.append(Finding(None, "conf", State.WARN, text))
    if wish.package is not None:
        try:
            content = workspace.listing(wish.package, leave_out=root)
        except WorkspaceError as error:
            found.append(Finding(None, "package", State.FAIL, str(error)))
        else:
            size = sum(entry.size for entry in content)
            text = f"{wish.package}: {len(content):,} files and folders, {size:,} bytes to send"
            found.append(Finding(None, "package", State.OK, text))
    return content, found


def _without(visit: Visit, lost: Collection[int], addresses: Sequence[str]) -> Visit:
    """Of a node that cannot be visited that is told, and not also that others do not find it."""
    missing = {addresses[node] for node in lost}
    wanted = visit.asked.wanted
    others = tuple(name for name in wanted.others if name not in missing)
    asked = msgspec.structs.replace(visit.asked, wanted=msgspec.structs.replace(wanted, others=others))
    return replace(visit, asked=asked)


class _Expedition:
    """Visits to all nodes, as long as they last."""

    def __init__(self, wish: Wish, root: Path, content: tuple[Entry, ...]) -> None:
        self._wish = wish
        self._root = root
        self._content = content
        self._settings = settings = wish.settings
        self.addresses = [address_of(host, node) for node, host in enumerate(settings.hosts)]
        count = settings["ports_num"] + settings["ports_num_for_sparse"]
        self._ports = tuple(range(settings["port"], settings["port"] + count))
        self._remote = None if settings.hosts[0].is_local else remote.needs(settings, wish.runtime)
        self._trainers = settings.places.trainers
        self._transport = Transport(settings["host_keys"])
        self._reached: dict[int, Here | Line] = {}
        self._talks: dict[int, Conversation] = {}

    def visit(self, node: int) -> Visit:
        """Go there, and look."""
        asked, host = self._asked(node), self._settings.hosts[node]
        began = time.monotonic()
        reached = self._reached[node] = self._reach(host)
        took_s = time.monotonic() - began
        pythons = self._remote.pythons if self._remote else (sys.executable,)
        talk = self._talks[node] = Conversation(begin(reached, pythons, _ENTRY), pythons, most=_MOST)
        if isinstance(reached, Line):
            reached.begin(parcel.COMMAND).close()  # a launch has two programs at a time there
        seen = talk.ask(survey.look(asked), survey.Seen)
        before = time.time()
        there = talk.ask({"do": "clock"}, survey.Clock).now
        return Visit(
            node=node,
            name=host.name,
            asked=asked,
            seen=seen,
            live=self._wish.live,
            clock_s=(there - time.time(), there - before),
            about=reached.about if isinstance(reached, Line) else None,
            took_s=took_s,
        )

    def dial(self, node: int, visits: Mapping[int, Visit]) -> list[survey.Dialled]:
        """Have a node try to reach all others at the ports where they listen now."""
        wanted = [
            (self.addresses[other], port)
            for other, visit in visits.items()
            if other != node and node in self._settings.places.trainers
            for port in _shown([port.port for port in visit.seen.ports if port.state == "free"])
        ]
        if not wanted:
            return []
        return self._talks[node].ask(survey.dial(wanted, _PATIENCE_S), survey.Dials).dialled

    def close(self) -> None:
        """Let go of all."""
        for reached in list(self._reached.values()):
            if isinstance(reached, Here):
                reached.close()
            else:  # saying so may wait for the network
                threading.Thread(target=reached.close, daemon=True).start()

    def _reach(self, host: Host) -> Here | Line:
        return Here() if self._remote is None else self._transport.line(host).open()

    def _asked(self, node: int) -> survey.Asked:
        own, is_local, places = self.addresses[node], self._remote is None, self._settings.places
        serves, pservers = node in places.pservers, [self.addresses[each] for each in places.pservers]
        sent = self._sent_to(node)
        wanted = Wanted(
            workspace=self._wish.deployed or self._root / "JOB<date>",
            size=None if self._wish.deployed else sum(entry.size for entry in sent),
            count=0 if self._wish.deployed else len(sent),
            more=self._remote.size_and_count() if self._remote else (0, 0),
            address=own,
            others=tuple(name for name in pservers if name != own) if node in places.trainers else (),
            nics=self._settings["nics"] if serves and not is_local else (),
            runtime=self._remote.runtime if self._remote else self._wish.runtime,
        )
        return survey.Asked(
            wanted=wanted,
            root=self._root,
            hosts=(own,) if is_local else (),
            ports=self._ports if serves else (),
            word=secrets.token_hex(8),
        )

    def _sent_to(self, node: int) -> tuple[Entry, ...]:
        return tuple(share(self._content, self._settings["shard_data"].strip("/"), node, self._trainers))


def _shown(ports: Sequence[int]) -> Sequence[int]:
    return ports if len(ports) <= _MOST_DIALLED else (ports[0], ports[-1])
