"""What keeps the results of a launch waits for no disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from paddle._launch.news import Progress
from paddle._launch.results.keeper import PATIENCE_S, Keeper
from tests import waiting
from tests.launch.jobs.conftest import plan

LIMIT_S = waiting.PATIENCE_S


def until(is_so: Callable[[], bool]) -> None:
    waiting.until(is_so, "what a thread does")


class Pipe:
    """A disk that stands still: whoever opens a log to write waits until somebody reads."""

    def __init__(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place)
        self._place = place
        self.text = ""
        self._guard = threading.Timer(LIMIT_S, self.read)  # no test waits for ever
        self._guard.daemon = True
        self._guard.start()

    def read(self) -> None:
        """It moves again: what was written is in ``text``."""
        self._guard.cancel()
        reader = os.open(self._place, os.O_RDONLY | os.O_NONBLOCK)
        threading.Thread(target=self._drain, args=[reader], daemon=True).start()

    def _drain(self, reader: int) -> None:
        os.set_blocking(reader, True)
        nothing = threading.Event()
        while not nothing.wait(0.01):  # between two writers it reads as at an end
            self.text += os.read(reader, 1 << 16).decode()


@pytest.fixture
def pipe(tmp_path: Path):
    pipe = Pipe(tmp_path / "log" / "node-0" / "train.log")
    yield pipe
    pipe._guard.cancel()


def begun(home: Path, most: int = 1 << 20) -> Keeper:
    keeper = Keeper(plan(home), most)
    keeper.begin(lambda: None)
    return keeper


def test_a_disk_that_stands_still_keeps_nobody_waiting_and_gets_all_in_order_when_it_goes_on(
    tmp_path: Path, pipe: Pipe
) -> None:
    keeper = begun(tmp_path)
    for number in range(50):
        keeper.add("trainer-0", [f"line {number}"])
    assert not keeper.is_idle
    pipe.read()
    until(lambda: keeper.is_idle)
    until(lambda: pipe.text == "".join(f"line {number}\n" for number in range(50)))
    assert not list(keeper.said())


def test_what_finds_no_room_is_left_out_and_counted_where_it_is_missing(tmp_path: Path, pipe: Pipe) -> None:
    keeper = begun(tmp_path, most=10_000)
    keeper.add("trainer-0", ["first"])
    for number in range(100):
        keeper.add("trainer-0", [f"{number:01000}", "another"])
    kept = keeper._size
    assert kept < 20_000, "memory is bounded"
    (text,) = keeper.said()
    assert "does not take what comes in time" in text
    pipe.read()
    until(lambda: keeper.is_idle)
    keeper.add("trainer-0", ["last"])
    until(lambda: pipe.text.endswith("last\n"))
    lines = pipe.text.splitlines()
    there = (len(lines) - 3) // 2
    assert lines[-2] == (f"... {200 - 2 * there} lines are left out here: the disk did not take them in time")
    assert 0 < there < 100


def test_that_a_disk_stands_still_is_seen_and_so_is_that_it_goes_on(tmp_path: Path, pipe: Pipe) -> None:
    keeper = begun(tmp_path)
    keeper.add("trainer-0", ["one"])
    until(lambda: keeper._done == 1)  # what was there before is cleared, and the pipe is opened
    keeper.look(101.0)
    keeper.look(101.0 + PATIENCE_S)
    assert not keeper.stands_still
    keeper.look(101.1 + PATIENCE_S)
    assert keeper.stands_still
    assert keeper.finish(LIMIT_S) is None, "and at once: nobody waits for it"
    pipe.read()
    until(lambda: keeper.is_idle)
    keeper.look(200.0)
    assert not keeper.stands_still


def test_the_curve_is_drawn_behind_all_that_was_reported(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    keeper = begun(tmp_path)
    keeper.train()
    for batch in range(3):
        keeper.mark(Progress("trainer-0", 0, batch, 2.0 - batch, 3.0), 1.0 + batch)
    drawn = keeper.finish(LIMIT_S)
    assert drawn in (tmp_path / "log" / "loss.png", tmp_path / "log" / "loss.csv")
    assert len((tmp_path / "log" / "loss.csv").read_text().splitlines()) == 4


def test_what_is_wrong_with_results_is_said_once_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    keeper = Keeper(plan(tmp_path))
    for _ in range(2):
        keeper.begin(lambda: [][0])
    keeper.add("trainer-0", ["line"])
    until(lambda: keeper.is_idle)
    assert list(keeper.said()) == ["cannot keep all results: IndexError: list index out of range"]
    assert (tmp_path / "log" / "node-0" / "train.log").read_text() == "line\n"


def test_no_thread_stays_where_nothing_is_to_be_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("paddle._launch.results.keeper._LINGERS_S", 0.0)
    before = threading.active_count()
    for _ in range(3):
        begun(tmp_path).finish(LIMIT_S)
    until(lambda: threading.active_count() <= before)
