"""`fab collect` beside somebody else who collects, and what it shows of what nodes say."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paddle._launch.backends import carrier
from paddle._launch.events import Answered
from paddle._launch.jobs.collecting import collect
from paddle._launch.news import Collected, Told
from paddle._launch.phases import Phase
from tests.launch.jobs.conftest import plan
from tests.waiting import PATIENCE_S, until


def test_it_waits_while_the_launcher_collects(tmp_path: Path) -> None:
    job = plan(tmp_path)
    for node in job.nodes:
        (node.workspace / "log").mkdir(parents=True)
        (node.workspace / "log" / "train.log").write_text(f"log of {node.node}\n")
    (tmp_path / "log").mkdir()
    lines: list[str] = []
    launchers = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(launchers, fcntl.LOCK_EX)
    collector = threading.Thread(target=lambda: lines.extend(collect(job, heard)), daemon=True)
    told: list[str] = []

    def heard(plan, post):  # type: ignore[no-untyped-def]
        return carrier(plan, lambda message: (told.append(str(message)), post(message))[1])

    collector.start()
    until(lambda: any("somebody else collects" in line for line in told), "that it waits")
    assert list((tmp_path / "log").iterdir()) == []
    os.close(launchers)
    collector.join(PATIENCE_S)
    assert lines[-1] == f"collected into {tmp_path}: log of node 0, log of node 1"
    for node in (0, 1):
        assert (tmp_path / f"log/node-{node}/train.log").read_text() == f"log of {node}\n"


class _Talkative:
    """A carrier of one node, whose words are for a terminal."""

    def __init__(self, post: Callable[[Any], None]) -> None:
        self._post = post

    def step(self, node: int, phase: Phase) -> None:
        if phase is Phase.REACH:
            self._post(Told(f"node {node}", "left out: \x1b]0;owned\x07evil\x07"))
            self._post(Answered(node, phase))
        else:
            self._post(Collected(node, "log"))
            self._post(Answered(node, phase))

    def close(self) -> str:
        return ""


def test_a_node_says_nothing_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    lines = list(collect(plan(tmp_path), lambda _, post: _Talkative(post)))  # type: ignore[arg-type,return-value]
    assert "node 0: left out: evil\\x07" in lines
    assert not any("\x1b" in line or "\x07" in line for line in lines)
