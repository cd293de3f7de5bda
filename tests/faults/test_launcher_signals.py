"""INT, TERM and HUP to the launcher, in every phase: nothing of the job is left, its logs are there."""

import os
import signal
import time
from pathlib import Path

import pytest

from paddle._launch.results.tenancy import MARK

pytestmark = pytest.mark.faults

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
NEVER_READY = "import signal\nprint('family', flush=True)\nsignal.pause()\n"
REPORTS = """
import json, os, threading
descriptor = int(os.environ["PADDLE_REPORT_FD"])
for batch in range(1000):
    report = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 1.0, "samples_per_s": 9}
    os.write(descriptor, json.dumps(report).encode() + bytes([10]))
    print("batch", batch, flush=True)
    threading.Event().wait(0.1)
"""
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("family", flush=True)
while True:
    signal.pause()
"""


def stopped(running, signum: int) -> str:
    """Send the signal; gives the output of a launcher that ended as it must."""
    began = time.monotonic()
    running.process.send_signal(signum)
    status, output, _ = running.end()
    assert status == 128 + signum
    assert time.monotonic() - began < 5.0
    assert running.pids() == {}
    assert f"stopped by {signal.Signals(signum).name}" in output
    return output


def collected(running) -> set[str]:
    log = running.package / "log"
    return {str(path.relative_to(log)) for path in log.rglob("*") if path.is_file() and path.name != MARK}


@pytest.mark.parametrize("signum", SIGNALS)
def test_while_the_workspace_is_sent(launch, signum, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    with (tmp_path / "package" / "big").open("wb") as big:
        big.truncate(2 << 30)  # long enough to be met while it is copied, and no room is taken here
    running = launch()
    running.wait_for("sending the workspace")
    output = stopped(running, signum)
    assert output.endswith(f"ended with status {128 + signum}, before any role was started\n")
    assert running.jobs() == []


@pytest.mark.parametrize("signum", SIGNALS)
def test_while_pservers_start(launch, signum) -> None:
    running = launch(pserver=NEVER_READY)
    running.wait_for("starting 2 pservers")
    for node in (0, 1):
        log = running.node(node) / "log" / "server.log"
        running.until(lambda log=log: log.exists() and "family\n" in log.read_text(), f"words in {log}")
    stopped(running, signum)
    assert collected(running) == {
        f"node-{node}/{name}.log" for node in (0, 1) for name in ("agent", "server")
    }
    assert running.jobs() == []
    for node in (0, 1):
        assert (
            "stopped: asked by the launcher" in (running.package / f"log/node-{node}/agent.log").read_text()
        )


@pytest.mark.parametrize("signum", SIGNALS)
def test_while_training(launch, signum) -> None:
    running = launch()
    running.wait_until_trained()
    output = stopped(running, signum)
    for node in (0, 1):
        assert (running.package / f"log/node-{node}/train.log").read_text() == "family\n"
    assert output.splitlines()[-1].startswith(
        f"ended with status {128 + signum}: logs in {running.package}/log"
    )


def test_behind_an_ampersand_where_interrupts_are_ignored(launch) -> None:
    running = launch(ignored=[signal.SIGINT])
    running.wait_until_trained()
    stopped(running, signal.SIGINT)


def test_roles_that_ignore_the_request_are_gone_in_time(launch) -> None:
    running = launch(train=STUBBORN)
    running.wait_until_trained()
    stopped(running, signal.SIGTERM)


def test_a_second_interrupt_kills_at_once(launch) -> None:
    running = launch(train=STUBBORN)
    running.wait_until_trained()
    running.process.send_signal(signal.SIGINT)
    running.wait_for("stopped by SIGINT")
    output = stopped(running, signal.SIGINT)
    assert "killing what is left" in output


def test_an_agent_that_hangs_is_killed_from_outside(launch) -> None:
    running = launch()
    running.wait_until_trained()
    agents = [pid for pid, command in running.pids().items() if "_launch/agent" in command]
    assert len(agents) == 4
    for pid in agents:
        os.kill(pid, signal.SIGSTOP)
    stopped(running, signal.SIGTERM)


def test_a_reader_that_went_away_ends_the_job_as_a_terminal_does(launch) -> None:
    running = launch(train=REPORTS, argv=["--show_logs"])
    running.wait_for("trainer-0 pass 0")
    running.process.stdout.close()
    assert running.process.wait(timeout=15) == 128 + signal.SIGHUP
    assert "its output is no longer read" in running.process.stderr.read()
    assert running.pids() == {}


def test_a_terminal_that_is_gone_does_not_keep_it_from_cleaning_up(launch) -> None:
    running = launch()
    running.wait_until_trained()
    running.process.stdout.close()
    running.process.stderr.close()
    running.process.send_signal(signal.SIGHUP)
    assert running.process.wait(timeout=10) == 128 + signal.SIGHUP
    assert running.pids() == {}
    assert (running.package / "log/node-1/train.log").read_text() == "family\n"
