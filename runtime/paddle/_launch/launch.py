"""One launch: the loop between the supervisor, which decides, and the carrier, which does.

It runs in the main thread and owns its signals. It must never know how a node is reached.

Guarantee: it ends when the supervisor says so, and on whatever way it is left, the agents lose their leashes.
The loop waits for nobody: not for a node, not for who reads, not for the disk of the results.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from queue import Empty

from paddle._launch.actions import Action, BeginAgain, Foretell, Kill, StartRole, Step, Stop, Tell, TellFallen
from paddle._launch.again.lives import Lives
from paddle._launch.again.restarts import Restarts
from paddle._launch.backends import Carrier, Post
from paddle._launch.cause import Cause
from paddle._launch.events import (
    Answered,
    Event,
    Missed,
    RoleExited,
    RoleReady,
    ShardRestarted,
    Signalled,
    Tick,
)
from paddle._launch.inbox import Inbox
from paddle._launch.machines.awake import AwakeClock
from paddle._launch.narrator import Narrator
from paddle._launch.news import Collected, News, Restarted, Told, Waiting
from paddle._launch.phases import Limits, Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.results.keeper import Keeper
from paddle._launch.screens.screen import Screen
from paddle._launch.signals import heard
from paddle._launch.supervisor import Supervisor

_TICK_S = 0.2
_DRAWING_S = 60.0  # matplotlib takes a second, and a disk that stands still is not waited for
_NO_PAUSE = "Ctrl+Z is ignored: a stopped launcher would lose its nodes. Ctrl+C ends the job."


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
        self._clock = AwakeClock(clock)
        self._inbox: Inbox[tuple[int, Event | News]] = Inbox()  # with the life it is of; 0: any
        self._life = 1
        self._urgent: deque[Event | News] = deque()  # who asks for an end goes before all that roles print
        self._carry = carry
        self._carrier = carry(plan, partial(self._deliver, self._life))
        self._supervisor = Supervisor(
            nodes=[node.node for node in plan.nodes],
            pservers={role.name: role.node for role in plan.roles("pserver")},
            trainers={role.name: role.node for role in plan.roles("trainer")},
            limits=_limits(plan),
            restarts=Restarts(plan.max_restart, keeps_snapshots=plan.snapshots is not None),
            min_trainers=plan.min_trainers,
            lives=Lives(plan.max_restart, keeps_snapshots=plan.snapshots is not None),
        )
        self.collected: set[tuple[int, str]] = set()  # of which node which folder is where the user looks
        self.left = ""  # what of it is still there, in words, and how it is taken away
        self._is_given_up = False  # who is at the terminal waits for nothing more
        self._uncollected: list[int] = []  # nodes whose logs are to be fetched
        self._is_unread = False
        self._ticked = self._clock()
        self._keeper = Keeper(plan)
        self._narrator = Narrator(plan, screen, self._keeper, self._supervisor, self._ticked)

    def run(self, explain: Callable[[], None] = lambda: None) -> int:
        """Run the job to its end; gives the exit status. ``explain``: says why it failed, before what it has
        left is taken away."""
        with _signals_to(self.ask):
            try:
                self._act(self._supervisor.begin(self._clock()))
                while self._supervisor.phase is not Phase.END:
                    self._turn()
                explain()
            finally:
                with _signals_to(self._hurry):
                    self._leave()
                self._screen.close()
        return self._supervisor.exit_status or (1 if self.left else 0)

    def _leave(self) -> None:
        """Let go of everything."""
        self._inbox.close()
        if self._supervisor.is_hurried:
            self._give_up()
        self._withdraw()
        self.left = self._carrier.close(self._screen.say)
        if not self.left:
            self._narrator.tell_gone()

    def _turn(self) -> None:
        """Take what came in, or nothing for a while, and look at the clock."""
        message: Event | News
        life, message = 0, Tick()
        with contextlib.suppress(Empty):
            life, message = self._inbox.get(timeout=_TICK_S)
        while self._urgent:
            self._take(self._urgent.popleft())
        if life in (0, self._life) or isinstance(message, News):
            self._take(message)
        self._tick()

    def _deliver(self, life: int, message: Event | News) -> None:
        self._inbox.deliver((life, message))

    def _withdraw(self) -> None:
        """Remove what was sent and nothing was trained in, once the logs of it are here."""
        if self._plan.package is not None and not self.has_trained:
            nodes = range(len(self._plan.nodes))
            self._carrier.withdraw(n for n in nodes if not self.has_started or (n, "log") in self.collected)

    def _hurry(self, told: Event | News) -> None:
        """Nothing is left to decide: who asks once more wants the prompt."""
        if isinstance(told, Signalled):
            self._give_up()

    def _give_up(self) -> None:
        self._is_given_up = True
        self._carrier.hurry()

    def ask(self, event: Event | News) -> None:
        """Have the launch take an event from elsewhere, before all that waits. Any thread may ask, and a
        signal."""
        self._urgent.append(event)
        self._inbox.put((0, Tick()))

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
        return self._narrator.last_lines(role)

    def place(self, role: str) -> str:
        """Where a role is: its node's address, or the pod that it is in."""
        return self._narrator.place(role)

    def draw_curve(self) -> Path | None:
        """Draw the loss curve; gives the file that shows it, None when nothing was reported."""
        if self._is_given_up and self._plan.pods is not None:
            return None
        drawn = self._keeper.finish(_DRAWING_S)
        self._narrator.pass_on()
        return drawn

    @property
    def stands_still(self) -> bool:
        """Whether the disk of the results does, so that nobody should look at it."""
        return self._keeper.stands_still

    def _tick(self) -> None:
        """Let the supervisor see the clock, however many messages there are."""
        now = self._clock()
        if now - self._ticked >= _TICK_S:
            self._ticked = now
            self._take(Tick())
            self._keeper.look(now)
            self._narrator.show(now)
            self._collect()
            if self._screen.is_gone and not self._is_unread:
                self._is_unread = True
                self._take(Signalled(signal.SIGHUP))  # as when a terminal is gone

    def _collect(self) -> None:
        """Have logs fetched once all is written that arrived of them, and take the place of that."""
        nodes = self._uncollected
        if nodes and self._keeper.is_idle:
            self._uncollected = []
            for node in nodes:
                self._carrier.step(node, Phase.COLLECT)
        elif nodes and self._keeper.stands_still:
            self._uncollected = []
            place = self._plan.home / "log"
            self._screen.say(
                f"the disk of {place} does not respond: nothing is collected, nodes keep what they have"
            )
            for node in nodes:
                self._inbox.put((0, Answered(node, Phase.COLLECT)))

    def _take(self, message: Event | News) -> None:
        if not isinstance(message, News):
            self._decide(message)
            return
        if isinstance(message, Collected):
            self.collected.add((message.node, message.folder))
        if isinstance(message, Waiting):
            self._decide(Missed(message.trainers))
        self._narrator.take(message, self._clock())

    def _decide(self, event: Event) -> None:
        known, cause = len(self._supervisor.history), self._supervisor.cause
        match event:
            case RoleReady(role):
                self._narrator.changed(role, "serves")
            case RoleExited(role, status):
                self._narrator.exited(role, status)
            case ShardRestarted(role, shard, how):
                self._take(Restarted(role, f"{shard}: {how}"))
        now = self._clock()
        actions = self._supervisor.handle(event, now)
        if self._supervisor.cause is not cause and self._supervisor.cause:
            self._narrator.tell_cause(self._supervisor.cause, now)
        for phase in self._supervisor.history[known:]:
            self._narrator.enter(phase, now)
        self._act(actions)

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Step(node, Phase.COLLECT) if not self.has_started:  # an earlier job's logs stay
                    self._inbox.put((0, Answered(node, Phase.COLLECT)))
                case Step(node, Phase.COLLECT):
                    self._uncollected.append(node)
                case Step(node, phase):
                    self._carrier.step(node, phase)
                case StartRole(role):
                    self._narrator.changed(role, "starts")
                    self._carrier.start(role)
                case Foretell(role, text):
                    self._take(Restarted(role, text))
                    self._narrator.changed(role, "waits")
                case Tell(role, text):
                    self._take(Told(role, text))
                case TellFallen():
                    self._carrier.tell(action)
                case BeginAgain(life):
                    self._begin_again(life)
                case Stop(node, grace_s):
                    self._carrier.stop(node, grace_s)
                case Kill(node):
                    self._carrier.kill(node)
        self._collect()

    def _begin_again(self, life: int) -> None:
        """Let go of what carried the life before: agents that are still there lose their leash. The next one
        has other secrets, so that nobody of the one before is let in."""
        threading.Thread(target=self._carrier.close, daemon=True).start()
        self._life = life
        self._carrier = self._carry(self._plan.again(life), partial(self._deliver, life))
        self._narrator.begin_again()


def _limits(plan: LaunchPlan) -> Limits:
    """How long things may take; what Kubernetes does takes longer, and goes on where it is not heard."""
    if plan.pods is None:
        return Limits(serve_s=plan.ready_timeout_s)
    return Limits(
        serve_s=plan.ready_timeout_s + 30.0,  # for words why
        finish_s=30.0,
        grace_s=5.0,
        stop_s=15.0,
        kill_s=10.0,
        silence_s=float("inf"),
        most_signals=2,  # nothing has to be killed: it is taken away
    )


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
