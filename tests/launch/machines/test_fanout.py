"""A launch on 64 machines, which are simulated: what it costs the launcher, and that nothing is changed on
any before all have answered."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from paddle._launch import workspace
from paddle._launch.backends import carrier
from paddle._launch.backends.node import Node
from paddle._launch.launch import Launch
from paddle._launch.machines import transport
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.remote import Remote
from paddle._launch.settings import Host
from tests.launch.machines.simulated import NAME, Net
from tests.launch.test_launch import Silent
from tests.waiting import until

NODES = 64
ROOT = Path("/srv")
OF_A_NODE = 3  # threads: of its steps, and two that speak with its agent
OF_OPENING = 2  # that watch over one that is being opened
OF_THE_LAUNCH = 12  # its own, pytest's, and those that hash files


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Net:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.01)
    made = Net(tmp_path / "disks")
    made.install(monkeypatch)
    return made


@pytest.fixture
def plan(tmp_path: Path) -> LaunchPlan:
    """A pserver and a trainer on each."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "train.py").write_text("print('trains')\n")
    (package / "words").write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "runtime" / "paddle").mkdir(parents=True)
    (tmp_path / "runtime" / "paddle" / "__init__.py").write_text("")

    def role(kind: str, node: int) -> RolePlan:
        name = f"{kind}-{node}"
        return RolePlan(name=name, kind=kind, node=node, argv=(), env={}, prepend={}, log="log")  # type: ignore[arg-type]

    return LaunchPlan(
        name="JOB1",
        nodes=tuple(
            NodePlan(
                node=node,
                host=Host(f"n{node}", "root"),
                address=f"n{node}",
                workspace=ROOT / "JOB1",
                roles=(role("pserver", node), role("trainer", node)),
            )
            for node in range(NODES)
        ),
        prepare=(),
        package=workspace.listing(package),
        home=package,
        snapshots=None,
        ports=(7164, 1, 0),
        origins=(),
        ready_timeout_s=60.0,
        remote=Remote(
            root=ROOT,
            pythons=("python3",),
            runtime=ROOT / ".paddle" / "runtime-0123456789abcdef",
            contents=workspace.contents(tmp_path / "runtime"),
            nics=("eth0",),
            host_keys="known",
        ),
    )


class Running:
    """A launch in a thread."""

    def __init__(self, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("paddle._launch.launch._signals_to", lambda _: threading.Lock())
        self.before = threading.active_count()
        self.launch = Launch(plan, Silent(), carrier)  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self.launch.run, daemon=True)
        self._thread.start()

    def end(self) -> Launch:
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.launch


def test_nothing_is_changed_on_any_of_64_before_the_last_has_answered_and_then_all_go_on(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = threading.Event()
    net.on = lambda node, what: last.wait(30) and None if (node, what) == ("n63", "agent.probe") else None
    running = Running(plan, monkeypatch)
    until(lambda: len(net.begun) == NODES, "all to be looked at")
    assert {what for _, what in net.begun} == {"agent.probe"}
    assert net.files() == []
    last.set()
    launch = running.end()
    assert launch.cause is None
    for node in range(NODES):
        place = net.disk(f"n{node}") / "srv"
        assert (place / "JOB1" / "words").read_bytes() == bytes(range(256)) * 4096
        assert (place / ".paddle" / "runtime-0123456789abcdef" / "paddle" / "__init__.py").exists()
    assert net.most_opening <= transport.PARALLEL
    bound = OF_A_NODE * NODES + OF_OPENING * transport.PARALLEL + OF_THE_LAUNCH
    assert net.most_threads - running.before <= bound
    until(lambda: left() <= running.before, "the launch's threads to end")


def left() -> int:
    """Threads that wait for something; those of nodes wait for work for ever, and cost nothing."""
    idle = {Node._work.__name__}
    return sum(
        not one.name.startswith(NAME) and not any(name in one.name for name in idle)
        for one in threading.enumerate()
    )


def test_machines_that_do_not_answer_delay_no_other_and_are_all_named(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty, which is more than are connected to at a time."""
    dead = {f"n{node}" for node in range(20)}
    gone = threading.Event()
    monkeypatch.setattr(transport, "TURN_S", 0.1)
    answered: list[str] = []

    def opens(node: str) -> None:
        if node in dead:
            gone.wait(30)
            raise TimeoutError
        answered.append(node)

    net.opens = opens
    running = Running(plan, monkeypatch)
    began = time.monotonic()
    until(lambda: len(net.begun) == NODES - len(dead), "all others to be looked at")
    assert not gone.is_set()
    assert time.monotonic() - began < transport.CONNECT_S, "while the dead ones are still being waited for"
    gone.set()
    launch = running.end()
    assert sorted(launch.unfit) == list(range(20))
    assert all("no answer within 10 s" in text for text in launch.unfit.values())
    assert net.files() == []
    assert {what for _, what in net.begun} == {"agent.probe"}
