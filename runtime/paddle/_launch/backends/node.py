"""A node's life: its steps one after another, its agent beside them. The same for every way to reach a node.

It must never know what comes next in a launch, nor how its machine is reached: that is the ``Machine``'s.

Guarantee, by five rules:

1. Nothing waits in the thread that calls: every node has a thread of its own for what takes time, and what
   comes of it is posted.
2. Whatever goes wrong in a step is posted as the node's failure, so the launch never waits for it for ever.
3. A step that is under way when the node is stopped ends early.
4. What an agent says is read as it comes and kept nowhere, so a job may run for weeks.
5. Once a node is let go, or this process is gone, so is the agent's leash.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Protocol

from paddle._launch.agent.halves import SIGNALS
from paddle._launch.agent.processes import Process
from paddle._launch.backends import Post
from paddle._launch.backends.frames import FrameReader
from paddle._launch.backends.leash import Leash
from paddle._launch.errors import LaunchError
from paddle._launch.events import Answered, NodeEnded, NodeFailed
from paddle._launch.news import Collected, Told
from paddle._launch.phases import Phase
from paddle._launch.plan import NodePlan, agent_order

BEAT_S = 1.0
LEASE_S = 10.0


class Machine(Protocol):
    """What a node is made of. Every call but ``interrupt`` may take its time.

    ``python``: what runs roles there, where it is another than planned. ``lost``: why nothing is heard from
    the agent any more, where that is known here.
    """

    python: str | None
    lost: str

    def reach(self) -> None:
        """Find out whether the node can be used; changes nothing there."""
        ...

    def deliver(self, is_stopped: Callable[[], bool]) -> None:
        """Send what the launch sends, if anything."""
        ...

    def open(self, leash: Leash, hear: Callable[[bytes], None]) -> None:
        """Start the agent: it reads ``leash``; what it says is heard as it comes, and nothing at its end."""
        ...

    def collect(self, tell: Callable[[str], None]) -> Iterable[str]:
        """Fetch logs and model; gives the folders of the workspace that are where the user looks for them."""
        ...

    def withdraw(self) -> None:
        """Remove what ``deliver`` has sent for this launch alone, as far as that can be done."""
        ...

    def kill(self, agent: Process | None) -> None:
        """End the agent and all below it by force. ``agent``: its outer half, if it has said so much."""
        ...

    def interrupt(self) -> None:
        """Let a step that is under way in another thread end early."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class Node:
    """One node. ``own``: its secrets."""

    def __init__(self, plan: NodePlan, machine: Machine, post: Post, own: Mapping[str, str]) -> None:
        self._plan = plan
        self._machine = machine
        self._post = post
        self._secrets = own
        self._reader = FrameReader(plan.node, [role.name for role in plan.roles])
        self._leash = Leash(BEAT_S)
        self._is_open = False
        self._is_stopped = threading.Event()
        self._todo: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def step(self, phase: Phase) -> None:
        """Do a step of a phase."""
        self._todo.put(partial(self._step, phase))

    def start(self, role: str) -> None:
        """Start a role."""
        self._leash.say({"do": "start", "role": role})

    def tell(self, role: str, said: Mapping[str, object]) -> None:
        """Say something to a role that runs."""
        self._leash.say({"do": "tell", "role": role, "said": said})

    def stop(self, grace_s: float) -> None:
        """End whatever goes on."""
        self._is_stopped.set()
        self._machine.interrupt()
        self._todo.put(partial(self._stop, grace_s))

    def kill(self) -> None:
        """End it by force."""
        self._todo.put(self._kill)

    def withdraw(self) -> threading.Event:
        """Remove what was sent; gives what is set when that is done."""
        return self._do(self._machine.withdraw)

    def close(self) -> threading.Event:
        """Let go; gives what is set when that is done."""
        self._leash.close()
        self._machine.interrupt()
        return self._do(self._machine.close)

    def _do(self, task: Callable[[], None]) -> threading.Event:
        is_done = threading.Event()
        self._todo.put(task)
        self._todo.put(is_done.set)
        return is_done

    def _work(self) -> None:
        # They are the main thread's to answer. An agent that is started here inherits that they wait, which
        # keeps a terminal's Ctrl+C from it until it has its own session.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        while True:
            task = self._todo.get()
            try:
                task()
            except Exception as error:  # whatever it is, the launch must not wait for this node for ever
                text = str(error) if isinstance(error, LaunchError) else f"{type(error).__name__}: {error}"
                self._post(NodeFailed(self._plan.node, text))

    def _step(self, phase: Phase) -> None:
        if self._is_stopped.is_set() and phase < Phase.STOP:
            return  # it was stopped before it began with this
        match phase:
            case Phase.REACH:
                self._machine.reach()
            case Phase.DELIVER:
                self._machine.deliver(self._is_stopped.is_set)
            case Phase.OPEN:
                self._open()
                return  # the agent answers
            case Phase.COLLECT:
                for folder in self._machine.collect(self._tell):
                    self._post(Collected(self._plan.node, folder))
        self._post(Answered(self._plan.node, phase))

    def _tell(self, text: str) -> None:
        self._post(Told(f"node {self._plan.node}", text))

    def _open(self) -> None:
        self._leash.say(agent_order(self._plan, LEASE_S, self._secrets, self._machine.python))
        self._machine.open(self._leash, self._hear)
        self._is_open = True

    def _hear(self, data: bytes) -> None:
        for message in self._reader.feed(data):
            self._post(message)
        if not data:  # both halves are gone
            self._post(NodeEnded(self._plan.node, self._reader.last_words or self._machine.lost))

    def _stop(self, grace_s: float) -> None:
        if self._is_open:
            self._leash.say({"do": "stop", "grace_s": grace_s})
        else:
            self._post(NodeEnded(self._plan.node))

    def _kill(self) -> None:
        if self._is_open:
            self._machine.kill(self._reader.agent)
