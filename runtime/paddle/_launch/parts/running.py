"""One job, running: the loop between the supervisor, which decides, and the carrier, which does.

It must never know which processes a job has, nor what they do. It differs from the launch of a workspace
(launch.py) in what a part is: one of several machines, and under fleetrun one file is server and trainer, and
says nothing of itself unless it wants to. So

1. a server counts as ready once it is started, unless servers ``say_when``: its trainers wait for it
   themselves;
2. on a machine that has servers only, they are what the job lasts for;
3. on one of several machines servers last until all trainers of the job have left them, not only its own
   (``limits``);
4. what roles print is in their logs, and where somebody asks for it (``printed``); nothing is collected;
5. whom servers miss is said after ten seconds, and again when these have doubled: it may be on another
   machine, whose launcher was not called. Nor is it a failure, but said after as long, that a server has
   ended well to which no trainer ever came: it may have begun to serve nobody.

Guarantee: it ends when the supervisor says so, and on whatever way it is left, the agent loses its leash.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from queue import Empty

from paddle._launch import logs
from paddle._launch.actions import Action, Kill, StartRole, Step, Stop, Tell, TellFallen
from paddle._launch.backends import Carrier, Post
from paddle._launch.cause import Cause
from paddle._launch.events import Answered, Event, JobBroke, Missed, RoleExited, RoleReady, Signalled, Tick
from paddle._launch.inbox import Inbox
from paddle._launch.machines.awake import AwakeClock
from paddle._launch.news import News, Printed, Told, Waiting
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.signals import heard
from paddle._launch.supervisor import Supervisor

_TICK_S = 0.2
_PATIENCE_S = 10.0  # which all need to start
_SERVES = "trainers will wait for it in vain. A server's program serves in fleet.run_server(), until its end"


class Running:
    """Carries a plan out. ``carry``: makes the carrier. ``enter``: is told of each phase that begins;
    ``tell``: of what the user should read. ``clock`` gives seconds."""

    def __init__(
        self,
        plan: LaunchPlan,
        carry: Callable[[LaunchPlan, Post], Carrier],
        enter: Callable[[Phase], None],
        tell: Callable[[str], None],
        limits: Limits | None = None,
        say_when: bool = False,
        printed: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._enter, self._tell, self._printed = enter, tell, printed
        self._clock = AwakeClock(clock)
        self._inbox: Inbox[Event | News] = Inbox()
        self._urgent: deque[Event] = deque()
        self._carrier = carry(plan, self._inbox.deliver)
        self._servers = {role.name: role.node for role in plan.roles("pserver")}
        trainers = {role.name: role.node for role in plan.roles("trainer")}
        self._own = frozenset(self._servers | trainers)
        self._supervisor = Supervisor(
            nodes=[node.node for node in plan.nodes],
            pservers=self._servers if trainers else {},
            trainers=trainers or self._servers,
            limits=limits,
            meets_at_first=False,  # but at server 0, or at another machine's worker
        )
        self._counts_as_ready = (*trainers, *(() if say_when else self._servers))
        self._tails = logs.Tails()
        self.blamed_elsewhere: dict[str, str] = {}  # roles of other machines that broke the job, and how
        self.is_blamed = False  # a role of this machine
        self.follows = False  # a server here knows of a failure, and not whose it is
        self._ticked = self._clock()
        self._told = Waiting((), 0.0)
        self._idle: dict[str, float] = {}  # servers that have ended well, and when

    def run(self) -> int:
        """Run the job to its end; gives the exit status."""
        with _signals_to(self.ask):
            try:
                self._act(self._supervisor.begin(self._clock()))
                while self._supervisor.phase is not Phase.END:
                    self._turn()
            finally:
                with _signals_to(lambda _: self._carrier.hurry()):
                    self._inbox.close()
                    self._carrier.close()
        return self._supervisor.exit_status

    @property
    def cause(self) -> Cause | None:
        """Why it did not end well."""
        return self._supervisor.cause

    @property
    def has_met(self) -> bool:
        """Whether any trainer has come to a parameter server that is here."""
        return self._supervisor.has_met

    def last_lines(self, role: str) -> tuple[str, ...]:
        """Give the last lines that a role printed."""
        return self._tails.of(role)

    def ask(self, event: Event) -> None:
        """Take an event before all that waits; any thread may ask, and a signal."""
        self._urgent.append(event)
        self._inbox.put(Tick())

    def pass_on(self, fallen: TellFallen) -> None:
        """Tell a role that runs here of one that does not; any thread may say so."""
        self._carrier.tell(fallen)

    def hear_of(self, role: str, reason: str) -> None:
        """A role of another machine has broken the job; any thread may say so."""
        self._inbox.put(JobBroke(min(self._own), (role,), reason))  # as if one that is here had said so

    def _turn(self) -> None:
        message: Event | News = Tick()
        with contextlib.suppress(Empty):
            message = self._inbox.get(timeout=_TICK_S)
        while self._urgent:
            self._decide(self._urgent.popleft())
        match message:
            case Printed(role, lines):
                self._tails.add(role, lines)
                if self._printed is not None:
                    self._printed("\n".join(lines))
            case Told(source, text):
                self._tell(f"{source}: {text}")
            case Waiting():
                self._wait(message)
                self._decide(Missed(message.trainers))
            case _ if not isinstance(message, News):
                if isinstance(message, JobBroke):
                    strangers = set(message.culprits) - self._own
                    self.blamed_elsewhere |= dict.fromkeys(strangers, message.reason)
                    self.is_blamed |= len(strangers) < len(message.culprits)
                    self.follows |= not message.culprits
                self._decide(message)
        if self._clock() - self._ticked >= _TICK_S:
            self._ticked = self._clock()
            self._decide(Tick())
            self._tell_idle()

    def _wait(self, waiting: Waiting) -> None:
        """Rule 5."""
        before = self._told.seconds if waiting.trainers == self._told.trainers else 0.0
        if waiting.seconds >= max(_PATIENCE_S, 2 * before):
            self._told = waiting
            self._tell(f"servers have waited {waiting.seconds:.0f} s for {', '.join(waiting.trainers)}")

    def _tell_idle(self) -> None:
        """Rule 5."""
        past = [role for role, ended in self._idle.items() if self._ticked - ended >= _PATIENCE_S]
        if past and not self.has_met and self._supervisor.phase is Phase.TRAIN:
            self._tell(f"{', '.join(past)} ended with status 0 before any trainer came: {_SERVES}")
            self._idle.clear()

    def _decide(self, event: Event) -> None:
        if isinstance(event, RoleExited) and event.role in self._servers and not event.status:
            self._idle[event.role] = self._clock()
        known = len(self._supervisor.history)
        actions = self._supervisor.handle(event, self._clock())
        for phase in self._supervisor.history[known:]:
            self._enter(phase)
        self._act(actions)

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Step(node, Phase.COLLECT):
                    self._inbox.put(Answered(node, Phase.COLLECT))
                case Step(node, phase):
                    self._carrier.step(node, phase)
                case StartRole(role):
                    self._carrier.start(role)
                    if role in self._counts_as_ready:
                        self._inbox.put(RoleReady(role))
                case Tell(role, text):
                    self._tell(f"{role}: {text}")
                case TellFallen():
                    self._carrier.tell(action)
                case Stop(node, grace_s):
                    self._carrier.stop(node, grace_s)
                case Kill(node):
                    self._carrier.kill(node)


@contextlib.contextmanager
def _signals_to(post: Callable[[Event], None]) -> Iterator[None]:
    """Post signals instead of ending; Ctrl+Z would only have the agent think that nobody is there."""
    before = {number: signal.signal(number, lambda n, _: post(Signalled(n))) for number in heard()}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
