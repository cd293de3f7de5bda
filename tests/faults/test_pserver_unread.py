"""A pserver started by hand whose output nobody reads."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest

from tests.pserver.test_equality import assert_same, locally, update
from tests.waiting import PATIENCE_S

from .pservers import STEPS, TRAINERS, Job, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]


def fill(job: Job) -> None:
    """The pipe that its standard error is, to the last byte."""
    pipe = os.open(f"/proc/{job.process.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(pipe, b"x" * 4096):
            pass
    with contextlib.suppress(BlockingIOError):
        while os.write(pipe, b"x"):
            pass
    os.close(pipe)


def be_turned_away(port: int) -> None:
    """Which is a warning."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as stranger:
        stranger.sendall(b"\x16\x03\x01")  # as TLS begins
        while stranger.recv(4096):
            pass


def test_it_serves_on_though_its_pipe_is_full(tmp_path: Path) -> None:
    spec = update("sgd")
    with pservers(None) as job:
        fill(job)
        for port in range(job.port, job.port + 3):
            be_turned_away(port)
        first, _ = job.train(spec, lambda trainer, step: None)
        job.process.stderr.read()  # type: ignore[union-attr]
        assert job.process.wait(PATIENCE_S) == 0
    assert_same(first, locally(spec, TRAINERS, STEPS))
