"""What is told to be removed is removed, nothing else, whatever links there are and whoever comes between."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.agent.environments import MARK
from paddle._launch.machines.conversation import converse
from paddle._launch.machines.here import Here
from tests.launch.upkeep.test_belongings import (
    JOB,
    OTHER_JOB,
    OTHER_VENV,
    RUNTIME,
    VENV,
    WHEELS,
    add,
    add_job,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One with all there can be, of which only the newest job runs."""
    root = tmp_path / "jobs"
    (root / ".paddle" / "places").mkdir(parents=True)
    (root / ".paddle").chmod(0o700)
    add_job(root)
    for path in (f"venvs/{VENV}", f"venvs/{OTHER_VENV}", RUNTIME, RUNTIME.replace("0", "1"), WHEELS):
        add(root, path)
    (root / ".paddle" / "venvs" / VENV / MARK).write_text(f'{{"wheels": "{root}/.paddle/{WHEELS}"}}')
    (root / ".paddle" / "venv").symlink_to(f"venvs/{VENV}")
    os.utime(root / ".paddle" / "venv", (1e9, 1e9), follow_symlinks=False)
    objects = add(root, "objects")
    os.link(root / JOB / "train.py", objects / "shared")
    (root / "mine").mkdir()
    (root / "mine" / "file").write_text("mine")
    return root


def ask(root: Path, **how: Any) -> list[dict[str, Any]]:
    order = {"root": str(root), "runtimes": [RUNTIME], "remove": None, **how}
    with converse(Here(), (sys.executable,), "agent.cleaner") as talk:
        talk.tell(order)
        return list(talk.answers(dict[str, Any]))


def removable(root: Path, needs: Iterable[str] = ("",)) -> list[list[object]]:
    listed = [one["belonging"] for one in ask(root)]
    return [[one["path"], one["number"]] for one in listed if one["need"] in needs]


def removed(answers: list[dict[str, Any]]) -> set[str]:
    return {one["removed"] for one in answers if "removed" in one}


def test_what_nobody_needs_is_removed_and_the_rest_stays(root: Path) -> None:
    answers = ask(root, remove=removable(root), all=False)
    assert removed(answers) == {
        JOB,
        f".paddle/venvs/{OTHER_VENV}",
        f".paddle/{RUNTIME.replace('0', '1')}",
        ".paddle",
    }
    assert sum(one["size"] for one in answers if "removed" in one) > 10_000
    assert sorted(path.name for path in root.iterdir()) == [".paddle", "mine"]
    home = root / ".paddle"
    assert sorted(one.name for one in (home / "venvs").iterdir()) == [VENV]
    assert (home / "venv" / MARK).exists()
    assert (home / RUNTIME).is_dir()
    assert (home / WHEELS).is_dir()
    assert list((home / "objects").iterdir()) == [], "what the job shared is nobody's now"
    assert list((home / "places").iterdir()) == []


def test_all_means_all_that_is_ours_and_nothing_of_others(root: Path) -> None:
    ask(root, remove=removable(root, ("", "next")), all=True)
    assert [path.name for path in root.iterdir()] == ["mine"]
    assert (root / "mine" / "file").read_text() == "mine"


def test_a_file_of_somebody_else_in_our_folder_stays_and_is_told(root: Path) -> None:
    (root / ".paddle" / "notes.txt").write_text("mine")
    answers = ask(root, remove=removable(root, ("", "next")), all=True)
    assert {"left": ".paddle", "why": "there is notes.txt in it, which is not ours"} in answers
    assert [path.name for path in (root / ".paddle").iterdir()] == ["notes.txt"]


def test_where_a_job_runs_all_that_it_may_use_stays(root: Path) -> None:
    wanted = removable(root, ("", "next"))
    with (root / JOB / "log" / "agent.log").open() as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        answers = ask(root, remove=wanted, all=True)
    assert {"left": JOB, "why": "for its agent"} in answers
    assert (root / JOB / "train.py").exists()
    assert (root / ".paddle" / "objects" / "shared").exists()
    assert (root / ".paddle" / RUNTIME).is_dir(), "roles that are yet to be started need it"
    assert (root / ".paddle" / "venv" / MARK).exists()


def test_where_a_launch_has_sent_its_workspace_and_waits_for_other_nodes_all_that_it_may_use_stays(
    root: Path,
) -> None:
    """With ``--all`` its environment went: the launch failed when its roles were to start."""
    wanted = removable(root, ("", "next"))
    add_job(root, OTHER_JOB, is_begun=False)
    ask(root, remove=wanted, all=True)
    home = root / ".paddle"
    assert (home / "venv" / MARK).exists()
    assert (home / RUNTIME).is_dir()
    assert (root / OTHER_JOB / "train.py").exists()


def test_what_came_in_the_place_of_what_was_listed_stays(root: Path) -> None:
    wanted = removable(root)
    (root / JOB).rename(root / "elsewhere")
    add_job(root)
    assert JOB not in removed(ask(root, remove=wanted, all=False))
    assert (root / JOB / "train.py").exists()


def test_what_was_not_listed_stays(root: Path) -> None:
    add_job(root, OTHER_JOB)
    wanted = [[path, number] for path, number in removable(root) if path == OTHER_JOB]
    assert removed(ask(root, remove=wanted, all=False)) >= {OTHER_JOB}
    assert (root / JOB).is_dir()


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    (root / JOB / "link").symlink_to(tmp_path / "precious")
    (root / ".paddle" / RUNTIME.replace("0", "2")).symlink_to(tmp_path / "precious")
    ask(root, remove=removable(root, ("", "next")), all=True)
    assert not (root / JOB).exists()
    assert (tmp_path / "precious" / "file").read_text() == "mine"


def test_what_a_removal_that_was_cut_off_left_is_removed_by_the_next(root: Path) -> None:
    (root / JOB).rename(root / f".{JOB}.gone")
    (root / ".paddle" / "venvs" / OTHER_VENV).rename(root / ".paddle" / "venvs" / f".{OTHER_VENV}.gone")
    ask(root, remove=removable(root), all=False)
    assert sorted(path.name for path in root.iterdir()) == [".paddle", "mine"]
    assert [path.name for path in (root / ".paddle" / "venvs").iterdir()] == [VENV]


def test_a_folder_that_is_not_ours_is_left_alone_altogether(root: Path) -> None:
    wanted = removable(root)
    (root / ".paddle").chmod(0o777)
    (answer,) = ask(root, remove=wanted, all=True)
    assert (
        "is not a folder that only this user writes to: nothing here is taken for ours" in answer["strange"]
    )
    assert (root / JOB / "train.py").exists()
    (answer,) = ask(Path("/"))
    assert answer == {"strange": "/ is not cleaned: ROOT_DIR is to be a folder of its own"}


def test_where_nothing_of_ours_is_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert ask(tmp_path) == []
    assert ask(tmp_path / "none") == []
