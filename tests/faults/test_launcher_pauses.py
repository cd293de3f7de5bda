"""What stands still for a while, or is told that its terminal has gone, goes on afterwards."""

import fcntl
import signal
import struct
import termios
import time

import pytest

pytestmark = pytest.mark.faults


TALKATIVE = """
import json, os, time
fd = int(os.environ["PADDLE_REPORT_FD"])
print("family", flush=True)
while True:
    os.write(fd, json.dumps({"report": "message", "text": "words " * 100}).encode() + b"\\n")
    time.sleep(0.001)
"""


def test_a_launcher_under_nohup_outlives_its_terminal(launch) -> None:
    running = launch(ignored=[signal.SIGHUP])
    running.wait_until_trained()
    running.process.send_signal(signal.SIGHUP)
    running.process.send_signal(signal.SIGTERM)
    status, output, _ = running.end()
    assert status == 128 + signal.SIGTERM
    assert "SIGHUP" not in output


def test_a_launcher_is_not_put_to_sleep_by_its_terminal(launch) -> None:
    running = launch()
    running.wait_until_trained()
    running.process.send_signal(signal.SIGTSTP)
    running.wait_for("Ctrl+Z is ignored")
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 128 + signal.SIGINT


def test_a_paused_terminal_keeps_no_signal_from_being_obeyed(launch) -> None:
    running = launch(train=TALKATIVE)
    running.wait_until_trained()

    def is_full() -> bool:
        waiting = fcntl.ioctl(running.process.stdout.fileno(), termios.FIONREAD, struct.pack("i", 0))
        return struct.unpack("i", waiting)[0] > 50_000

    running.until(is_full, "a pipe that takes no more")
    began = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(timeout=15) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 8.0
    assert running.pids() == {}
