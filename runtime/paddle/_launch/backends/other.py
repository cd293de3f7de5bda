"""A node that is another machine: nothing is installed there but a Python, and what it is reached by.

It must never know what comes next in a launch, nor whether SSH or mpirun leads there. Every call but
``interrupt`` is made in the node's own thread.

Guarantee, by five rules:

1. ``reach`` changes nothing on the node.
2. Whatever runs there for this launch, other than roles, is a module of the agent, from this launcher's own
   text (machines/parcel.py), and reads its standard input: it ends when that does.
3. A step that is interrupted lets go of its program, and where even that takes long, of the connection. Once
   an agent is up, its connection is not touched by that.
4. Files come back also where the agent has ended, or the connection: then another one is opened, once.
5. Killing goes past the agent: by another program on the node, for it may be the agent that hangs.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from paddle._launch import logs
from paddle._launch.agent.processes import Process
from paddle._launch.backends.cargo import Cargo
from paddle._launch.backends.leash import Leash
from paddle._launch.errors import DeliveryError, DeliveryRefused, NodeError, NodeLost
from paddle._launch.machines import arrivals, fitness
from paddle._launch.machines.conversation import Conversation, begin, converse
from paddle._launch.machines.patience import deadline
from paddle._launch.machines.way import Line, Stream, Way
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._launch.remote import Remote
from paddle._launch.turn import Turn

_CHUNK = 1 << 16
_KILLING_S = 2.0
_AGAIN_S = 10.0  # to reach a node anew whose connection broke
_LETTING_GO_S = 1.0


class OtherMachine:
    """Another machine."""

    def __init__(self, launch: LaunchPlan, turn: Turn, way: Way, cargo: Cargo, plan: NodePlan) -> None:
        assert launch.remote
        self._launch = launch
        self._turn = turn
        self._remote: Remote = launch.remote
        self._plan = plan
        self._way = way
        self._cargo = cargo
        self._opening = way.line(plan.host)
        self._line: Line | None = None
        self._step: Conversation | None = None
        self._busy: object | None = None  # a step that is under way
        self._pythons = self._remote.pythons
        self._presence = contextlib.ExitStack()
        self._has_runtime = False
        self._has_delivered = False
        self.python: str | None = None
        self.lost = ""

    def reach(self) -> None:
        with self._at_work():
            self._line = self._opening.open()
            self._look()

    def deliver(self, is_stopped: Callable[[], bool]) -> None:
        with self._at_work(), self._saying_what_then():
            if self._launch.package is not None:
                self._bring_workspace(is_stopped)
            if not self._has_runtime:
                self._bring_runtime(is_stopped)

    def open(self, leash: Leash, hear: Callable[[bytes], None]) -> None:
        with self._at_work():
            stream = begin(self._reached(), self._pythons, "agent.halves", errors_too=True)
        stream.is_patient()
        for task in (partial(_lead, stream, leash), partial(self._listen, stream, hear)):
            threading.Thread(target=task, daemon=True).start()

    def collect(self, tell: Callable[[str], None]) -> Iterable[str]:
        if self._line is None or not self._line.is_open:
            self._opening = self._way.line(self._plan.host)
            try:
                self._line = self._opening.open(_AGAIN_S)
            except NodeError as error:
                tell(f"nothing could be collected: {error}")
                return ()
        fetch = partial(self._fetch, tell)
        home, saver = self._launch.home, self._launch.saver
        with self._turn.taken(tell), self._at_work():
            return logs.collect(self._plan.workspace, home, self._plan.node, tell, fetch, saver)

    def withdraw(self) -> None:
        self._presence.close()
        if self._has_delivered and self._line is not None and self._line.is_open:
            order = {"root": str(self._remote.root), "place": str(self._plan.workspace)}
            with contextlib.suppress(NodeError), self._talking("agent.remover") as talk:
                talk.do(order)

    def kill(self, agent: Process | None) -> None:
        if self._line is None:
            return
        # Without a connection the agent has no leash either; and who collects will open another one.
        if agent is None:
            self._line.close()
            return
        with contextlib.suppress(TimeoutError), deadline(_KILLING_S, self._line.close):
            place = str(self._plan.workspace)
            with self._talking("agent.killer") as talk:
                talk.do({"pid": agent.pid, "start": agent.start, "workspace": place})

    def interrupt(self) -> None:
        self._opening.call_off()
        if (step := self._step) is not None:  # saying so may wait for the network
            threading.Thread(target=step.close, daemon=True).start()
        if (busy := self._busy) is not None:
            later = threading.Timer(_LETTING_GO_S, self._let_go, [busy])
            later.daemon = True
            later.start()

    def close(self) -> None:
        if self._line is not None:
            self._line.close()

    def _let_go(self, busy: object) -> None:
        """Close the connection if a step does not end otherwise."""
        if self._busy is busy:
            self.close()

    # What a step consists of

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        """A step that can be interrupted."""
        self._busy = object()
        try:
            yield
        finally:
            self._busy = None

    def _look(self) -> None:
        """Find out what the node is like, and whether that will do."""
        wanted = self._wanted()
        with contextlib.ExitStack() as stack:
            talk = stack.enter_context(self._talking("agent.probe"))
            facts = talk.ask(fitness.order(wanted), fitness.Facts)
            fitness.check(facts, wanted)
            self._presence = stack.pop_all()  # what was chosen is in use until the agent has it
        self.python, self._pythons = facts.python, (facts.python,)
        self._has_runtime = facts.has_runtime

    def _wanted(self) -> fitness.Wanted:
        sent, kinds = self._launch.sent_to(self._plan.node), {role.kind for role in self._plan.roles}
        pservers = [self._launch.nodes[role.node] for role in self._launch.roles("pserver")]
        return fitness.Wanted(
            workspace=self._plan.workspace,
            size=None if self._launch.package is None else sum(entry.size for entry in sent),
            count=len(sent),
            more=self._remote.size_and_count(),
            address=self._plan.address,
            others=tuple(node.address for node in pservers) if "trainer" in kinds else (),
            nics=self._remote.nics if "pserver" in kinds else (),
            runtime=self._remote.runtime,
            is_again=self._plan.life > 1,
            program=self._launch.program,
        )

    def _facts(self, wanted: fitness.Wanted) -> fitness.Facts:
        with self._talking("agent.probe") as talk:
            return talk.ask(fitness.order(wanted), fitness.Facts)

    def _bring_workspace(self, is_stopped: Callable[[], bool]) -> None:
        """Send the package; what is refused is not there, or there for another launch."""
        with self._talking("agent.receiver") as talk:
            self._has_delivered = True  # for what a cut leaves
            try:
                self._cargo.bring_workspace(talk.wire, self._plan.node, self._plan.workspace, is_stopped)
            except DeliveryRefused:
                self._has_delivered = False
                raise

    def _bring_runtime(self, is_stopped: Callable[[], bool]) -> None:
        """Send the runtime, unless another launch has just done so."""
        try:
            with self._talking("agent.receiver") as talk:
                self._cargo.bring_runtime(talk.wire, self._plan.node, is_stopped)
        except DeliveryRefused:
            if not self._facts(self._wanted()).has_runtime:
                raise

    def _fetch(self, tell: Callable[[str], None], source: Path, part: Path) -> bool:
        try:
            with self._talking("agent.sender") as talk:
                talk.tell({"folder": str(source)})
                return arrivals.receive(talk.wire.receive, part, tell)
        except NodeError as error:
            raise DeliveryError(str(error)) from error

    @contextlib.contextmanager
    def _talking(self, entry: str) -> Iterator[Conversation]:
        """A conversation that ``interrupt`` ends, too."""
        with converse(self._reached(), self._pythons, entry) as talk:
            self._step = talk
            try:
                yield talk
            finally:
                self._step = None if self._step is talk else self._step

    @contextlib.contextmanager
    def _saying_what_then(self) -> Iterator[None]:
        try:
            yield
        except NodeLost as error:
            self.close()  # nothing more is asked of what does not answer
            raise type(error)(
                f"{error} What had arrived there is kept: once the machine answers, start again, and only "
                "the rest is sent."
            ) from error

    def _reached(self) -> Line:
        if self._line is None:
            raise NodeLost("it was not reached: the launch was stopped.")
        return self._line

    def _listen(self, stream: Stream, hear: Callable[[bytes], None]) -> None:
        """Hear an agent until it has ended, or its connection."""
        try:
            while data := stream.receive(_CHUNK):
                self._presence.close()  # the agent is there
                hear(data)
            if stream.status() < 0 and self._line is not None and self._line.has_broken():
                self.lost = "its connection broke"
        except NodeLost as error:
            self.lost = str(error)
        hear(b"")


def _lead(stream: Stream, leash: Leash) -> None:
    """Pass on what the launcher says to an agent. That its connection broke, who listens notices, too."""
    with contextlib.suppress(NodeLost):
        while order := leash.read(_CHUNK):
            stream.send(order.encode())
    stream.end()
