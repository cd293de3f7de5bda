"""Processes that live and die together: what becomes of one that is killed again and again."""

from __future__ import annotations

import logging
import re
import signal

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
