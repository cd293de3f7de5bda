"""What a launch takes back of what it sent: its own, and nobody else's."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch import agent
from paddle._launch.agent.belongings import Ground
from paddle._launch.agent.staging import Staging
from paddle._launch.plan import LaunchPlan
from tests.launch.machines.simulated import Net, Running
from tests.waiting import PATIENCE_S, until


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


class Remover:
    """The remover as it runs on a node, asked to remove ``place``. ``rmtree``: what Python does instead."""

    def __init__(self, root: Path, rmtree: str = "rmtree") -> None:
        self.place = root / "JOB20260101000000"
        (self.place / "log").mkdir(parents=True)
        (self.place / "log" / "agent.log").write_text("")
        self.gone = root / ".JOB20260101000000.gone"
        text = (
            f"import shutil, sys; sys.path.append({str(Path(agent.__file__).parent.parent)!r})\n"
            f"rmtree = shutil.rmtree; shutil.rmtree = {rmtree}\n"
            "from agent import remover; sys.exit(remover.main())"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", text], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ask(self) -> None:
        assert self.process.stdin
        order = json.dumps({"root": str(self.place.parent), "place": str(self.place)})
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def end(self) -> tuple[int, str]:
        """Let go of its input, once it has ended or to end it."""
        assert self.process.stderr
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said


def test_what_no_agent_has_is_removed(tmp_path: Path) -> None:
    remover = Remover(tmp_path)
    remover.ask()
    assert remover.process.wait(PATIENCE_S) == 0
    assert remover.end() == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_what_an_agent_has_is_not_removed(tmp_path: Path) -> None:
    remover = Remover(tmp_path)
    log = remover.place / "log" / "agent.log"
    with log.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remover.ask()
        assert remover.process.wait(PATIENCE_S) == 1
    assert "is in use" in remover.end()[1]
    assert log.exists()


def test_a_link_is_not_removed(tmp_path: Path) -> None:
    remover = Remover(tmp_path / "root")
    remover.place.rename(tmp_path / "elsewhere")
    remover.place.symlink_to(tmp_path / "elsewhere")
    remover.ask()
    assert remover.process.wait(PATIENCE_S) == 1
    assert "is not a folder directly below" in remover.end()[1]
    assert (tmp_path / "elsewhere" / "log" / "agent.log").exists()


def test_it_ends_with_its_launcher_and_half_a_workspace_is_none_to_anybody(tmp_path: Path) -> None:
    """It went on for up to a minute, and left what looked whole."""
    forever = "lambda place, **_: __import__('threading').Event().wait() if place.exists() else None"
    slow = Remover(tmp_path / "slow", rmtree=forever)
    slow.ask()
    until(slow.gone.exists, "its name to be taken away")
    assert not slow.place.exists()
    assert slow.end() == (0, ""), "with its input"
    root = tmp_path / "slow"
    assert [(one.kind, one.path, one.need) for one in Ground(root, 1e9).belongings()] == [
        ("remains", slow.gone.name, "")
    ], "`fab clean` removes it"
    (root / ".paddle").mkdir(mode=0o700)
    Staging(root / ".paddle", root / "JOB20260101000001", replaces=False)
    assert not slow.gone.exists(), "and so does the next dispatch"
