"""A launch whose results lie on a disk that stands still: it watches, obeys and ends all the same."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.events import Signalled
from paddle._launch.phases import Phase
from paddle._launch.results.keeper import PATIENCE_S, Keeper
from tests import waiting
from tests.launch.test_endings import SOUND, Ending

LIMIT_S = waiting.PATIENCE_S


@pytest.fixture
def still(tmp_path: Path) -> Iterator[Path]:
    """A home of results in which whoever says whose they are waits, as for a disk: it is a pipe."""
    (tmp_path / "log").mkdir()
    mark = tmp_path / "log" / ".job"
    os.mkfifo(mark)
    is_over = threading.Event()

    def guard() -> None:  # a launch that waits is to fail, not to hang
        is_over.wait(LIMIT_S)
        os.close(os.open(mark, os.O_RDWR | os.O_NONBLOCK))

    threading.Thread(target=guard, daemon=True).start()
    yield tmp_path
    assert not is_over.is_set()
    is_over.set()


def test_ctrl_c_is_obeyed_in_time_and_nothing_is_collected(still: Path) -> None:
    ending = Ending(still, SOUND, [(20, Signalled(signal.SIGINT))], keeper=Keeper)
    ending.check()
    assert ending.phase_then is Phase.TRAIN
    assert ending.status == 128 + signal.SIGINT
    assert ending.launch.stands_still
    assert not ending.launch.collected
    assert ending.ended_at - (ending.first_at or 0.0) < PATIENCE_S + 5.0
    assert ending.launch.draw_curve() is None


def test_a_job_goes_on_to_its_own_end(still: Path) -> None:
    ending = Ending(still, SOUND, [], keeper=Keeper)
    ending.check()
    assert ending.status == 0
    assert ending.launch.stands_still


def test_a_node_that_falls_silent_is_found_out(still: Path) -> None:
    ending = Ending(still, ("sound", "dead"), [], keeper=Keeper)
    assert ending.launch.cause
    assert ending.launch.cause.text.startswith("nothing was heard from it")
