"""A node that is somebody else's by now: it is given no more than it needs, and takes nothing from the
launcher but the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle._launch.events import NodeFailed
from paddle._launch.launch import Launch
from paddle._launch.machines import transport
from paddle._launch.machines.refusals import Door
from paddle._launch.plan import LaunchPlan
from tests.launch.machines import simulated
from tests.launch.machines.simulated import Net, Running
from tests.launch.test_launch import Clock, Ready, Silent
from tests.launch.test_launch import plan as local_plan

DOOR = Door(user="root", host="n1", port=22)


class Channel:
    """One that notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> object:
        return lambda *_, **__: self.asked.append(name)


class Connection:
    """One that has nothing but channels."""

    def __init__(self) -> None:
        self.channel = Channel()
        self.transport = self

    def open_session(self, **_: object) -> Channel:
        return self.channel


def test_neither_the_users_agent_nor_his_screen_is_lent_to_a_node() -> None:
    """Whatever ForwardAgent and ForwardX11 say: who has a node's root could use them."""
    connection = Connection()
    transport.Line(connection, DOOR).begin("true")
    assert set(connection.channel.asked) == {"settimeout", "set_combine_stderr", "exec_command"}


def test_a_node_that_says_of_itself_without_end_is_refused_and_the_launch_goes_on_to_its_end(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = simulated.Program._probe

    def probe(program: simulated.Program) -> None:
        while program._node == "n5":
            program._far.sendall(b"x" * (1 << 16))
        said(program)

    monkeypatch.setattr(simulated.Program, "_probe", probe)
    launch = Running(plan, monkeypatch).end()
    assert list(launch.unfit) == [5]
    assert "says more of itself than any node has to say" in launch.unfit[5]
    assert net.files() == []


def test_what_a_node_says_of_its_failure_commands_no_terminal(tmp_path: Path) -> None:
    shown: list[str] = []

    class Shown(Silent):
        def say(self, text: str) -> None:
            shown.append(text)

    def carry(_: object, post: object) -> Ready:
        text = "\x1b]0;yours\x07\x1b[2Jgone\x9b31m"
        return Ready(post, lambda: post(NodeFailed(0, text)))  # type: ignore[operator,arg-type]

    assert Launch(local_plan(tmp_path), Shown(), carry, Clock()).run() == 1  # type: ignore[arg-type]
    assert any("gone" in line for line in shown)
    assert not any(set("\x1b\x07\x9b") & set(line) for line in shown)
