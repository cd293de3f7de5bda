"""All nodes of a launch together: the carrier that the launch speaks to, whatever its nodes are made of.

It must never know how a node is reached. Guarantee: every node of a launch has the same token, and papers of
its own where they encrypt; neither is written anywhere here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from threading import Event
from types import MappingProxyType

from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post, Say, unheard
from paddle._launch.backends.node import Machine, Node
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, NodePlan, trainer_number

_WITHDRAWAL_S, _GOODBYE_S = 3.0, 1.0  # of all nodes together: the user waits for the prompt
_LOOK_S = 0.05
NOTHING: Mapping[str, str] = MappingProxyType({})


class Crew:
    """Carries a plan out on the machines that ``equip`` makes for its nodes. ``own``: what their processes
    show and trust, where it is not for this launch to make."""

    def __init__(
        self,
        plan: LaunchPlan,
        post: Post,
        equip: Callable[[NodePlan], Machine],
        own: Mapping[str, str] = NOTHING,
    ) -> None:
        each_has = _secrets(plan, own)
        self._nodes = {
            node.node: Node(node, equip(node), post, has)
            for node, has in zip(plan.nodes, each_has, strict=True)
        }
        self._is_hurried = False
        self._node_of = {role.name: self._nodes[node.node] for node in plan.nodes for role in node.roles}

    def step(self, node: int, phase: Phase) -> None:
        self._nodes[node].step(phase)

    def start(self, role: str) -> None:
        self._node_of[role].start(role)

    def tell(self, fallen: TellFallen) -> None:
        number = trainer_number(fallen.role)
        who = {"other": fallen.role} if number is None else {"trainer": number}
        said = {"text": fallen.text, "goes_on": fallen.goes_on, **who}
        self._node_of[fallen.hearer].tell(fallen.hearer, said)

    def stop(self, node: int, grace_s: float) -> None:
        self._nodes[node].stop(grace_s)

    def kill(self, node: int) -> None:
        self._nodes[node].kill()

    def withdraw(self, nodes: Iterable[int]) -> None:
        self._await([self._nodes[node].withdraw() for node in nodes], _WITHDRAWAL_S)

    def close(self, say: Say = unheard) -> str:
        self._await([node.close() for node in self._nodes.values()], _GOODBYE_S)
        return ""

    def hurry(self) -> None:
        self._is_hurried = True

    def _await(self, done: Sequence[Event], patience_s: float) -> None:
        end = time.monotonic() + patience_s
        for is_done in done:
            while not (is_done.wait(_LOOK_S) or self._is_hurried or time.monotonic() > end):
                pass


def _secrets(plan: LaunchPlan, own: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Of every node: what is given, or else a new token, and where they encrypt, papers of its own."""
    token = own.get("token") or (secrets.token_hex(32) if plan.has_token else "")
    if own or not plan.encrypts:
        yield from (dict(own) if own else {"token": token} if token else {} for _ in plan.nodes)
        return
    from paddle._launch.authority import Authority  # takes a moment to load

    authority = Authority(plan.name, datetime.now(UTC))
    for node in plan.nodes:
        papers = authority.issue([node.address])
        yield {
            "token": token,
            "tls_ca": papers.authority,
            "tls_cert": papers.certificate,
            "tls_key": papers.key,
        }
