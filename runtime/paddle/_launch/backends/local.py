"""An embedded node: its agent is a process of this machine, run through Invoke, its workspace a folder here.

It must never know what comes next in a launch. Guarantee: when this process is gone, so is the agent's leash.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from invoke import Config, Context, Local, Promise

import paddle._launch.agent as agent
from paddle._launch import logs, workspace
from paddle._launch.agent.killer import bury
from paddle._launch.agent.processes import Process, kill, look_up, sweep
from paddle._launch.backends.leash import Leash
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._launch.turn import Turn

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


class LocalMachine:
    """This machine, as one of the nodes that are embedded in it."""

    def __init__(self, launch: LaunchPlan, turn: Turn, plan: NodePlan) -> None:
        self._launch = launch
        self._turn = turn
        self._plan = plan
        self._promise: Promise | None = None
        self._has_ended = False
        self._has_delivered = False
        self.python: str | None = None
        self.lost = ""

    def reach(self) -> None:
        if self._launch.package is not None:
            size = sum(entry.size for entry in self._launch.sent_to(self._plan.node))
            workspace.check_room(self._plan.workspace, size)

    def deliver(self, is_stopped: Callable[[], bool]) -> None:
        if self._launch.package is not None:
            workspace.deliver(self._launch.sent_to(self._plan.node), self._plan.workspace, is_stopped)
            self._has_delivered = True

    def open(self, leash: Leash, hear: Callable[[bytes], None]) -> None:
        # Invoke's own configuration files are for the user's tasks: one that says pty=True must not reach us.
        runners = {"local": partial(_AgentRunner, hear=partial(self._heard, hear))}
        context = Context(Config(overrides={"runners": runners}, lazy=True))
        command = shlex.join([sys.executable, "-I", "-S", str(Path(agent.__file__).parent)])
        self._promise = context.run(
            f"exec {command} 2>&1",
            asynchronous=True,
            in_stream=leash,
            pty=False,
            shell="/bin/sh",
            encoding="utf-8",
            warn=True,
        )

    def collect(self, tell: Callable[[str], None]) -> Iterable[str]:
        home, saver = self._launch.home, self._launch.saver
        with self._turn.taken(tell):
            return logs.collect(self._plan.workspace, home, self._plan.node, tell, saver=saver)

    def withdraw(self) -> None:
        if self._has_delivered:
            workspace.remove(self._plan.workspace)

    def kill(self, agent: Process | None) -> None:
        if self._promise is None:
            return
        outer = self._promise.runner.process
        sweep(outer.pid)
        if outer.poll() is None and (found := look_up(outer.pid)):
            kill(found[1])
        bury(self._plan.workspace)

    def interrupt(self) -> None:
        pass  # copying looks for itself whether it is stopped, and nothing else takes time

    def close(self) -> None:
        if self._promise is not None and self._has_ended:
            self._promise.join()

    def _heard(self, hear: Callable[[bytes], None], data: bytes) -> None:
        self._has_ended = not data
        hear(data)
