"""A node that is another machine, reached over SSH: nothing is installed there but sshd and a Python.

It must never know what comes next in a launch, nor which library speaks SSH. Every call but ``interrupt`` is
made in the node's own thread.

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
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from paddle._launch import logs
from paddle._launch.agent.processes import Process
from paddle._launch.backends.cargo import Cargo
from paddle._launch.backends.leash import Leash
from paddle._launch.errors import DeliveryError, DeliveryRefused, NodeError, NodeLost, NodeUnfit
from paddle._launch.machines import arrivals, fitness, parcel, refusals
from paddle._launch.machines.patience import deadline
from paddle._launch.machines.transport import Line, Stream, Transport
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._launch.remote import Remote
from paddle._launch.turn import Turn

_CHUNK = 1 << 16
_LONGEST_ANSWER = 1 << 20
_KILLING_S = 2.0
_AGAIN_S = 5.0  # to reach a node anew whose connection broke
_LETTING_GO_S = 1.0


class SshMachine:
    """Another machine."""

    def __init__(
        self, launch: LaunchPlan, turn: Turn, transport: Transport, cargo: Cargo, plan: NodePlan
    ) -> None:
        assert launch.remote
        self._launch = launch
        self._turn = turn
        self._remote: Remote = launch.remote
        self._plan = plan
        self._transport = transport
        self._cargo = cargo
        self._opening = transport.line(plan.host)
        self._line: Line | None = None
        self._step: Stream | None = None  # what a step talks to
        self._busy: object | None = None  # a step that is under way
        self._pythons = self._remote.pythons
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
            stream = self._begin("agent.halves", errors_too=True)
        stream.is_patient()
        for task in (partial(_lead, stream, leash), partial(self._listen, stream, hear)):
            threading.Thread(target=task, daemon=True).start()

    def collect(self, tell: Callable[[str], None]) -> Iterable[str]:
        if self._line is None or not self._line.is_open:
            self._opening = self._transport.line(self._plan.host)
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
        if self._has_delivered and self._line is not None and self._line.is_open:
            order = {"root": str(self._remote.root), "place": str(self._plan.workspace)}
            with contextlib.suppress(NodeError):
                self._ask("agent.remover", order)

    def kill(self, agent: Process | None) -> None:
        if self._line is None:
            return
        # Without a connection the agent has no leash either; and who collects will open another one.
        if agent is None:
            self._line.close()
            return
        with contextlib.suppress(TimeoutError), deadline(_KILLING_S, self._line.close):
            place = str(self._plan.workspace)
            self._ask("agent.killer", {"pid": agent.pid, "start": agent.start, "workspace": place})

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
        facts = self._facts(wanted)
        fitness.check(facts, wanted)
        self.python, self._pythons = facts.python, (facts.python,)
        self._has_runtime = facts.has_runtime

    def _wanted(self) -> fitness.Wanted:
        sent, kinds = self._launch.sent_to(self._plan.node), {role.kind for role in self._plan.roles}
        pservers = [self._launch.nodes[role.node] for role in self._launch.roles("pserver")]
        return fitness.Wanted(
            workspace=self._plan.workspace,
            size=None if self._launch.package is None else sum(entry.size for entry in sent),
            count=len(sent),
            address=self._plan.address,
            others=tuple(node.address for node in pservers) if "trainer" in kinds else (),
            nics=self._remote.nics if "pserver" in kinds else (),
            runtime=self._remote.runtime,
        )

    def _facts(self, wanted: fitness.Wanted) -> fitness.Facts:
        return fitness.read(self._ask("agent.probe", fitness.order(wanted)))

    def _bring_workspace(self, is_stopped: Callable[[], bool]) -> None:
        """Send the package; what is refused is not there, or there for another launch."""
        with self._talking("agent.receiver") as stream:
            self._has_delivered = True  # for what a cut leaves
            try:
                self._cargo.bring_workspace(stream, self._plan.node, self._plan.workspace, is_stopped)
            except DeliveryRefused:
                self._has_delivered = False
                raise

    def _bring_runtime(self, is_stopped: Callable[[], bool]) -> None:
        """Send the runtime, unless another launch has just done so."""
        try:
            with self._talking("agent.receiver") as stream:
                self._cargo.bring_runtime(stream, self._plan.node, is_stopped)
        except DeliveryRefused:
            if not self._facts(self._wanted()).has_runtime:
                raise

    def _fetch(self, tell: Callable[[str], None], source: Path, part: Path) -> bool:
        try:
            with self._talking("agent.sender") as stream:
                stream.send(json.dumps({"folder": str(source)}).encode() + b"\n")
                return arrivals.receive(stream.receive, part, tell)
        except NodeError as error:
            raise DeliveryError(str(error)) from error

    def _ask(self, entry: str, order: Mapping[str, object]) -> bytes:
        """Have a program do something; gives the line that it says, if it says one."""
        with self._talking(entry) as stream:
            stream.offer(json.dumps(order).encode() + b"\n")
            answer = b""
            while data := stream.receive(_CHUNK):
                answer += data
                if len(answer) > _LONGEST_ANSWER:
                    raise NodeUnfit("it says more of itself than any node has to say. Is it what you think?")
            if status := stream.status():
                raise refusals.no_program(status, stream.complaint(), self._pythons)
            return answer

    @contextlib.contextmanager
    def _talking(self, entry: str) -> Iterator[Stream]:
        """A program that is let go of in the end, and by ``interrupt``."""
        stream = self._step = self._begin(entry)
        try:
            yield stream
        finally:
            self._step = None
            stream.close()

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

    def _begin(self, entry: str, *, errors_too: bool = False) -> Stream:
        if self._line is None:
            raise NodeLost("it was not reached: the launch was stopped.")
        stream = self._line.begin(parcel.COMMAND, errors_too=errors_too)
        stream.offer(parcel.call(self._pythons, entry))
        return stream

    def _listen(self, stream: Stream, hear: Callable[[bytes], None]) -> None:
        """Hear an agent until it has ended, or its connection."""
        try:
            while data := stream.receive(_CHUNK):
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
