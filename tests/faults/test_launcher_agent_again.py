"""The agent starts a role again: never beside anything that is left of the one before."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import PROMISED_S
from tests.waiting import until

pytestmark = pytest.mark.faults

# A child in a session of its own, an orphan of a double fork, and another that stays in the role's session
# and has thrown its environment away.
FAMILY = """
import os, signal, sys
reader, writer = os.pipe()
os.set_inheritable(writer, True)

def stay():
    os.setsid()
    os.write(writer, b".")
    signal.pause()

def double_fork(then):
    between = os.fork()
    if between == 0:
        if os.fork() == 0:
            then()
        os._exit(0)
    os.waitpid(between, 0)  # else it may still be counted

double_fork(stay)
if os.fork() == 0:
    stay()
STRAY = "import os, signal, sys; os.write(int(sys.argv[1]), b'.'); signal.pause()"

def stray():
    mark = {name: text for name, text in os.environ.items() if name == "LAUNCH_TEST_MARK"}
    os.execve(sys.executable, [sys.executable, "-I", "-c", STRAY, str(writer)], mark)

double_fork(stray)
there = b""
while len(there) < 3:
    there += os.read(reader, 3)
print("life", os.environ.get("PADDLE_RESTARTS", "first"), os.getpid(), flush=True)
signal.pause()
"""


def lines(agent: Any, words: str) -> list[str]:
    """What a role printed, up to a line that begins so."""
    heard: list[str] = []
    while not any(line.startswith(words) for line in heard):
        heard += agent.hear("lines")["lines"]
    return heard


@pytest.fixture
def family(agent: Any) -> Iterator[Any]:
    agent.plan(trainer=FAMILY, other=FAMILY)
    agent.say(do="start", role="trainer")
    yield agent


def kill(agent: Any, heard: list[str]) -> None:
    os.kill(int(heard[-1].split()[-1]), signal.SIGKILL)
    assert agent.hear("exit")["status"] == -signal.SIGKILL


def test_nothing_is_left_of_a_role_when_it_is_started_again_and_other_roles_are_left_alone(family) -> None:
    first = lines(family, "life first")
    family.say(do="start", role="other")
    lines(family, "life first")
    before = set(family.pids())
    assert len(before) == 2 + 4 + 4
    kill(family, first)
    left = set(family.pids())
    assert len(left) == 2 + 3 + 4, "those that it has left run on"
    family.say(do="start", role="trainer")
    again = lines(family, "life 1")
    assert any(line.startswith("--- trainer is started again, process ") for line in again)
    now = set(family.pids())
    assert len(now) == 2 + 4 + 4
    assert len(now & before) == 2 + 4
    log = family.workspace / "log" / "train.log"
    text = until(
        lambda: (said := log.read_text()) and "life 1" in said and said, "the log of its second life"
    )
    assert text.index("life first") < text.index("--- trainer is started again") < text.index("life 1")
    assert "trainer started again, pid" in family.log()
    kill(family, again)
    family.say(do="start", role="trainer")
    lines(family, "life 2")
    family.say(do="stop", grace_s=0.0)
    family.hear("ended")
    family.all_gone(PROMISED_S)


def test_a_role_that_runs_is_never_started_beside_itself(family) -> None:
    lines(family, "life first")
    family.say(do="start", role="trainer")
    with pytest.raises(AssertionError, match="cannot start trainer again: it runs, process"):
        family.hear("started")
    assert len(family.pids()) == 2 + 4
    assert Path(family.workspace).is_dir()


def test_in_a_later_life_of_a_job_logs_are_appended_to_and_what_is_there_is_not_told_again(agent) -> None:
    logs = agent.workspace / "log"
    logs.mkdir()
    for name in ("train.log", "agent.log", "paddle_trainer.INFO"):
        (logs / name).write_text(f"{name} of the first life\n")
    agent.plan(life=2, trainer="print('here', flush=True)")
    agent.say(do="start", role="trainer")
    head, *_ = lines(agent, "here")
    assert re.fullmatch(r"--- trainer begins again with its whole job, process \d+ ---", head)
    whole = f"train.log of the first life\n{head}\nhere\n"  # told first: nobody waits for the disk
    until(lambda: (logs / "train.log").read_text() == whole, "the log to be appended to")
    assert (logs / "agent.log").read_text().startswith("agent.log of the first life\n")
    with (logs / "paddle_trainer.INFO").open("a") as file:
        file.write("and of the second\n")
    assert agent.hear("grown")["text"] == "and of the second\n"
