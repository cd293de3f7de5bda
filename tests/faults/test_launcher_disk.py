"""A launcher whose results lie on a disk that stands still in the midst of a job."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.waiting import until

pytestmark = pytest.mark.faults

PRINTS = (
    "import time\nprint('family', flush=True)\nwhile True: print('goes on', time.sleep(0.02), flush=True)\n"
)


def test_ctrl_c_ends_all_in_time_and_the_launcher_too(launch) -> None:
    running = launch(train=PRINTS)
    running.wait_until_trained()
    arrived = running.package / "log" / "node-0" / "train.log"
    until(arrived.exists, "a log that arrives")
    still = arrived.with_name("still")
    os.mkfifo(still)  # who opens it to write waits until somebody reads
    still.replace(arrived)
    log = running.node(0) / "log" / "train.log"
    size = log.stat().st_size
    until(lambda: log.stat().st_size > size + 400, "more to write than what was on its way")
    running.process.send_signal(signal.SIGINT)
    until(lambda: len(running.pids()) == 1, "the end of all but the launcher", 5.0)
    while True:  # logs are to arrive; who asks again does not want them
        running.process.send_signal(signal.SIGINT)
        try:
            running.process.wait(0.3)
            break
        except subprocess.TimeoutExpired:
            continue
    status, output, _ = running.end()
    assert status == 128 + signal.SIGINT
    assert "stopped by SIGINT" in output
