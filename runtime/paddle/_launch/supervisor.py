"""The supervisor: what a job does next, and when it is over.

A state machine without I/O: events go in, actions come out, the time is an argument. It must never know how a
node is reached or a process started; it knows nodes and roles by name only.

Rules:

1.  The phases of a launch follow each other: REACH, DELIVER, OPEN, SERVE, TRAIN, FINISH, SETTLE, STOP, KILL,
    COLLECT, END. A phase is left forwards only.
2.  REACH, DELIVER and OPEN ask every node for one step, and the next phase begins when all have answered. So
    no node is changed before all were reached, and no role is started before all agents are up.
3.  SERVE starts every pserver and ends when all are ready. TRAIN starts every trainer and ends when all have
    ended well. FINISH waits for the pservers to end by themselves, if a trainer ever joined them; those that
    do not are stopped, which is no failure.
4.  A failure leads to STOP. These are failures: a role that ends with a status other than 0; a pserver that
    ends before TRAIN, or says that the job broke; a node that says so, whose agent ends unasked, or from
    which nothing was heard for too long; a phase that takes longer than its limit.
5.  INT, TERM and HUP lead to STOP. In STOP they lead to KILL, and after that to END. In COLLECT the first one
    only decides the status, if nothing has: what is nearly there is not given up for one keystroke too many.
6.  STOP tells every node to stop, whatever it is doing, and KILL those that have not ended in time. One that
    outlives KILL is given up, so that the launcher always ends.
7.  COLLECT fetches the logs of every node whose agent was up, whatever happened there.
8.  The exit status is that of the first cause: of a role its own, 128 + n for signal n, 1 for a node; 0 where
    there was none.
9.  From TRAIN and FINISH a role's failure leads to STOP through SETTLE, in which the others may end, too, and
    say why. It lasts until the cause is clear (cause.py), or all trainers have ended, or its limit. Whatever
    else ends it, the roles' failure came first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from signal import Signals

from paddle._launch.cause import Blame, Cause, end_of


class Phase(IntEnum):
    """Where a launch is; see the rules."""

    REACH = 1
    DELIVER = 2
    OPEN = 3
    SERVE = 4
    TRAIN = 5
    FINISH = 6
    SETTLE = 7
    STOP = 8
    KILL = 9
    COLLECT = 10
    END = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long things may take, in seconds. Stopping and killing together stay below five."""

    reach_s: float = 60.0
    open_s: float = 30.0
    serve_s: float = 60.0
    finish_s: float = 10.0
    settle_s: float = 2.0
    grace_s: float = 2.0
    stop_s: float = 3.0
    kill_s: float = 1.5
    silence_s: float = 15.0

    def of(self, phase: Phase) -> float | None:
        """The longest that ``phase`` may last; None where only the user can judge."""
        match phase:
            case Phase.REACH:
                return self.reach_s
            case Phase.OPEN:
                return self.open_s
            case Phase.SERVE:
                return self.serve_s
            case Phase.FINISH:
                return self.finish_s
            case Phase.SETTLE:
                return self.settle_s
            case Phase.STOP:
                return self.stop_s
            case Phase.KILL:
                return self.kill_s
        return None


# Events


@dataclass(frozen=True, slots=True)
class Answered:
    """A node has done its step of a phase."""

    node: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Heard:
    """A node gave a sign of life."""

    node: int


@dataclass(frozen=True, slots=True)
class RoleReady:
    """A pserver serves."""

    role: str


@dataclass(frozen=True, slots=True)
class RoleJoined:
    """A trainer has come to a pserver, which says so."""

    role: str


@dataclass(frozen=True, slots=True)
class JobBroke:
    """A pserver says that the job broke: by which roles, itself perhaps, as far as it knows."""

    role: str
    culprits: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RoleExited:
    """A role's process has ended: its exit status, or minus the signal that killed it."""

    role: str
    status: int


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """A node could not do what it was asked; it still waits to be stopped."""

    node: int
    text: str


@dataclass(frozen=True, slots=True)
class NodeEnded:
    """Nothing goes on at a node any more."""

    node: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Signalled:
    """The launcher got a signal."""

    signum: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Event = (
    Answered
    | Heard
    | RoleReady
    | RoleJoined
    | JobBroke
    | RoleExited
    | NodeFailed
    | NodeEnded
    | Signalled
    | Tick
)


# Actions


@dataclass(frozen=True, slots=True)
class Step:
    """Have a node do its step of a phase; it answers with ``Answered`` or ``NodeFailed``."""

    node: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class StartRole:
    """Start a role on its node."""

    role: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Have a node end everything, whatever it is doing; it answers with ``NodeEnded``."""

    node: int
    grace_s: float


@dataclass(frozen=True, slots=True)
class Kill:
    """End everything at a node by force."""

    node: int


Action = Step | StartRole | Stop | Kill


class Supervisor:
    """One launch. ``pservers`` and ``trainers``: the node of each role, by the role's name."""

    def __init__(
        self,
        nodes: Sequence[int],
        pservers: Mapping[str, int],
        trainers: Mapping[str, int],
        limits: Limits | None = None,
    ) -> None:
        self.phase = Phase.REACH
        self.history: list[Phase] = []  # every phase that was entered, however shortly it lasted
        self.cause: Cause | None = None
        self._nodes = tuple(nodes)
        self._pservers, self._trainers = dict(pservers), dict(trainers)
        self._limits = limits or Limits()
        self._blame = Blame(self._pservers | self._trainers)
        self.has_met = False  # whether any trainer has come to a pserver
        self._since = 0.0
        self._waiting: set[int | str] = set()  # for whom the phase lasts: nodes or roles
        self._up: set[int] = set()
        self._over: set[int | str] = set()  # nodes and roles that have ended
        self._heard: dict[int, float] = {}
        self._is_collecting_on = False  # after a signal

    @property
    def exit_status(self) -> int:
        """The launcher's, by rule 8."""
        return self.cause.status if self.cause else 0

    def begin(self, now: float) -> list[Action]:
        """Give the first actions."""
        return self._enter(Phase.REACH, now)

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take one event; gives what is to be done."""
        match event:
            case Tick():
                return self._look_at_clock(now)
            case Signalled(signum):
                return self._signalled(signum, now)
            case Heard(node):
                self._heard[node] = now
            case Answered(node, phase):
                self._heard[node] = now
                if phase is Phase.OPEN:
                    self._up.add(node)
                return self._arrived(node, now) if phase is self.phase else []
            case RoleReady(role):
                return self._arrived(role, now) if self.phase is Phase.SERVE else []
            case RoleJoined():
                self.has_met = True
            case JobBroke(role, culprits, reason):
                if Phase.TRAIN <= self.phase <= Phase.SETTLE:
                    self._blame.told(role, culprits, reason)
                    return self._settle(now)
            case RoleExited(role, status):
                return self._exited(role, status, now)
            case NodeFailed(node, text):
                return self._failed(node, text, now)
            case NodeEnded(node, text):
                return self._ended(node, text, now)
        return []

    def _enter(self, phase: Phase, now: float) -> list[Action]:
        self.phase, self._since = phase, now
        self.history.append(phase)
        actions: list[Action] = []
        match phase:
            case Phase.REACH | Phase.DELIVER | Phase.OPEN:
                self._waiting = set(self._nodes)
                actions = [Step(node, phase) for node in self._nodes]
            case Phase.SERVE:
                self._heard = dict.fromkeys(self._nodes, now)
                self._waiting = set(self._pservers)
                actions = [StartRole(role) for role in self._pservers]
            case Phase.TRAIN:
                self._waiting = set(self._trainers)
                actions = [StartRole(role) for role in self._trainers]
            case Phase.FINISH:
                self._waiting = {role for role in self._pservers if self.has_met and role not in self._over}
            case Phase.SETTLE:
                is_clear = self._blame.is_clear
                self._waiting = {role for role in self._trainers if not is_clear and role not in self._over}
            case Phase.STOP:
                self.cause = self.cause or self._blame.cause()
                self._waiting = {node for node in self._nodes if node not in self._over}
                actions = [Stop(node, self._limits.grace_s) for node in self._nodes if node in self._waiting]
            case Phase.KILL:
                actions = [Kill(node) for node in self._nodes if node in self._waiting]
            case Phase.COLLECT:
                self._waiting = set(self._up)
                actions = [Step(node, phase) for node in self._nodes if node in self._up]
            case Phase.END:
                return []
        return actions + (self._leave(now) if not self._waiting else [])

    def _leave(self, now: float) -> list[Action]:
        """Go on from a phase that waits for nobody any more."""
        skipping = {Phase.FINISH: Phase.STOP, Phase.STOP: Phase.COLLECT}
        return self._enter(skipping.get(self.phase) or Phase(self.phase + 1), now)

    def _arrived(self, who: int | str, now: float) -> list[Action]:
        if who not in self._waiting:
            return []
        self._waiting.remove(who)
        return [] if self._waiting else self._leave(now)

    def _fail(self, cause: Cause, now: float) -> list[Action]:
        self.cause = self.cause or self._blame.cause() or cause
        return self._enter(Phase.STOP, now) if self.phase < Phase.STOP else []

    def _signalled(self, signum: int, now: float) -> list[Action]:
        before = self.phase
        text = f"stopped by {Signals(signum).name}"
        actions = self._fail(Cause(status=128 + signum, text=text, signum=signum), now)
        if before < Phase.STOP or before is Phase.END:
            return actions
        if before is Phase.COLLECT and not self._is_collecting_on:
            self._is_collecting_on = True
            return []
        return self._enter(Phase.KILL if before is Phase.STOP else Phase.END, now)

    def _settle(self, now: float) -> list[Action]:
        """Rule 9, with what is known now."""
        if self.phase < Phase.SETTLE:
            return self._enter(Phase.SETTLE, now)
        is_over = self._blame.is_clear or self._trainers.keys() <= self._over
        return self._leave(now) if is_over else []

    def _exited(self, role: str, status: int, now: float) -> list[Action]:
        self._over.add(role)
        if self.phase >= Phase.STOP:
            return []
        if self.phase < Phase.TRAIN:
            return self._exited_early(role, status, now)
        self._blame.ended(role, status)
        if status or self.phase is Phase.SETTLE:
            return self._settle(now)
        return self._arrived(role, now)

    def _exited_early(self, role: str, status: int, now: float) -> list[Action]:
        if status == 0 and role not in self._pservers:
            return []
        when = " before it was ready" if role in self._waiting else ""
        node = (self._pservers | self._trainers)[role]
        return self._fail(end_of(role, node, status, when=when), now)

    def _failed(self, node: int, text: str, now: float) -> list[Action]:
        actions = []
        if self.phase not in (Phase.STOP, Phase.KILL, Phase.END):
            actions = self._fail(Cause(status=1, text=text, node=node), now)
        return actions + (self._arrived(node, now) if self.phase is Phase.COLLECT else [])

    def _ended(self, node: int, text: str, now: float) -> list[Action]:
        self._over.add(node)
        if self.phase in (Phase.STOP, Phase.KILL):
            return self._arrived(node, now)
        reason = f"its agent ended unasked{': ' + text if text else ''}"
        return self._fail(Cause(status=1, text=reason, node=node), now) if self.phase < Phase.STOP else []

    def _look_at_clock(self, now: float) -> list[Action]:
        limit = self._limits.of(self.phase)
        if limit is not None and now - self._since > limit:
            return self._too_late(limit, now)
        if Phase.SERVE <= self.phase < Phase.STOP:
            for node, heard in self._heard.items():
                if now - heard > self._limits.silence_s:
                    text = f"nothing was heard from it for {now - heard:.0f} s"
                    return self._fail(Cause(status=1, text=text, node=node), now)
        return []

    def _too_late(self, limit: float, now: float) -> list[Action]:
        if self.phase >= Phase.FINISH:
            return self._enter(Phase.STOP if self.phase is Phase.FINISH else Phase(self.phase + 1), now)
        late = sorted(self._waiting, key=str)[0]
        if isinstance(late, str):
            text = f"{late} was not ready within {limit:.0f} s"
            return self._fail(Cause(status=1, text=text, node=self._pservers[late], role=late), now)
        text = f"it did not answer within {limit:.0f} s"
        return self._fail(Cause(status=1, text=text, node=late), now)
