"""A launcher that goes into the background, seen by who waits before it."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from paddle._launch.jobs.background import Foreground


def test_of_a_launcher_that_is_killed_before_the_job_trains_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "launcher.log").write_text("starting 2 pservers\n")
    before, behind = socket.socketpair()
    launcher = subprocess.Popen(["sleep", "600"])
    launcher.kill()
    behind.close()
    with before:
        status = Foreground(launcher.pid, tmp_path / "launcher.log", before).wait()
    said = capsys.readouterr()
    assert (status, said.out) == (128 + signal.SIGKILL, "starting 2 pservers\n")
    assert f"paddle.py: the launcher, process {launcher.pid}, was killed by SIGKILL. " in said.err
    launcher.returncode = -signal.SIGKILL  # it was waited for
