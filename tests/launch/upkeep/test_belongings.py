"""What is ours on a node is known by marks, and what somebody needs is told; all else is not seen at all."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.agent.belongings import RECENT_S, WAIT_S, Belonging, Ground, check_ours
from paddle._launch.agent.environments import MARK

JOB, OTHER_JOB = "JOB20261122044733", "JOB20261122044734"
VENV, OTHER_VENV = "cp311-0123456789ab", "cp312-0123456789ab"
RUNTIME = "runtime-0123456789abcdef"
WHEELS = "wheels-0123456789abcdef"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "jobs" / ".paddle" / "places").mkdir(parents=True, mode=0o700)
    (tmp_path / "jobs" / ".paddle").chmod(0o700)
    return tmp_path / "jobs"


def add_job(root: Path, name: str = JOB, *, is_begun: bool = True, is_noted: bool = True) -> Path:
    """A workspace as a dispatch leaves it, and as a job does."""
    job = root / name
    (job / "log").mkdir(parents=True)
    (job / "train.py").write_text("x" * 10_000)
    if is_begun:
        (job / "log" / "agent.log").write_text("")
    if is_noted:
        (root / ".paddle" / "places" / hashlib.sha256(os.fsencode(job)).hexdigest()).write_text("[]")
    return job


def add(root: Path, path: str) -> Path:
    place = root / ".paddle" / path
    place.mkdir(parents=True)
    (place / "file").write_text("x")
    return place


def ages(root: Path, seconds: float) -> float:
    """The time when all that is there now is so old."""
    return max(path.lstat().st_mtime for path in (root, *root.rglob("*"))) + seconds


def listed(root: Path, after_s: float = RECENT_S + 1, kept: tuple[str, ...] = ()) -> dict[str, Belonging]:
    found = Ground(root, ages(root, after_s), kept).belongings()
    assert len({one.path for one in found}) == len(found)
    return {Path(one.path).name: one for one in found}


def test_a_job_that_has_ended_is_needed_by_nobody(root: Path) -> None:
    job = add_job(root)
    (one,) = listed(root).values()
    assert (one.kind, one.path, one.number, one.need) == ("job", JOB, job.stat().st_ino, "")
    assert 10_000 < one.size < 100_000
    assert one.used_s == (job / "log" / "agent.log").stat().st_mtime
    assert one.holds == ()


def test_what_it_holds_is_told(root: Path) -> None:
    job = add_job(root)
    (job / "output" / "pass-00000").mkdir(parents=True)
    (job / "snapshots" / "dense-0").mkdir(parents=True)
    (job / "snapshots" / "dense-0" / "000012.json").write_text("{}")
    assert listed(root)[JOB].holds == ("model", "snapshots")


def test_a_job_that_goes_on_may_remove_files_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_job(root)
    walk = os.walk

    def late(place: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for folder, folders, files in walk(place):
            yield folder, folders, [*files, "gone"]

    monkeypatch.setattr(os, "walk", late)
    assert listed(root)[JOB].size > 10_000


def test_what_another_removal_has_taken_is_told(root: Path) -> None:
    ground = Ground(root, 0.0)
    assert ground.need(JOB) == ("gone", "nobody: it is gone already")


def test_one_whose_agent_lives_runs(root: Path) -> None:
    job = add_job(root)
    with (job / "log" / "agent.log").open() as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        assert (listed(root)[JOB].need, listed(root)[JOB].who) == ("run", "its agent")
    assert listed(root)[JOB].need == ""


def test_one_that_was_sent_and_has_not_begun_is_waited_for_a_day(root: Path) -> None:
    add_job(root, is_begun=False)
    add(root, f"venvs/{OTHER_VENV}")
    assert listed(root, WAIT_S - 100)[JOB].need == "wait"
    assert listed(root, WAIT_S - 100)[OTHER_VENV].who == f"{JOB}, which may begin yet"
    assert listed(root, WAIT_S + 100)[JOB].need == ""
    assert listed(root, WAIT_S + 100)[OTHER_VENV].need == ""


def test_a_dispatch_that_is_under_way_keeps_what_it_may_use(root: Path) -> None:
    staging = add(root, "staging/abc")
    add(root, RUNTIME)
    descriptor = os.open(staging, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert listed(root)[RUNTIME].need == "wait"
    os.close(descriptor)
    assert listed(root)[RUNTIME].need == ""


@pytest.fixture
def runs() -> Iterator[Callable[..., str]]:
    """Start a process that waits; gives how it is called."""
    with contextlib.ExitStack() as stack:

        def start(*argv: str, cwd: Path | None = None, stdout: Any = None, **environ: str) -> str:
            command = ["sh", "-c", "echo >&2; read -r _", "sh", *argv]
            process = subprocess.Popen(
                command, cwd=cwd, env={**os.environ, **environ}, stdin=-1, stdout=stdout, stderr=-1
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stderr and process.stderr.readline()
            return f"process {process.pid} ("

        yield start


@pytest.mark.parametrize("how", ["folder", "environment", "argument", "file"])
def test_what_a_process_uses_is_used_however_it_does(root: Path, runs, how: str) -> None:
    job = add_job(root)
    match how:
        case "folder":
            who = runs(cwd=job / "log")
        case "environment":
            who = runs(PYTHONPATH=f"/x:{job}/lib")
        case "argument":
            who = runs(f"--dir={job}")
        case _:
            with (job / "log" / "train.log").open("w") as log:
                who = runs(stdout=log)
    assert listed(root)[JOB].need == "run"
    assert listed(root)[JOB].who.startswith(who)


def test_another_whose_name_only_begins_the_same_is_not(root: Path, runs) -> None:
    add_job(root)
    runs(f"{root}/{JOB}7", f"{root}/{JOB}.old")
    assert listed(root)[JOB].need == ""


def test_an_environment_is_used_by_what_runs_in_it(root: Path, runs) -> None:
    used, other = add(root, f"venvs/{VENV}"), add(root, f"venvs/{OTHER_VENV}")
    who = runs(str(used / "bin" / "python"))
    found = listed(root)
    assert found[VENV].who.startswith(who)
    assert found[other.name].need == ""


def test_what_the_next_job_uses_is_told(root: Path) -> None:
    venv = add(root, f"venvs/{VENV}")
    (venv / MARK).write_text(f'{{"wheels": "{root}/.paddle/{WHEELS}"}}')
    (root / ".paddle" / "venv").symlink_to(f"venvs/{VENV}")
    for path in (f"venvs/{OTHER_VENV}", RUNTIME, RUNTIME.replace("0", "1"), WHEELS, WHEELS.replace("0", "1")):
        add(root, path)
    found = listed(root, kept=(RUNTIME,))
    assert {name for name, one in found.items() if one.need == "next"} == {VENV, RUNTIME, WHEELS}
    assert {name for name, one in found.items() if not one.need} == {
        OTHER_VENV,
        RUNTIME.replace("0", "1"),
        WHEELS.replace("0", "1"),
    }
    assert listed(root, RECENT_S - 1)[OTHER_VENV].need == "wait", "a launch may have chosen it just before"


def test_files_that_are_in_no_folder_any_more_are_kept_for_nobody(root: Path) -> None:
    objects = add(root, "objects")
    (objects / "file").write_bytes(b"x" * 10_000)
    (objects / "shared").write_bytes(b"x" * 500_000)
    os.link(objects / "shared", add_job(root) / "shared")
    store = listed(root)[".paddle"]
    assert store.kind == "store"
    assert 10_000 <= store.size < 100_000


def test_jobs_of_local_nodes_are_known_by_their_nodes(tmp_path: Path) -> None:
    for node in ("node-0", "node-1"):
        (tmp_path / JOB / node / "log").mkdir(parents=True)
        (tmp_path / JOB / node / "log" / "agent.log").write_text("")
    (tmp_path / OTHER_JOB / "node-0").mkdir(parents=True)
    (tmp_path / OTHER_JOB / "notes.txt").write_text("mine")
    assert listed(tmp_path).keys() == {JOB}
    with (tmp_path / JOB / "node-1" / "log" / "agent.log").open() as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        assert listed(tmp_path)[JOB].need == "run"


def test_what_is_not_ours_is_not_listed(root: Path, tmp_path: Path) -> None:
    add_job(root, is_noted=False)
    add_job(root, "JOB2026", is_noted=True)
    (root / "mine").mkdir()
    (root / OTHER_JOB).symlink_to(tmp_path)
    (root / ".paddle" / RUNTIME).symlink_to(tmp_path)
    add(root, "runtime-mine")
    add(root, "venvs/mine")
    (root / "JOB20261122044799").write_text("a file")
    ground = Ground(root, ages(root, 1e6))
    assert ground.belongings() == []
    assert ground.strangers() == ["runtime-mine"]


def test_a_folder_that_others_could_have_written_is_not_believed(root: Path, tmp_path: Path) -> None:
    assert check_ours(root / ".paddle") == ""
    assert check_ours(tmp_path / "none") == ""
    (root / ".paddle").chmod(0o777)
    assert "is not a folder that only this user writes to" in check_ours(root / ".paddle")
    (tmp_path / "link").symlink_to(root / ".paddle")
    assert check_ours(tmp_path / "link")
