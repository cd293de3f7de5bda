"""Causes: of all that ends when a job breaks, what broke it.

A job that breaks in one place ends everywhere: a trainer that fails tells the pservers before it is gone, and
they tell the other trainers, so the ends come in any order. Pure; it must never know what is done about it.

Blame goes, by the first of these rules that names somebody,

1. to the trainer that a pserver named first;
2. to the pserver that first said that it broke the job itself;
3. to the first role that a signal killed: what goes on in a job kills nobody;
4. to the first role that failed, but for pservers that only said that the job broke;
5. to the first role that failed, or else to the pserver that first said so.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from signal import SIGKILL, Signals

_OF_KILLED = (
    "SIGKILL is not the launcher's doing; where memory runs out it is the kernel's, and on that node "
    "`dmesg | grep -i 'killed process'` says so"
)
OF_AGENT = (
    "; where memory runs out the kernel kills, and on that node `dmesg | grep -i 'killed process'` says so"
)
LEFT_UNSAID = "ended without a goodbye (status 0)"
_UNSAID = (
    "the parameter servers still wait for it: a program that ends says goodbye to them, but not one that "
    "ends by os._exit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a job did not end well, and where. ``detail``: what another role said about it."""

    status: int
    text: str
    node: int | None = None
    role: str | None = None
    signum: int | None = None
    detail: str = ""

    @property
    def why(self) -> str:
        """``detail``, and of a role that SIGKILL has ended who may have sent it."""
        is_killed = self.role is not None and self.status == 128 + SIGKILL
        return "; ".join(filter(None, [self.detail, _OF_KILLED if is_killed else ""]))


def end_of(role: str, node: int, status: int, *, when: str = "", detail: str = "") -> Cause:
    """The end of a role as a cause; a status of 0 is none to hand on. ``when``: in words."""
    own = 128 - status if status < 0 else status or 1
    return Cause(status=own, text=f"{role} {how_ended(status)}{when}", node=node, role=role, detail=detail)


def stopped(signum: int, by: str) -> Cause:
    """Somebody's wish as a cause. ``by``: whose, or which signal."""
    return Cause(status=128 + signum, text=f"stopped by {by}", signum=signum)


def late_nodes(nodes: Sequence[int], limit_s: float, lost: str = "", said: str = "") -> Cause:
    """Nodes that did not answer in time as a cause. ``lost``: why the first of them was looked for again;
    ``said``: what was heard of it last."""
    others = f", nor did node {', '.join(map(str, nodes[1:]))}" if nodes[1:] else ""
    text = f"{lost}{lost and ', and '}it did not answer within {limit_s:.0f} s{others}{said and ': '}{said}"
    return Cause(status=1, text=text, node=nodes[0])


def late_pservers(nodes: Mapping[str, int], late: Container[object], limit_s: float) -> Cause:
    """Pservers that were not ready in time as a cause. ``nodes``: the node of each, late or not."""
    first, *others = [role for role in nodes if role in late]
    more = f", nor was {', '.join(others)}" if others else ""
    text = f"{first} was not ready within {limit_s:.0f} s{more}"
    return Cause(status=1, text=text, node=nodes[first], role=first)


class Blame:
    """Takes what is known of the ends of roles; ``nodes``: the node of each, by the role's name."""

    def __init__(self, nodes: Mapping[str, int]) -> None:
        self._nodes = nodes
        self.begin_again()

    def begin_again(self) -> None:
        """The whole job does: nothing is known."""
        self._ends: dict[str, int] = {}  # in the order in which they came
        self._named: dict[str, str] = {}  # who is blamed by a pserver -> its words
        self._told: dict[str, str] = {}  # who said that the job broke -> its words
        self._notes: dict[str, str] = {}

    def ended(self, role: str, status: int) -> None:
        """A role has ended: its exit status, or minus the signal that killed it. Its last end counts."""
        self._ends.pop(role, None)
        self._ends[role] = status

    def quit(self, role: str) -> None:
        """A trainer has ended well, and others wait for it all the same."""
        self._named.setdefault(role, _UNSAID)

    def missed(self, role: str, status: int, why: str) -> None:
        """Others cannot meet because of a role that had ended so; with status 0 that is why it is blamed."""
        self.ended(role, status)
        if status:
            self.note(role, "; ".join(filter(None, [why, self.noted(role)])))
        else:
            self._named.setdefault(role, why)

    def note(self, role: str, text: str) -> None:
        """Something to be said of a role, should it be to blame; an empty text takes no other's place."""
        self._notes[role] = text or self.noted(role)

    def noted(self, role: str) -> str:
        """What is to be said of a role besides."""
        return self._notes.get(role, "")

    def told(self, role: str, culprits: Sequence[str], reason: str) -> None:
        """A pserver said that the job broke, and by whom: trainers, itself, or nobody that it knows of."""
        self._told.setdefault(role, f"{role}: {reason}")
        for culprit in culprits:
            if culprit in self._nodes:
                self._named.setdefault(culprit, f"{role}: {reason}")

    def awaited(self, trainers: Iterable[str], pservers: Iterable[str], over: Set[int | str]) -> set[str]:
        """Who may still say it better, unless it is clear: all but those that are ``over``, and pservers that
        have said it."""
        return set() if self.is_clear else {*trainers, *(set(pservers) - self._told.keys())} - over

    @property
    def is_clear(self) -> bool:
        """Whether nothing that may still come would say it better."""
        role = self._role()
        return role in self._ends and (role in self._named or self._ends[role] < 0)

    def cause(self) -> Cause | None:
        """Give the cause, as far as it is known."""
        role = self._role()
        if role is None:
            return None
        node, said = self._nodes[role], self._named.get(role) or self._told.get(role, "")
        is_own = bool(self._ends.get(role))  # what it printed says it better
        detail = "; ".join(filter(None, ["" if is_own else said, self.noted(role)]))
        if role not in self._ends:
            return Cause(status=1, text=f"{role} broke the job", node=node, role=role, detail=detail)
        if said == _UNSAID:
            return Cause(status=1, text=f"{role} {LEFT_UNSAID}", node=node, role=role, detail=detail)
        return end_of(role, node, self._ends[role], detail=detail)

    def _role(self) -> str | None:
        """Who is to blame, by the rules."""
        failed = [role for role, status in self._ends.items() if status]
        by_rule = (
            [role for role in self._named if role not in self._told],
            [role for role in self._named if role in self._told],
            [role for role in failed if self._ends[role] < 0],
            [role for role in failed if role not in self._told],
            failed,
            list(self._told),
        )
        return next((role for roles in by_rule for role in roles), None)


def how_ended(status: int) -> str:
    """Say an exit status, or minus the signal that killed, in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {Signals(-status).name}"
    except ValueError:  # a real-time signal
        return f"was killed by signal {-status}"
