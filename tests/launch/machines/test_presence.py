"""What a launch has chosen on a node is in use from then on, so that nobody removes it before it begins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.agent import occupants
from paddle._launch.agent.answers import SIGN
from paddle._launch.machines import parcel
from paddle._launch.plan import LaunchPlan
from tests.launch.machines.simulated import Net, Program, Running
from tests.waiting import PATIENCE_S, until


def test_a_probe_that_has_answered_uses_what_it_has_found_until_its_input_ends(tmp_path: Path) -> None:
    """`fab clean --all` removed it, and the launch failed when its roles were to start."""
    venv, runtime, other = (tmp_path / name for name in ("venvs/cp311-0", "runtime-0", "runtime-1"))
    for folder in (venv / "bin", runtime, other):
        folder.mkdir(parents=True)
    (tmp_path / "venv").symlink_to("venvs/cp311-0")
    (venv / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    order = {
        "workspace": "/srv/JOB1",
        "program": "train.py",
        "runtime": str(runtime),
        "names": [],
        "packages": [],
    }
    with subprocess.Popen(
        ["sh", "-c", parcel.COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    ) as probe:
        assert probe.stdin
        assert probe.stdout
        call = parcel.call([str(tmp_path / "venv" / "bin" / "python")], "agent.probe")
        probe.stdin.write(call + json.dumps(order).encode() + b"\n")
        probe.stdin.flush()
        answer = json.loads(probe.stdout.readline().removeprefix(SIGN))
        assert answer["python"] == str(venv / "bin" / "python")
        users = occupants.find([venv, runtime, other])
        assert {folder: user.pid for folder, user in users.items()} == {venv: probe.pid, runtime: probe.pid}
        probe.stdin.close()
        assert probe.wait(PATIENCE_S) == 0


def test_a_launch_is_present_on_a_node_from_when_it_has_looked_to_when_its_agent_runs(
    net: Net, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    present: list[str] = []
    seen: dict[str, bool] = {}

    def stay(program: Program) -> None:
        program._probe()
        present.append("n5")
        try:
            program._source.line()  # which is the end of its input
        finally:
            present.clear()

    net.lies["n5", "agent.probe"] = stay
    net.on = lambda node, what: seen.update({what: bool(present)}) if node == "n5" else None
    Running(plan, monkeypatch).end()
    assert (seen["agent.receiver"], seen["agent.halves"]) == (True, True)
    until(lambda: not present, "it to leave")
    assert set(seen) >= {"agent.probe", "agent.sender"}
