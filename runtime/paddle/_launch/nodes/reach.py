"""Whether nodes reach each other's pservers, by what came of it when each dialled all others.

It must never know how a node dials. Guarantee: what keeps several from reaching a node is told once, there;
a node whose own network is amiss is not told of that again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paddle._launch.machines import fitness
from paddle._launch.nodes.diagnosis import Visit, twins
from paddle._launch.nodes.findings import Finding, State
from paddle._launch.nodes.survey import Dialled

_FEW = 4  # nodes that are named one by one


def of_reach(visits: Mapping[int, Visit], dialled: Mapping[int, Sequence[Dialled]]) -> Iterator[Finding]:
    """Judge whether nodes reach each other's pservers. ``dialled``: by the node that tried."""
    amiss = {node for node, visit in visits.items() if not _is_heard(visit)} | set(twins(visits))
    for node, visit in visits.items():
        tried = {one: _tries(tries, visit) for one, tries in dialled.items() if one != node}
        tried = {one: tries for one, tries in tried.items() if tries and node not in amiss}
        troubles: dict[str, list[int]] = {}
        for one, tries in tried.items():
            if text := _trouble(tries, visit):
                troubles.setdefault(text, []).append(one)
        for text, sources in troubles.items():
            names = ", ".join(f"node {one} ({visits[one].name})" for one in sources[:_FEW])
            more = f" and {len(sources) - _FEW} more" if len(sources) > _FEW else ""
            yield Finding(node, "reach", State.FAIL, f"not reached by {names}{more}: {text}")
        if tried and not troubles:
            count = "1 other node reaches" if len(tried) == 1 else f"{len(tried)} other nodes reach"
            yield Finding(node, "reach", State.OK, f"{count} it at {visit.asked.wanted.address}")


def _is_heard(visit: Visit) -> bool:
    return visit.about is None or fitness.is_heard(visit.seen.facts, visit.asked.wanted)


def _tries(tries: Sequence[Dialled], visit: Visit) -> list[Dialled]:
    return [one for one in tries if one.name == visit.asked.wanted.address]


def _trouble(tries: Sequence[Dialled], visit: Visit) -> str:
    """What one node has to say about reaching another, in words that others may have to say, too."""
    address, ports = visit.asked.wanted.address, ",".join(map(str, visit.asked.ports))
    for one in tries:
        if one.state == "silent":
            return (
                f"{one.text} at {address}:{one.port}. A firewall keeps them apart (open TCP ports {ports} "
                "between the nodes), or the network between them is down."
            )
        if one.state == "closed":
            return (
                f"{one.text} at {address}:{one.port}, where it listens. A firewall refuses it (open TCP "
                f"ports {ports} between the nodes), or {address} means another machine there (`getent hosts "
                f"{address}`)."
            )
        if one.word and one.word != visit.asked.word:
            what = f"{address} means another machine there (`getent hosts {address}`)"
            return f"{what}. Fix its /etc/hosts or DNS."
    return ""
