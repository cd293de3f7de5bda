"""A launch on 64 machines, which are simulated: what it costs the launcher, and that nothing is changed on
any before all have answered."""

from __future__ import annotations

import threading

import pytest

from paddle._launch.backends.node import Node
from paddle._launch.machines import patience, transport
from paddle._launch.machines.opening import Opening
from paddle._launch.plan import LaunchPlan
from tests.launch.machines.simulated import NAME, NODES, Net, Running
from tests.waiting import PATIENCE_S, until

OF_A_NODE = 3  # threads: of its steps, and two that speak with its agent
OF_OPENING = 2  # that watch over one that is being opened
OF_THE_LAUNCH = 12  # its own, pytest's, and those that hash files


def test_nothing_is_changed_on_any_of_64_before_the_last_has_answered_and_then_all_go_on(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = threading.Event()
    net.on = lambda node, what: (
        last.wait(PATIENCE_S) and None if (node, what) == ("n63", "agent.probe") else None
    )
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
    assert net.most_opening <= patience.AT_ONCE
    bound = OF_A_NODE * NODES + OF_OPENING * patience.AT_ONCE + OF_THE_LAUNCH
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
    long_s = 2 * PATIENCE_S  # so long the dead ones are waited for
    monkeypatch.setattr(Opening.open, "__defaults__", (long_s,))
    answered: list[str] = []

    def opens(node: str) -> None:
        if node in dead:
            gone.wait(long_s)
            raise TimeoutError
        answered.append(node)

    net.opens = opens
    running = Running(plan, monkeypatch)
    until(lambda: len(net.begun) == NODES - len(dead), "all others to be looked at")
    assert not gone.is_set()
    gone.set()
    launch = running.end()
    assert sorted(launch.unfit) == list(range(20))
    assert all("no answer within 10 s" in text for text in launch.unfit.values())
    assert net.files() == []
    assert {what for _, what in net.begun} == {"agent.probe"}
