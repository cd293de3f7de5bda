"""The agent, broken in every way it promises to survive: whatever happens, no process of a role is left."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.agent.logfile import LogFile
from paddle._launch.agent.processes import Process, descendants, look_up, send_signal
from tests.faults.conftest import PROMISED_S
from tests.waiting import until

pytestmark = pytest.mark.faults

LEASE_S = 3.0  # longer than it takes to start a role, of which the launcher that orders it says no word
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("family", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def family(agent, request):
    """An agent with a role that has runaway children."""
    agent.plan(lease_s=getattr(request, "param", 60.0), trainer=agent.RUNAWAY)
    agent.start("trainer")
    assert len(agent.pids()) == 5, "two halves, the role, its child and its orphan"
    return agent


def test_an_order_to_stop_ends_everything_and_is_answered(family) -> None:
    family.say(do="stop", grace_s=5.0)
    assert family.hear("exit") == {"event": "exit", "role": "trainer", "status": -signal.SIGTERM}
    assert family.hear("ended")["why"] == "stopped: asked by the launcher"
    family.all_gone(PROMISED_S)


def test_the_end_of_standard_input_is_the_leash(family) -> None:
    family.process.stdin.close()
    family.all_gone(PROMISED_S)
    assert "stopped: leash" in family.log()


@pytest.mark.parametrize("family", [LEASE_S], indirect=True)
def test_silence_for_the_lease_ends_everything(family) -> None:
    family.all_gone(LEASE_S + PROMISED_S)
    assert "stopped: lease" in family.log()


@pytest.mark.parametrize("family", [LEASE_S], indirect=True)
def test_a_pause_of_the_agent_itself_is_not_the_launchers_silence(family) -> None:
    _, inner = family.halves()
    os.kill(inner, signal.SIGSTOP)
    threading.Event().wait(LEASE_S + 0.5)
    os.kill(inner, signal.SIGCONT)
    threading.Event().wait(0.3)  # it looks at the clock before the launcher has spoken again
    family.say(do="stop", grace_s=5.0)
    assert family.hear("ended")["why"] == "stopped: asked by the launcher"


def test_terminating_the_agent_ends_everything(family) -> None:
    family.process.terminate()
    family.all_gone(PROMISED_S)
    assert f"stopped: signal {signal.SIGTERM.value}" in family.log()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGHUP])
def test_the_signals_of_a_terminal_are_not_for_the_agent(family, signum) -> None:
    outer, inner = family.halves()
    os.kill(outer, signum)
    os.kill(inner, signum)
    family.say(do="stop", grace_s=5.0)
    assert family.hear("ended")["why"] == "stopped: asked by the launcher"


def test_signals_that_come_before_it_has_its_own_session_are_not_for_it(agent, tmp_path) -> None:
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

    def struck() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # as the launcher's threads do
        for signum in signals:
            os.kill(os.getpid(), signum)

    early = type(agent)(tmp_path, struck)
    try:
        early.plan(trainer="import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, ()))")
        early.say(do="start", role="trainer")
        assert early.hear("lines")["lines"] == ["set()"]
        early.process.terminate()
        assert early.hear("failed")["text"].endswith(f"signal {signal.SIGTERM.value}")
    finally:
        early.clean_up()


def test_an_agent_outlives_interrupts_while_it_starts(launch) -> None:
    running = launch()
    running.wait_for("sending the workspace")

    def starting() -> list[int]:
        return [pid for pid, command in running.pids().items() if "_launch/agent" in command]

    for pid in running.until(starting, "an agent"):
        with contextlib.suppress(ProcessLookupError):  # of one that only looks at a node, and has
            os.kill(pid, signal.SIGINT)
    running.wait_until_trained()


def test_killing_the_inner_half_ends_everything(family) -> None:
    os.kill(family.halves()[1], signal.SIGKILL)
    family.all_gone(PROMISED_S)
    assert "stopped: the inner half ended with status -9" in family.log()


def test_killing_the_outer_half_ends_everything(family) -> None:
    os.kill(family.halves()[0], signal.SIGKILL)
    family.all_gone(PROMISED_S)
    assert "stopped: the outer half was killed" in family.log()


def test_a_role_that_ignores_the_request_is_killed_after_the_grace(agent) -> None:
    agent.plan(trainer=STUBBORN)
    agent.start("trainer")
    agent.say(do="stop", grace_s=0.2)
    assert agent.hear("exit")["status"] == -signal.SIGKILL
    agent.all_gone(PROMISED_S)


def test_a_second_order_hastens_the_end(agent) -> None:
    agent.plan(trainer=STUBBORN)
    agent.start("trainer")
    agent.say(do="stop", grace_s=600.0)
    agent.say(do="stop", grace_s=0.0)
    assert agent.hear("exit")["status"] == -signal.SIGKILL


def test_a_role_hears_the_signals_that_the_agent_ignores(agent) -> None:
    agent.plan(trainer="import signal\nprint([signal.getsignal(n) == signal.SIG_IGN for n in (1, 2)])")
    agent.say(do="start", role="trainer")
    assert agent.hear("lines")["lines"] == ["[False, False]"]


def test_what_a_role_prints_and_reports_comes_back_in_order(agent) -> None:
    report = 'os.write(int(os.environ["PADDLE_REPORT_FD"]), b\'{"report": "message", "text": "%d"}\\n\' % i)'
    agent.plan(
        trainer=f"import os\nfor i in range(3):\n    print('line', i)\n    {report}\nprint('no end', end='')"
    )
    agent.say(do="start", role="trainer")
    frames = []
    while not frames or frames[-1]["event"] != "exit":
        frames.append(json.loads(agent.process.stdout.readline()))
    lines = [line for frame in frames if frame["event"] == "lines" for line in frame["lines"]]
    assert lines == ["line 0", "line 1", "line 2", "no end"]
    assert [frame["report"]["text"] for frame in frames if frame["event"] == "report"] == ["0", "1", "2"]
    log = agent.workspace / "log" / "train.log"  # nobody waits long for the disk
    until(lambda: log.read_text() == "line 0\nline 1\nline 2\nno end", "all in the log", seen=log.read_text)
    assert frames[-1]["status"] == 0


def test_reports_that_are_nonsense_do_no_harm(agent) -> None:
    nonsense = "b'x\\n' + b'[' * 60000 + b'\\n'"
    agent.plan(trainer=f"import os\nos.write(int(os.environ['PADDLE_REPORT_FD']), {nonsense})")
    agent.say(do="start", role="trainer")
    assert "not JSON" in agent.hear("trouble")["text"]
    assert agent.hear("exit")["status"] == 0


def test_a_launcher_that_does_not_read_blocks_no_role_and_hears_how_much_it_missed(agent) -> None:
    agent.plan(trainer="for i in range(200_000): print('a line of some length', i)")
    agent.say(do="start", role="trainer")
    log = agent.workspace / "log" / "train.log"
    agent.until(
        lambda: log.exists() and log.read_bytes().endswith(b" 199999\n"), "the role to get to its end"
    )
    lines: list[str] = []
    lost = 0
    for line in agent.process.stdout:
        frame = json.loads(line)
        lines += frame.get("lines", [])
        lost += frame.get("lost", 0)
        if frame["event"] == "exit":
            break
    assert lost > 0, "old lines are lost"
    assert len(lines) + lost == 200_000
    assert lines[-1].endswith(" 199999"), "the newest are not"


def test_info_files_are_told_as_they_grow(agent) -> None:
    agent.plan(
        trainer="import signal\n"
        "with open('log/paddle_trainer.INFO', 'wb', buffering=0) as file: file.write(b'I1 one\\xff\\n')\n"
        "signal.pause()"
    )
    agent.say(do="start", role="trainer")
    grown = agent.hear("grown")
    assert grown["file"] == "paddle_trainer.INFO"
    assert grown["text"].encode("utf-8", "surrogateescape") == b"I1 one\xff\n"


def test_a_full_disk_is_told_once_and_blocks_no_role(agent) -> None:
    agent.plan(log="/dev/full", trainer="for i in range(100_000): print('line', i)")
    agent.say(do="start", role="trainer")
    told: dict[str, dict[str, Any]] = {}
    while not {"trouble", "exit"} <= told.keys():  # in whatever order: the disk is another thread's
        told |= {(frame := json.loads(agent.process.stdout.readline()))["event"]: frame}
    assert "/dev/full: No space left on device" in told["trouble"]["text"]
    assert told["exit"]["status"] == 0


def test_a_workspace_serves_one_job_at_a_time(agent) -> None:
    agent.plan(trainer=agent.RUNAWAY)
    agent.start("trainer")
    other = type(agent)(agent.workspace)
    try:
        other.plan(trainer=agent.RUNAWAY)
        assert other.hear("begun")["pid"] == other.process.pid
        assert f"{agent.workspace} is in use by another job" in other.hear("failed")["text"]
    finally:
        other.clean_up()
    log = agent.workspace / "log" / "train.log"  # it is told before that is written
    until(lambda: log.read_text() == "family\n", "the log of the first, as it was", seen=log.read_text)


def test_logs_are_fresh_and_the_node_knows_its_number(agent) -> None:
    (agent.workspace / "log").mkdir()
    (agent.workspace / "log" / "paddle_trainer.INFO").write_text("old")
    (agent.workspace / "log" / "agent.log").write_text("old")
    agent.plan()
    agent.hear("up")
    assert (agent.workspace / "nodefile").read_text() == "3\n"
    assert [path.name for path in (agent.workspace / "log").iterdir()] == ["agent.log"]
    assert "old" not in agent.log()


@pytest.mark.parametrize("log", ["log/train.log", "train.log"])
def test_a_pipe_in_place_of_a_log_is_not_waited_for(agent, log) -> None:
    """In the folder of logs it goes the way of the old logs; elsewhere it is not the agent's to remove."""
    (agent.workspace / "log").mkdir()
    os.mkfifo(agent.workspace / log)
    agent.plan(log=log, trainer="print('family')")
    agent.hear("up")
    agent.say(do="start", role="trainer")
    if log == "train.log":
        assert str(agent.workspace / log) in agent.hear("failed")["text"]
    else:
        assert agent.hear("exit")["status"] == 0
        until(lambda: (agent.workspace / log).read_text() == "family\n", "what it printed")


def test_terminating_the_outer_half_while_the_inner_one_dies_is_an_end_like_any(agent) -> None:
    agent.plan(trainer=agent.RUNAWAY)
    agent.start("trainer")
    outer, inner = agent.halves()
    os.kill(outer, signal.SIGSTOP)
    os.kill(inner, signal.SIGKILL)
    os.kill(outer, signal.SIGTERM)
    os.kill(outer, signal.SIGCONT)
    agent.all_gone(PROMISED_S)
    assert "stopped: the inner half ended with status -9" in agent.log()


def test_a_command_that_is_not_there_is_named(agent) -> None:
    roles = {"trainer": {"argv": ["/no/python"], "env": {}, "prepend": {}, "log": "log/train.log"}}
    agent.say(do="plan", node=0, workspace=str(agent.workspace), lease_s=60, secrets={}, roles=roles)
    agent.hear("up")
    agent.say(do="start", role="trainer")
    frame = agent.hear("failed")
    assert frame == {"event": "failed", "text": "cannot start: /no/python: No such file or directory"}


def test_an_environment_that_cannot_be_is_said_and_ends_nothing(agent) -> None:
    role = {
        "argv": [sys.executable],
        "prepend": {"LD_LIBRARY_PATH": "a\0b"},
        "env": {},
        "log": "log/train.log",
    }
    roles = {"trainer": role}
    agent.say(do="plan", node=0, workspace=str(agent.workspace), lease_s=60, secrets={}, roles=roles)
    agent.say(do="start", role="trainer")
    assert agent.hear("failed")["text"] == "cannot start: embedded null byte"
    agent.say(do="stop", grace_s=1.0)
    assert agent.hear("ended")["why"] == "stopped: asked by the launcher"


def test_a_workspace_may_be_called_anything(agent, tmp_path) -> None:
    workspace = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    workspace.mkdir()
    other = type(agent)(workspace)
    try:
        other.plan(trainer="print('family')")
        other.start("trainer")
        os.kill(other.halves()[1], signal.SIGKILL)
        other.all_gone(PROMISED_S)
        assert "the inner half ended" in (workspace / "log" / "agent.log").read_bytes().decode(
            errors="replace"
        )
    finally:
        other.clean_up()


def test_a_process_is_signalled_only_with_its_own_start_time() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        _, identity = look_up(process.pid)
        assert identity in descendants(os.getpid())
        send_signal(Process(process.pid, identity.start + 1), signal.SIGKILL)
        assert process.poll() is None
        send_signal(identity, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    send_signal(identity, signal.SIGKILL)


def test_a_log_goes_on_when_there_is_room_again(tmp_path) -> None:
    told: list[str] = []
    log = LogFile(str(tmp_path / "log"), told.append)
    full = os.open("/dev/full", os.O_WRONLY)
    room, log.descriptor = log.descriptor, full
    log.write(b"lost\n")
    log.write(b"lost\n")
    log.descriptor = room
    log.write(b"kept\n")
    log.descriptor = full
    log.write(b"lost\n")
    os.close(full)
    assert Path(log.path).read_bytes() == b"kept\n"
    assert len(told) == 2
