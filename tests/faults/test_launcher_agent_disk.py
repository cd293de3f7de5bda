"""An agent whose node's disk stands still: what it writes to it lasts for ever, and it obeys all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import AGENT, PROMISED_S, RunningAgent
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.faults

LEASE_S, HANGS_S = 3.0, 5.0  # longer than an agent, or who orders it to start a role, may be held up
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


def goes_on(agent: StillAgent, turns: int) -> None:
    """Hear a beat, and behind it what the role prints, so many times: either may be held up for a while."""
    end = time.monotonic() + PATIENCE_S
    for awaited in ("beat", "lines") * turns:
        while json.loads(agent.process.stdout.readline())["event"] != awaited:
            assert time.monotonic() < end, f"no {awaited}"


def test_it_beats_and_obeys(frozen: StillAgent) -> None:
    goes_on(frozen, turns=3)
    frozen.say(do="stop", grace_s=1.0)
    assert frozen.hear("ended")["why"] == "stopped: asked by the launcher"
    frozen.all_gone(PROMISED_S)


def test_it_lets_go_with_its_leash(frozen: StillAgent) -> None:
    frozen.process.stdin.close()
    frozen.all_gone(PROMISED_S)


@pytest.mark.parametrize("frozen", [{"lease_s": LEASE_S}], indirect=True)
def test_it_lets_go_with_its_lease(frozen: StillAgent) -> None:
    frozen.all_gone(LEASE_S + PROMISED_S)


@pytest.mark.parametrize("frozen", [{"hangs_s": HANGS_S}], indirect=True)
def test_where_a_start_waits_for_the_disk_the_other_half_ends_everything(frozen: StillAgent) -> None:
    """It obeys nobody then: a launcher that was killed meanwhile would leave the other roles running."""
    frozen.say(do="start", role="other")
    frozen.process.stdin.close()
    frozen.all_gone(PATIENCE_S)
    assert "stopping" not in frozen.log(), "it had not heard of its leash"
