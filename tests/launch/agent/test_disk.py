"""An agent waits for no disk, and a disk that is merely slow costs no line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.agent import disk as of_disk
from paddle._launch.agent.disk import Disk
from paddle._launch.agent.posted_log import PostedLog
from tests.waiting import PATIENCE_S


class Still:
    """A disk in the midst of something that lasts until ``goes_on``."""

    def __init__(self) -> None:
        self.disk, self.goes_on, self._is_begun = Disk(), threading.Event(), threading.Event()
        self.disk.put(self._last)
        assert self._is_begun.wait(PATIENCE_S)

    def _last(self) -> None:
        self._is_begun.set()
        assert self.goes_on.wait(PATIENCE_S)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[Still]:
    monkeypatch.setattr(of_disk, "MOST", 100)
    still = Still()
    yield still
    still.goes_on.set()


def test_all_is_done_in_order_when_it_goes_on(still: Still) -> None:
    done: list[int] = []
    for number in range(10):
        assert still.disk.put(lambda number=number: done.append(number), 50)
    assert not still.disk.finish(0.01)
    assert not still.disk.has_room(), "it is slow, as far as one knows: what comes is to wait in its pipe"
    still.goes_on.set()
    assert still.disk.finish(PATIENCE_S)
    assert still.disk.has_room()
    assert done == list(range(10))


def test_of_one_that_stands_still_nobody_waits_for_room_and_there_is_none(still: Still, monkeypatch) -> None:
    assert still.disk.put(lambda: None, 100)
    monkeypatch.setattr(of_disk, "STILL_S", 0.0)
    assert still.disk.has_room()
    assert not still.disk.put(lambda: None, 1)
    assert still.disk.put(lambda: None), "what takes no room, such as the end of secrets, has some"


def test_what_a_log_lost_is_counted_in_its_place_and_told_once(
    still: Still, tmp_path: Path, monkeypatch
) -> None:
    told: list[str] = []
    log = PostedLog(str(tmp_path / "log"), told.append, still.disk)
    log.write(b"x" * 99 + b"\n")
    monkeypatch.setattr(of_disk, "STILL_S", 0.0)
    for _ in range(3):
        log.write(b"lost\n")
    assert len(told) == 1
    assert "its disk does not respond" in told[0]
    still.goes_on.set()
    assert still.disk.finish(PATIENCE_S)
    log.write(b"last\n")
    assert still.disk.finish(PATIENCE_S)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[1:] == ["", "... 15 bytes are left out here: the disk did not take them in time", "last"]
