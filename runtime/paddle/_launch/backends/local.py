"""The carrier for embedded nodes: their agents are processes of this machine, run through Invoke.

It must never know what comes next in a launch, and it never waits in the launcher's main thread, which has
the signals to answer: every node has a thread for its steps, and Invoke has three for each agent.

Guarantee: what an agent says is read as it comes and kept nowhere, so a job may run for weeks; and when this
process is gone, the agents' leashes are gone with it.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from invoke import Config, Context, Local, Promise

import paddle._launch.agent as agent
from paddle._launch import logs, workspace
from paddle._launch.agent.halves import SIGNALS
from paddle._launch.agent.processes import sweep
from paddle._launch.backends import Post
from paddle._launch.backends.frames import FrameReader
from paddle._launch.backends.leash import Leash
from paddle._launch.errors import LaunchError
from paddle._launch.events import Answered, NodeEnded, NodeFailed
from paddle._launch.news import Collected, Told
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan, NodePlan, agent_order

BEAT_S = 1.0
LEASE_S = 10.0
_CHUNK = 1 << 16


class _AgentRunner(Local):  # type: ignore[misc]  # Invoke has no types
    """Runs one agent. What it prints goes to ``hear`` at once, and to none of the runner's own buffers."""

    def __init__(self, context: Context, hear: Callable[[bytes], None]) -> None:
        super().__init__(context)
        self._hear = hear

    def read_proc_stdout(self, num_bytes: int) -> bytes:
        while data := super().read_proc_stdout(_CHUNK):
            self._hear(data)
        self._hear(b"")
        return b""


class LocalCarrier:
    """Carries a plan out on this machine."""

    def __init__(self, plan: LaunchPlan, post: Post) -> None:
        self._nodes = [
            _Node(plan, node, post, own) for node, own in zip(plan.nodes, _secrets(plan), strict=True)
        ]
        self._node_of = {role.name: self._nodes[node.node] for node in plan.nodes for role in node.roles}

    def step(self, node: int, phase: Phase) -> None:
        self._nodes[node].step(phase)

    def start(self, role: str) -> None:
        self._node_of[role].start(role)

    def stop(self, node: int, grace_s: float) -> None:
        self._nodes[node].stop(grace_s)

    def kill(self, node: int) -> None:
        self._nodes[node].kill()

    def close(self) -> None:
        for node in self._nodes:
            node.close()


def _secrets(plan: LaunchPlan) -> Iterator[dict[str, str]]:
    """Of every node: the token, and where they encrypt, papers of its own."""
    token = secrets.token_hex(32)
    if not plan.encrypts:
        yield from ({"token": token} for _ in plan.nodes)
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


class _Node:
    """One embedded node: its steps one after another, its agent beside them."""

    def __init__(self, launch: LaunchPlan, plan: NodePlan, post: Post, own: Mapping[str, str]) -> None:
        self._launch = launch
        self._plan = plan
        self._post = post
        self._secrets = own
        self._reader = FrameReader(plan.node)
        self._leash = Leash(BEAT_S)
        self._promise: Promise | None = None
        self._has_ended = False
        self._is_stopped = threading.Event()
        self._todo: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def step(self, phase: Phase) -> None:
        self._todo.put(partial(self._step, phase))

    def start(self, role: str) -> None:
        self._leash.say({"do": "start", "role": role})

    def stop(self, grace_s: float) -> None:
        self._is_stopped.set()  # a step that is being done ends early
        self._todo.put(partial(self._stop, grace_s))

    def kill(self) -> None:
        self._todo.put(self._kill)

    def close(self) -> None:
        self._leash.close()
        if self._promise is not None and self._has_ended:
            self._promise.join()

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
        match phase:
            case Phase.REACH:
                self._reach()
            case Phase.DELIVER:
                self._deliver()
            case Phase.OPEN:
                self._open()
                return  # the agent answers
            case Phase.COLLECT:
                for path in logs.collect(
                    self._plan.workspace, self._launch.home, self._plan.node, self._tell
                ):
                    self._post(Collected(path))
        self._post(Answered(self._plan.node, phase))

    def _reach(self) -> None:
        if self._launch.package is not None:
            size = sum(entry.size for entry in self._launch.package)
            workspace.check_room(self._plan.workspace, size)

    def _deliver(self) -> None:
        if self._launch.package is not None:
            workspace.deliver(self._launch.package, self._plan.workspace, self._is_stopped.is_set)

    def _tell(self, text: str) -> None:
        self._post(Told(f"node {self._plan.node}", text))

    def _open(self) -> None:
        if self._is_stopped.is_set():
            return
        # Invoke's own configuration files are for the user's tasks: one that says pty=True must not reach us.
        runners = {"local": partial(_AgentRunner, hear=self._hear)}
        context = Context(Config(overrides={"runners": runners}, lazy=True))
        command = shlex.join([sys.executable, "-I", "-S", str(Path(agent.__file__).parent)])
        self._leash.say(agent_order(self._plan, LEASE_S, self._secrets))
        self._promise = context.run(
            f"exec {command} 2>&1",
            asynchronous=True,
            in_stream=self._leash,
            pty=False,
            shell="/bin/sh",
            encoding="utf-8",
            warn=True,
        )

    def _hear(self, data: bytes) -> None:
        for message in self._reader.feed(data):
            self._post(message)
        if not data:  # both halves are gone
            self._has_ended = True
            self._post(NodeEnded(self._plan.node, self._reader.last_words))

    def _stop(self, grace_s: float) -> None:
        if self._promise is not None:
            self._leash.say({"do": "stop", "grace_s": grace_s})
        else:
            self._post(NodeEnded(self._plan.node))

    def _kill(self) -> None:
        if self._promise is None:
            return
        outer = self._promise.runner.process.pid
        sweep(outer)
        if self._promise.runner.process.poll() is None:
            os.kill(outer, signal.SIGKILL)
