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


def test_a_launcher_is_not_put_to_sleep_by_its_terminal(launch) -> None:
    running = launch()
    running.wait_until_trained()
    running.process.send_signal(signal.SIGTSTP)
    running.wait_for("Ctrl+Z is not obeyed")
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 128 + signal.SIGINT
