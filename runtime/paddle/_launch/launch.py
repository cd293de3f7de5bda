"""One launch: the loop between the supervisor, which decides, and the carrier, which does.

It runs in the main thread and owns its signals. It must never know how a node is reached.

Guarantee: it ends when the supervisor says so, and on whatever way it is left, the agents lose their leashes.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty

from paddle._launch import logs
from paddle._launch.actions import Action, Foretell, Kill, StartRole, Step, Stop, Tell
from paddle._launch.backends import Carrier, Post
from paddle._launch.board import Board, rows_of
from paddle._launch.cause import Cause
from paddle._launch.events import Answered, Event, RoleExited, RoleReady, Signalled, Tick
from paddle._launch.inbox import Inbox
from paddle._launch.news import (
    Bulletin,
    Changed,
    Collected,
    Entered,
    Grown,
    News,
    Printed,
    Progress,
    Restarted,
    Told,
)
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan, count
from paddle._launch.restarts import Restarts
from paddle._launch.results.arriving import Arriving
from paddle._launch.results.curve import LossCurve
from paddle._launch.screens.screen import Screen
from paddle._launch.signals import heard
from paddle._launch.supervisor import Supervisor
from paddle._visible import visible

_TICK_S = 0.2
_STALL_S = 10 * _TICK_S
_NO_PAUSE = "Ctrl+Z is not obeyed: a launcher that stands still loses its nodes. Ctrl+C ends the job."
_WHAT_THEN = {Phase.COLLECT: "; what is being collected still arrives", Phase.END: ""}


class _AwakeClock:
    """Seconds without those in which this process stood still: nobody else was silent then.

    It is looked at in every turn of the loop, so a long time between two looks is such a pause.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked = clock()
        self._lost = 0.0

    def __call__(self) -> float:
        now = self._clock()
        if now - self._looked > _STALL_S:
            self._lost += now - self._looked
        self._looked = now
        return now - self._lost


class Launch:
    """Carries out a plan. ``carry``: makes the carrier. ``clock`` gives seconds."""

    def __init__(
        self,
        plan: LaunchPlan,
        screen: Screen,
        carry: Callable[[LaunchPlan, Post], Carrier],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan = plan
        self._screen = screen
        self._clock = _AwakeClock(clock)
        self._inbox: Inbox[Event | News] = Inbox()
        self._urgent: deque[Event | News] = deque()  # who asks for an end goes before all that roles print
        self._carrier = carry(plan, self._inbox.deliver)
        self._supervisor = Supervisor(
            nodes=[node.node for node in plan.nodes],
            pservers={role.name: role.node for role in plan.roles("pserver")},
            trainers={role.name: role.node for role in plan.roles("trainer")},
            limits=Limits(serve_s=plan.ready_timeout_s),
            restarts=Restarts(plan.max_restart, keeps_snapshots=plan.snapshots is not None),
            min_trainers=plan.min_trainers,
        )
        self._board = Board(rows_of(plan))
        self.collected: set[tuple[int, str]] = set()  # of which node which folder is where the user looks
        self._is_unread = False
        self._tails = logs.Tails()
        self._curve: LossCurve | None = None
        self._arriving: Arriving | None = None
        self._took: list[str] = []  # of each phase that is over, in words
        self._began = self._since = self._training_since = self._ticked = self._clock()

    def run(self) -> int:
        """Run the job to its end; gives the exit status."""
        with _signals_to(self.ask):
            try:
                self._act(self._supervisor.begin(self._clock()))
                while self._supervisor.phase is not Phase.END:
                    self._turn()
            finally:
                with _signals_to(self._hurry):
                    self._inbox.close()
                    self._withdraw()
                    self._carrier.close()
                self._screen.close()
        return self._supervisor.exit_status

    def _turn(self) -> None:
        """Take what came in, or nothing for a while, and look at the clock."""
        message: Event | News = Tick()
        with contextlib.suppress(Empty):
            message = self._inbox.get(timeout=_TICK_S)
        while self._urgent:
            self._take(self._urgent.popleft())
        self._take(message)
        self._tick()

    def _withdraw(self) -> None:
        """Remove what was sent and nothing was trained in, once the logs of it are here."""
        if self._plan.package is not None and not self.has_trained:
            nodes = range(len(self._plan.nodes))
            self._carrier.withdraw(n for n in nodes if not self.has_started or (n, "log") in self.collected)

    def _hurry(self, told: Event | News) -> None:
        """Nothing is left to decide: who asks once more wants the prompt."""
        if isinstance(told, Signalled):
            self._carrier.hurry()

    def ask(self, event: Event | News) -> None:
        """Have the launch take an event from elsewhere, before all that waits. Any thread may ask, and a
        signal."""
        self._urgent.append(event)
        self._inbox.put(Tick())

    @property
    def cause(self) -> Cause | None:
        """Why it did not end well."""
        return self._supervisor.cause

    @property
    def unfit(self) -> dict[int, str]:
        """Nodes that cannot be used, and why; nothing was changed anywhere then."""
        return self._supervisor.unfit

    @property
    def has_started(self) -> bool:
        """Whether any role was started."""
        return Phase.SERVE in self._supervisor.history

    @property
    def has_trained(self) -> bool:
        """Whether any trainer was started."""
        return Phase.TRAIN in self._supervisor.history

    def last_lines(self, role: str) -> tuple[str, ...]:
        """Give the last lines that a role printed."""
        return self._tails.of(role)

    def draw_curve(self) -> Path | None:
        """Draw the loss curve; gives the file that shows it, None when nothing was reported."""
        return self._curve.draw() if self._curve else None

    def _tick(self) -> None:
        """Let the supervisor see the clock, however many messages there are."""
        now = self._clock()
        if now - self._ticked >= _TICK_S:
            self._ticked = now
            self._take(Tick())
            if self._supervisor.phase < Phase.FINISH:
                self._screen.show(self._board, now)
            if self._screen.is_gone and not self._is_unread:
                self._is_unread = True
                self._take(Signalled(signal.SIGHUP))  # as when a terminal is gone

    def _take(self, message: Event | News) -> None:
        if not isinstance(message, News):
            self._decide(message)
            return
        match message:
            case Printed(role, lines):
                self._tails.add(role, lines)
                if self._arriving:
                    self._arriving.add(role, lines)
            case Grown(node, file, text):
                if self._arriving:
                    self._arriving.grow(node, file, text)
                return
            case Progress():
                if not self._board.moving():
                    self._tell_first_step()
                if self._curve:
                    self._curve.add(message, self._clock() - self._training_since)
            case Collected(node, folder):
                self.collected.add((node, folder))
            case Restarted(source, text) | Told(source, text):
                self._screen.say(f"{source}: {visible(text)}")
        self._tell(message)

    def _tell_first_step(self) -> None:
        now = self._clock()
        took, in_all = now - self._training_since, now - self._began
        phases = ", ".join([*self._took, f"train {took:.1f}"])
        self._screen.say(f"first step after {took:.1f} s, {in_all:.1f} s in all: {phases}")

    def _tell(self, bulletin: Bulletin) -> None:
        self._board.take(bulletin)
        self._screen.tell(bulletin)

    def _decide(self, event: Event) -> None:
        known, cause = len(self._supervisor.history), self._supervisor.cause
        match event:
            case RoleReady(role):
                self._tell(Changed(role, "serves"))
            case RoleExited(role, status):
                is_over = self._supervisor.phase >= Phase.STOP
                self._tell(Changed(role, "stopped" if is_over else "failed" if status else "ended", status))
        actions = self._supervisor.handle(event, self._clock())
        if self._supervisor.cause is not cause and self._supervisor.cause:
            self._tell_cause(self._supervisor.cause)
        for phase in self._supervisor.history[known:]:
            self._enter(phase)
        self._act(actions)

    def _tell_cause(self, cause: Cause) -> None:
        """Say why it ends. What failed before anything ran is said once, when all is over."""
        self._screen.show(self._board, self._clock())
        self._screen.fix()
        if self.has_started or cause.signum is not None:
            what_then = _WHAT_THEN.get(self._supervisor.phase, "; stopping every process")
            self._screen.say(visible(self._where(cause).rstrip(".")) + what_then)

    def _where(self, cause: Cause) -> str:
        node = next((node for node in self._plan.nodes if node.node == cause.node), None)
        return f"node {node.node} ({node.address}): {cause.text}" if node else cause.text

    def _enter(self, phase: Phase) -> None:
        now = self._clock()
        took, self._since = now - self._since, now
        self._took.append(f"{self._supervisor.history[len(self._took)].name.lower()} {took:.1f}")
        self._tell(Entered(phase.name.lower(), round(now - self._began, 3)))
        match phase:
            case Phase.DELIVER if self._plan.package is not None:
                self._screen.say(f"sending the workspace to {count(len(self._plan.nodes), 'node')}")
            case Phase.SERVE:
                logs.clear(self._plan.home, self._plan.id)
                self._arriving = Arriving(self._plan, self._screen.say)
                self._screen.say(f"starting {count(len(self._plan.roles('pserver')), 'pserver')}")
            case Phase.TRAIN:
                self._training_since = now
                self._curve = LossCurve(self._plan.home / "log", self._screen.say, self._plan.name)
                trainers = count(len(self._plan.roles("trainer")), "trainer")
                self._screen.say(f"pservers ready after {took:.1f} s; starting {trainers}")
            case Phase.FINISH:
                self._screen.show(self._board, float("inf"))
                self._screen.fix()
                but = f", but for {', '.join(spared)}" if (spared := self._supervisor.spared) else ""
                self._screen.say(f"trainers ended well after {took:.1f} s{but}")
                if not self._supervisor.has_met:
                    self._screen.say("no trainer has spoken to the pservers: stopping them")
            case Phase.COLLECT if self.has_started:
                self._screen.say("collecting results")
            case Phase.KILL:
                self._screen.say("killing what is left")

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Step(node, Phase.COLLECT) if not self.has_started:  # an earlier job's logs stay
                    self._inbox.put(Answered(node, Phase.COLLECT))
                case Step(node, phase):
                    self._carrier.step(node, phase)
                case StartRole(role):
                    if (row := self._board.row(role)) and row.restarts:
                        self._screen.say(f"starting {role} again")
                    self._tell(Changed(role, "starts"))
                    self._carrier.start(role)
                case Foretell(role, text):
                    self._take(Restarted(role, text))
                    self._tell(Changed(role, "waits"))
                case Tell(role, text):
                    self._take(Told(role, text))
                case Stop(node, grace_s):
                    self._carrier.stop(node, grace_s)
                case Kill(node):
                    self._carrier.kill(node)


@contextlib.contextmanager
def _signals_to(post: Callable[[Event | News], None]) -> Iterator[None]:
    """Post signals instead of ending. Nobody is to wonder why a job ended while its launcher was asleep."""
    before = {number: signal.signal(number, lambda n, _: post(Signalled(n))) for number in heard()}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, lambda *_: post(Told("paddle.py", _NO_PAUSE)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
