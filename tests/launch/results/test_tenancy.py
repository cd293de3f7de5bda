"""Whose results lie in a package, and who may put others there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from paddle._launch.results import tenancy
from paddle._launch.results.tenancy import Tenancy, own_place, settle, tenant
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No disk stands still here: what is let go of is gone when that returns, however slow the machine is."""
    monkeypatch.setattr(tenancy, "_PATIENCE_S", PATIENCE_S)


@pytest.fixture
def held(tmp_path: Path):
    """Take a place as a launch does; let go of all in the end."""
    taken: list[Tenancy] = []

    def take(name: str) -> tuple[Path, str]:
        taken.append(Tenancy())
        return taken[-1].take(tmp_path, name, f"{name}-aa")

    yield take
    for one in taken:
        one.release()


def test_the_first_has_the_place_and_others_have_one_each_in_it(held, tmp_path: Path) -> None:
    assert held("JOB1") == (tmp_path, "")
    assert held("JOB2") == (tmp_path / "log" / "JOB2", "JOB1-aa")
    assert held("JOB3") == (tmp_path / "log" / "JOB3", "JOB1-aa")


def test_it_is_free_when_a_launcher_is_killed(held, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        Tenancy().take(tmp_path, "JOB1", "JOB1-aa")
        os.write(writer, b".")
        signal.pause()
    os.read(reader, 1)
    assert held("JOB2")[1] == "JOB1-aa"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert held("JOB3") == (tmp_path, "")


def test_results_are_those_of_who_has_put_some_there_last(held, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    settle(tmp_path, "JOB0-aa")
    held("JOB1")
    assert tenant(tmp_path) == "JOB0-aa", "nothing of its own is there yet"
    settle(tmp_path, "JOB1-aa")
    assert tenant(tmp_path) == "JOB1-aa"
    assert own_place(tmp_path, "JOB1", "JOB1-aa") == tmp_path
    assert own_place(tmp_path, "JOB0", "JOB0-aa") == tmp_path / "log" / "JOB0"


def test_where_nobody_has_said_whose_they_are_they_are_believed(tmp_path: Path) -> None:
    assert tenant(tmp_path) == ""
    assert own_place(tmp_path, "JOB0", "JOB0-aa") == tmp_path


def test_of_a_place_that_nothing_was_put_in_nothing_is_left(tmp_path: Path) -> None:
    first, second = Tenancy(), Tenancy()
    first.take(tmp_path, "JOB1", "JOB1-aa")
    second.take(tmp_path, "JOB2", "JOB2-aa")
    second.release()
    assert list((tmp_path / "log").iterdir()) == [tmp_path / "log" / tenancy.MARK]
    first.release()
    assert list(tmp_path.iterdir()) == []


def test_a_place_in_which_something_lies_stays(tmp_path: Path) -> None:
    own = Tenancy()
    own.take(tmp_path, "JOB1", "JOB1-aa")
    settle(tmp_path, "JOB1-aa")
    own.release()
    assert tenant(tmp_path) == "JOB1-aa"


def test_where_nothing_can_be_written_all_may(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file of the user's")
    assert Tenancy().take(tmp_path, "JOB1", "JOB1-aa") == (tmp_path, "")
    assert Tenancy().take(tmp_path, "JOB2", "JOB2-aa") == (tmp_path, "")
    assert (tmp_path / "log").read_text() == "a file of the user's"
