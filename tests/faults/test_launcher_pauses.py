"""What stands still for a while, or is told that its terminal has gone, goes on afterwards."""

import signal

import pytest

pytestmark = pytest.mark.faults


def test_a_launcher_under_nohup_outlives_its_terminal(launch) -> None:
    running = launch(ignored=[signal.SIGHUP])
    running.wait_until_trained()
    running.process.send_signal(signal.SIGHUP)
    running.process.send_signal(signal.SIGTERM)
    status, output, _ = running.end()
    assert status == 128 + signal.SIGTERM
    assert "SIGHUP" not in output
