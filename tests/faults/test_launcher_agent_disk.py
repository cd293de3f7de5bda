"""An agent whose node's disk stands still: what it writes to it lasts for ever, and it obeys all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import AGENT, RunningAgent

pytestmark = pytest.mark.faults

STILL = f"""
import os, sys
sys.path.append({str(AGENT.parent)!r})
from agent import growth, halves, logfile, private_files, role

def stand_still(*_):  # as a disk does: whoever opens this pipe waits for one who reads, and there is none
    os.open(os.environ["STILL"], os.O_WRONLY)

taken = logfile.LogFile.write
def write(log, data):
    return stand_still() if os.path.exists(os.environ["STILL"]) else taken(log, data)

logfile.LogFile.write = write
halves.HANGS_S = float(os.environ["HANGS_S"])
spawn = role._spawn
role._spawn = lambda *how: stand_still() if os.path.exists(os.environ["STILL"]) else spawn(*how)
look, forget = growth.Growth.look, private_files.forget
growth.Growth.look = lambda self: stand_still() if os.path.exists(os.environ["STILL"]) else look(self)
private_files.forget = lambda place: stand_still() if os.path.exists(os.environ["STILL"]) else forget(place)
sys.exit(halves.main())
"""


class StillAgent(RunningAgent):
    """An agent whose disk stands still once ``freeze`` was called. ``hangs_s``: after which that is said of
    its inner half."""

    def __init__(self, workspace: Path, hangs_s: float = 30.0) -> None:
        super(RunningAgent, self).__init__()
        self.workspace, self._pipe = workspace, workspace / "still"
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", STILL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**self.environ, "STILL": str(self._pipe), "HANGS_S": str(hangs_s)},
        )

    def freeze(self) -> None:
        os.mkfifo(self._pipe)


@pytest.fixture
def frozen(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[StillAgent]:
    """One with a role that prints on and on, on a disk that stands still."""
    how = getattr(request, "param", {})
    agent = StillAgent(tmp_path, how.get("hangs_s", 30.0))
    agent.plan(
        lease_s=how.get("lease_s", 60.0),
        trainer="import time\nprint('family')\nwhile True: print('goes on', time.sleep(0.01))",
        other="print('never')",
    )
    agent.start("trainer")
    agent.freeze()
    yield agent
    agent.clean_up()


def goes_on(agent: StillAgent, beats: int) -> None:
    """Hear beats, and what the role prints between them."""
    lines: list[str] = []
    while beats:
        frame = json.loads(agent.process.stdout.readline())
        lines += frame.get("lines", ())
        if frame["event"] == "beat":
            assert lines, "the role goes on, and is heard"
            beats, lines = beats - 1, []


def test_it_beats_and_obeys(frozen: StillAgent) -> None:
    goes_on(frozen, beats=2)
    frozen.say(do="stop", grace_s=1.0)
    assert frozen.hear("ended")["why"] == "stopped: asked by the launcher"
    frozen.all_gone(5.0)


def test_it_lets_go_with_its_leash(frozen: StillAgent) -> None:
    frozen.process.stdin.close()
    frozen.all_gone(5.0)


@pytest.mark.parametrize("frozen", [{"lease_s": 0.5}], indirect=True)
def test_it_lets_go_with_its_lease(frozen: StillAgent) -> None:
    frozen.all_gone(8.0)


@pytest.mark.parametrize("frozen", [{"hangs_s": 2.0}], indirect=True)
def test_where_a_start_waits_for_the_disk_the_other_half_ends_everything(frozen: StillAgent) -> None:
    """It obeys nobody then: a launcher that was killed meanwhile would leave the other roles running."""
    frozen.say(do="start", role="other")
    frozen.process.stdin.close()
    frozen.all_gone(15.0)
    assert "stopping" not in frozen.log(), "it had not heard of its leash"
