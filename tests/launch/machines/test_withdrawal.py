"""What a launch takes back of what it sent: its own, and nobody else's."""

from __future__ import annotations

import fcntl
import io
import json
import sys
from pathlib import Path

import pytest

from paddle._launch.agent import remover
from paddle._launch.plan import LaunchPlan
from tests.launch.machines.simulated import Net, Running


def test_a_workspace_that_another_launch_has_just_made_is_left_alone(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(node: str, what: str) -> None:
        if (node, what) == ("n5", "agent.receiver"):
            (net.disk(node) / "srv" / "JOB1" / "log").mkdir(parents=True, exist_ok=True)

    net.on = make
    Running(plan, monkeypatch).end()
    assert net.begun.count(("n5", "agent.receiver")) == 1, "which refused; else the runtime would come next"
    withdrawn = {node for node, what in net.begun if what == "agent.remover"}
    assert withdrawn, "others had what was sent"
    assert "n5" not in withdrawn


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that the remover is asked to remove."""
    place = tmp_path / "JOB1"
    (place / "log").mkdir(parents=True)
    (place / "log" / "agent.log").write_text("")
    order = json.dumps({"root": str(tmp_path), "place": str(place)})
    monkeypatch.setattr(sys, "stdin", io.StringIO(order + "\n"))
    monkeypatch.setattr(remover.signal, "alarm", lambda _: 0)
    return place


def test_what_no_agent_has_is_removed(workspace: Path) -> None:
    assert remover.main() == 0
    assert not workspace.exists()


def test_what_an_agent_has_is_not_removed(workspace: Path) -> None:
    log = workspace / "log" / "agent.log"
    with log.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="is in use"):
            remover.main()
    assert log.exists()
