"""Processes that live and die together: what becomes of one that is killed again and again."""

from __future__ import annotations

import logging
import os
import re
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from paddle._pserver.service.children import Children


def test_the_pause_before_one_is_started_again_grows_and_stays_shorter_than_trainers_patience(
    caplog: pytest.LogCaptureFixture,
) -> None:
    children = Children()
    children._restarts["a shard"] = 9
    with caplog.at_level(logging.WARNING, "paddle.pserver"):
        for pid in range(9):
            children._ended("a shard", pid, -signal.SIGKILL)
    pauses = [float(pause) for pause in re.findall(r"started again in ([\d.]+) s", caplog.text)]
    assert pauses == [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8]


def test_what_is_said_to_all_each_hears_and_one_that_is_started_again_hears_it_again(tmp_path: Path) -> None:
    news, speaks = os.pipe()
    heard, says = os.pipe()
    os.set_blocking(news, False)
    children = Children(news=news)

    def work(name: str, ready: Callable[[], None]) -> int:
        """Say what it hears; the first time one of them is killed."""
        assert children.ear is not None
        ready()
        select.select([children.ear], [], [])
        os.write(says, b"%s: %s\n" % (name.encode(), os.read(children.ear, 100)))
        if name == "a shard" and not (tmp_path / "was here").exists():
            (tmp_path / "was here").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def served() -> None:
        os.write(speaks, b"trainer-1 is gone")
        os.close(speaks)

    for name in ("a shard", "another"):
        children.fork(name, lambda ready, name=name: work(name, ready), restarts=1)
    assert children.wait(served) == 0
    os.close(says)
    with os.fdopen(heard) as lines:
        told = sorted(lines)
    assert told == ["a shard: trainer-1 is gone\n"] * 2 + ["another: trainer-1 is gone\n"]


def test_that_it_ends_is_said_once_however_often_it_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """As where a shell, or whoever started it, passes on what all of them have got."""
    children = Children()
    for numbers in ([signal.SIGTERM, signal.SIGTERM], [signal.SIGCHLD, signal.SIGINT]):
        children._obey(bytes(numbers))
    assert caplog.text.count("ends its pservers") == 1
    assert children._status == 128 + signal.SIGTERM
