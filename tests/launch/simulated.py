"""A launch on nodes and a clock that are only told: whatever happens, and when, is the test's to say.

Time passes where the launch waits for the next message, and nowhere else.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from queue import Empty
from typing import Any

from paddle._launch.actions import TellFallen
from paddle._launch.backends import Post, Say, unheard
from paddle._launch.events import Answered, NodeEnded, NodeFailed, RoleExited, RoleJoined, RoleReady
from paddle._launch.news import Collected, Progress
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.results.keeper import Keeper
from paddle._launch.settings import Host

STEP_S, START_S, END_S = 0.3, 0.5, 0.1
TRAINING_S = 5.0
LEASH_S, KILL_S, GIVEN_UP_S = 1.2, 0.3, 5.0


def plan(home: Path, nodes: int) -> LaunchPlan:
    """A pserver and a trainer on every node, and a package that is empty."""
    kinds = ("pserver", "trainer")
    return LaunchPlan(
        name="JOB1",
        nodes=tuple(
            NodePlan(
                node=node,
                host=Host(f"n{node}", "root"),
                address=f"10.0.0.{node}",
                workspace=Path("/srv/JOB1"),
                roles=tuple(
                    RolePlan(name=f"{kind}-{node}", kind=kind, node=node, argv=(), env={}, prepend={}, log="")
                    for kind in kinds
                ),
            )
            for node in range(nodes)
        ),
        prepare=(),
        package=(),
        home=home,
        snapshots=None,
        ports=(1, 1, 0),
        origins=(),
        ready_timeout_s=60.0,
    )


class World:
    """The clock, and what is to happen. ``taken``: how many messages the launch has taken; ``before_take``
    is called before each with their number so far."""

    def __init__(self) -> None:
        self.now = 0.0
        self.taken = 0
        self.before_take: Callable[[int], None] = lambda taken: None
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._messages: list[Any] = []

    def clock(self) -> float:
        return self.now

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self.now + seconds, next(self._numbers), act))

    # In place of the queue that the launch waits at

    def put(self, message: Any) -> None:
        self._messages.append(message)

    deliver = put

    def close(self) -> None:
        """Nobody waits here."""

    def get(self, timeout: float) -> Any:
        self.before_take(self.taken)
        end = self.now + timeout
        while not self._messages and self._due and self._due[0][0] <= end:
            self.now, _, act = heapq.heappop(self._due)
            act()
        if not self._messages:
            self.now = end
            raise Empty
        self.taken += 1
        return self._messages.pop(0)

    def run_out(self) -> None:
        """Let all that is still to happen happen."""
        while self._due:
            self.now, _, act = heapq.heappop(self._due)
            act()


class SimulatedNode:
    """One node. ``how``: ``sound``; ``stubborn``: its roles end by force alone; ``hangs``: its agent does
    nothing from when its trainer has started; ``dead``: it answers nobody from then on."""

    def __init__(self, node: int, how: str, world: World, post: Post) -> None:
        self.node, self.how = node, how
        self._world, self._post = world, post
        self.is_stopped = self.is_open = self.has_trained = self.is_let_go = False
        self.running: set[str] = set()
        self.ended_at = 0.0  # when the last of its roles was gone
        self.told_at = 0  # how many messages the launch had taken when it was told to stop

    def is_silent(self) -> bool:
        return self.has_trained and self.how == "dead"

    def step(self, phase: Phase) -> None:
        self._world.after(STEP_S, lambda: self._stepped(phase))

    def _stepped(self, phase: Phase) -> None:
        if self.is_silent():
            self._world.after(GIVEN_UP_S, lambda: self._post(NodeFailed(self.node, "it does not answer")))
        elif phase is Phase.COLLECT:
            self._post(Collected(self.node, "log"))
            self._post(Answered(self.node, phase))
        elif not self.is_stopped:
            self.is_open = phase is Phase.OPEN
            self._post(Answered(self.node, phase))

    def start(self, role: str) -> None:
        assert self.is_open
        assert not self.is_stopped, "no role is started once the end has begun"
        self.running.add(role)
        if role.startswith("pserver"):
            self._world.after(START_S, lambda: self._post(RoleReady(role)))
            return
        self.has_trained = True
        self._world.after(START_S, lambda: self._trains(role))
        if self.how in ("sound", "stubborn"):
            self._world.after(TRAINING_S, lambda: self._finish(role))

    def _trains(self, role: str) -> None:
        if role in self.running and not self.is_silent() and self.how != "hangs":
            self._post(RoleJoined(f"pserver-{self.node}"))
            self._post(Progress(role, 0, 0, 1.0, 1.0))

    def _finish(self, role: str) -> None:
        if role in self.running and not self.is_stopped:
            self._exit(role, 0)
            self._world.after(START_S, lambda: self._exit(f"pserver-{self.node}", 0))

    def _exit(self, role: str, status: int) -> None:
        if role in self.running:
            self.running.discard(role)
            self.ended_at = self._world.now
            self._post(RoleExited(role, status))

    def stop(self, grace_s: float) -> None:
        self.is_stopped, self.told_at = True, self._world.taken
        if not self.is_open:
            self._world.after(END_S, lambda: self._post(NodeEnded(self.node)))
        elif not self.has_trained or self.how in ("sound", "stubborn"):
            is_slow = self.how == "stubborn" and self.running
            self._world.after(grace_s + END_S if is_slow else END_S, lambda: self._end(-15))

    def kill(self) -> None:
        if self.is_open and not self.is_silent():
            self._world.after(KILL_S, lambda: self._end(-9))

    def let_go(self) -> None:
        """Without its leash an agent ends everything, unless it hangs."""
        self.is_let_go = True
        if self.is_open and (not self.has_trained or self.how in ("sound", "stubborn")):
            self._world.after(LEASH_S, lambda: self._end(-9))

    def _end(self, status: int) -> None:
        for role in sorted(self.running):
            self._exit(role, status)
        self._post(NodeEnded(self.node, "stopped: asked by the launcher"))


class SimulatedCrew:
    """A carrier to such nodes."""

    def __init__(self, hows: Iterable[str], world: World, post: Post) -> None:
        self.nodes = [SimulatedNode(node, how, world, post) for node, how in enumerate(hows)]
        self.withdrawn: set[int] = set()
        self.is_closed = False

    def step(self, node: int, phase: Phase) -> None:
        self.nodes[node].step(phase)

    def start(self, role: str) -> None:
        self.nodes[int(role[-1])].start(role)

    def tell(self, fallen: TellFallen) -> None: ...

    def stop(self, node: int, grace_s: float) -> None:
        self.nodes[node].stop(grace_s)

    def kill(self, node: int) -> None:
        self.nodes[node].kill()

    def withdraw(self, nodes: Iterable[int]) -> None:
        self.withdrawn |= set(nodes)

    def hurry(self) -> None: ...

    def close(self, say: Say = unheard) -> str:
        self.is_closed = True
        for node in self.nodes:
            node.let_go()
        return ""


class PromptKeeper(Keeper):
    """Results on a disk that takes no time: the clock of the launch is not that of a thread."""

    def _put(self, piece: Any) -> None:
        piece.do()


class SilentScreen:
    """A screen that nobody reads."""

    is_gone = takes_news = is_closed = False

    def say(self, text: str) -> None: ...

    def tell(self, bulletin: object) -> None: ...

    def show(self, board: object, now: float) -> None: ...

    def fix(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True
