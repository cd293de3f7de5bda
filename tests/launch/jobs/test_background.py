"""A launcher that goes into the background, seen by who waits before it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paddle._launch import cli
from paddle._launch.jobs.background import Foreground
from paddle._launch.signals import Stopped


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


def test_a_job_that_ends_before_its_first_step_was_heard_of_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "launcher.log").write_text("done\n")
    before, behind = socket.socketpair()
    launcher = subprocess.Popen(["sh", "-c", "exit 3"])
    behind.sendall(b"ts")
    behind.close()
    with before:
        status = Foreground(launcher.pid, tmp_path / "launcher.log", before).wait()
    assert (status, capsys.readouterr().out) == (3, "done\n")
    launcher.returncode = 3  # it was waited for


def test_a_job_that_is_being_stopped_is_not_left_for_a_step_that_was_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = iter([b"t", Stopped(signal.SIGINT), b"s", b""])

    def hear(side: Foreground) -> bytes:
        word = next(heard)
        if isinstance(word, Stopped):
            raise word
        return word

    monkeypatch.setattr(Foreground, "_hear", hear)
    before, behind = socket.socketpair()
    launcher = subprocess.Popen(["sleep", "600"])
    with before, behind, pytest.raises(Stopped):
        Foreground(launcher.pid, tmp_path / "launcher.log", before).wait()
    launcher.returncode = -signal.SIGTERM  # it was waited for


def test_a_job_that_trains_behind_has_begun_well_also_where_that_cannot_be_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Path("/dev/full").open("w")  # noqa: SIM115  closing it fails
    side: Any = SimpleNamespace(wait=lambda: None, launcher=7, log="launcher.log")
    launch: Any = SimpleNamespace(name="JOB1")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", full)
        status = cli._leave(side, launch, "text")
    with suppress(OSError):
        full.close()
    said = capsys.readouterr().err
    assert status == 0
    assert "cannot print: No space left on device" in said
    assert "JOB1 continues in the background, process 7; its output is in launcher.log" in said
