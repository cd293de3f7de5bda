"""What a job leaves to read."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from paddle._launch import logs
from paddle._launch.results import tenancy


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "JOB1" / "node-0"
    (workspace / "log").mkdir(parents=True)
    (workspace / "output" / "pass-00000").mkdir(parents=True)
    (workspace / "log" / "train.log").write_text("new")
    (workspace / "output" / "pass-00000" / "done").write_text("")
    return workspace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A package with what an earlier job left."""
    home = tmp_path / "package"
    for old in (
        "log/node-0/old.log",
        "log/node-7/old.log",
        "output/pass-00009/done",
        "log/loss.png",
        "log/mine",
    ):
        (home / old).parent.mkdir(parents=True, exist_ok=True)
        (home / old).write_text("old")
    return home


def test_collected_files_replace_those_of_an_earlier_job(workspace, home) -> None:
    logs.clear(home, "JOB1-aa")
    logs.collect(workspace, home, 0, pytest.fail)
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert found == {
        "log/.job",
        "log/.model",
        "log/node-0/train.log",
        "log/mine",
        "output/pass-00000/done",
        "output.previous/pass-00009/done",
    }


def test_what_others_have_in_the_folder_of_results_stays(home) -> None:
    kept = ["log/notes.txt", "log/node-list.txt", "log/node-0.bak/one", "log/loss.txt", "log/loss.csv.mine"]
    for name in kept:
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("precious")
    logs.clear(home, "JOB2-aa")
    assert not (home / "log" / "node-7").exists()
    assert [(home / name).read_text() for name in kept] == ["precious"] * len(kept)


@pytest.mark.parametrize("is_ours", [True, False])
def test_through_a_link_only_what_a_job_has_called_its_own_is_removed(home, tmp_path, is_ours) -> None:
    shutil.move(home / "log", tmp_path / "elsewhere")
    (home / "log").symlink_to(tmp_path / "elsewhere")
    if is_ours:
        tenancy.settle(home, "JOB1-aa")
    logs.clear(home, "JOB2-aa")
    assert (tmp_path / "elsewhere" / "node-7").exists() is not is_ours
    assert tenancy.tenant(home) == "JOB2-aa"


def test_only_node_0_has_the_model(workspace, home) -> None:
    logs.collect(workspace, home, 1, pytest.fail)
    assert (home / "log" / "node-1" / "train.log").read_text() == "new"
    assert (home / "output" / "pass-00009").exists()


def test_a_workspace_may_be_its_own_home(workspace) -> None:
    for _ in range(2):
        there = logs.collect(workspace, workspace, 0, pytest.fail)
        assert there == ("log", "output")
    assert [path.name for path in (workspace / "log" / "node-0").iterdir()] == ["train.log"]
    assert (workspace / "output" / "pass-00000" / "done").exists()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_cannot_be_collected_is_said_with_both_paths(workspace, home) -> None:
    (workspace / "log" / "bad").symlink_to("/nowhere")
    logs.collect(workspace, home, 0, pytest.fail)  # a link, even a dangling one, is only copied
    shutil.rmtree(workspace / "log")
    told: list[str] = []
    logs.collect(workspace, home, 0, told.append)
    assert len(told) == 1
    assert str(workspace / "log") in told[0]
    assert str(home / "log" / "node-0") in told[0]
    assert (home / "log" / "node-0").is_dir()
    assert not (home / "log" / ".node-0.part").exists()


def test_a_log_that_is_a_file_does_not_keep_the_model_from_being_collected(workspace, home) -> None:
    shutil.rmtree(home / "log")
    (home / "log").write_text("the user's")
    logs.clear(home, "JOB1-aa")
    told: list[str] = []
    assert logs.collect(workspace, home, 0, told.append) == ("output",)
    assert len(told) == 1
    assert (home / "log").read_text() == "the user's"
    assert (home / "output" / "pass-00000" / "done").exists()


def test_a_disk_that_is_full_is_told_in_a_few_words(workspace, home, monkeypatch) -> None:
    def full(source: Path, place: Path, **_: object) -> None:
        place.mkdir()
        raise shutil.Error(
            [
                (str(path), str(place / path.name), f"[Errno 28] No space left on device: '{path}' -> 'x'")
                for path in (source / "train.log", source / "server.log", source / "agent.log")
            ]
        )

    monkeypatch.setattr(shutil, "copytree", full)
    told: list[str] = []
    assert logs.collect(workspace, home, 1, told.append) == ()
    assert told == [
        f"cannot collect {workspace / 'log'} to {home / 'log' / 'node-1'}: train.log: No space left on "
        "device, and 2 more. It can be read where it is."
    ]
    assert not (home / "log" / ".node-1.part").exists()


def test_one_earlier_model_is_kept(workspace, home) -> None:
    for generation in ("first", "second"):
        (workspace / "output" / "name").write_text(generation)
        logs.clear(home, generation)
        logs.collect(workspace, home, 0, pytest.fail)
    assert (home / "output" / "name").read_text() == "second"
    assert (home / "output.previous" / "name").read_text() == "first"
    assert names(home) == {"log", "output", "output.previous"}


def test_collecting_again_does_not_cost_the_model_of_the_job_before(workspace, home) -> None:
    (home / "output" / "name").write_text("of the job before")
    logs.clear(home, "new")
    for progress in ("a little", "more", "all"):
        (workspace / "output" / "name").write_text(progress)
        logs.collect(workspace, home, 0, pytest.fail)
    assert (home / "output" / "name").read_text() == "all"
    assert (home / "output.previous" / "name").read_text() == "of the job before"


@pytest.mark.parametrize("name", [b"caf\xc3\xa9", b"caf\xe9"], ids=["utf-8", "latin-1"])
def test_a_workspace_below_a_folder_of_any_name_gives_its_model(workspace, home, name) -> None:
    below = workspace.parent.rename(workspace.parent.with_name(os.fsdecode(name))) / workspace.name
    logs.clear(home, "new")
    for progress in ("a little", "all"):
        (below / "output" / "name").write_text(progress)
        assert logs.collect(below, home, 0, pytest.fail) == ("log", "output")
    assert (home / "output" / "name").read_text() == "all"
    assert (home / "output.previous" / "pass-00009" / "done").read_text() == "old"


class CutShort(BaseException):
    """What an end of the process looks like from inside."""


@pytest.mark.parametrize("victim", ["copytree", "rename", "rmtree"])
@pytest.mark.parametrize("call", range(1, 5))
def test_a_collection_that_is_cut_short_costs_no_model(workspace, home, monkeypatch, victim, call) -> None:
    (home / "output.previous").mkdir()
    owner = Path if victim == "rename" else shutil
    original, calls = getattr(owner, victim), []

    def cut(*args, **options):
        calls.append(args)
        if len(calls) == call:
            raise CutShort
        return original(*args, **options)

    with monkeypatch.context() as patch, contextlib.suppress(CutShort):
        patch.setattr(owner, victim, cut)
        logs.collect(workspace, home, 0, pytest.fail)
    assert any((home / place / "pass-00009" / "done").exists() for place in ("output", "output.previous"))
    logs.clear(home, "JOB1-aa")
    logs.collect(workspace, home, 0, pytest.fail)
    assert names(home) == {"log", "output", "output.previous"}
    assert names(home / "output") == {"pass-00000"}


def test_a_link_is_followed_to_where_the_user_keeps_models(workspace, home, tmp_path) -> None:
    disk = tmp_path / "disk"
    (home / "output").rename(disk)
    (home / "output").symlink_to(disk)
    logs.collect(workspace, home, 0, pytest.fail)
    assert (home / "output").is_symlink()
    assert names(disk) == {"pass-00000"}
    assert names(tmp_path / "disk.previous") == {"pass-00009"}


def test_a_pipe_among_the_files_is_told_and_left_out(workspace, home) -> None:
    os.mkfifo(workspace / "output" / "pipe")
    told: list[str] = []
    logs.collect(workspace, home, 0, told.append)
    assert told == [f"{workspace / 'output' / 'pipe'} is not collected: it is neither file nor folder"]
    assert names(home / "output") == {"pass-00000"}


def test_an_output_that_is_a_file_is_told(workspace, home) -> None:
    shutil.rmtree(workspace / "output")
    (workspace / "output").touch()
    told: list[str] = []
    assert logs.collect(workspace, home, 0, told.append) == ("log",)
    assert told == [f"{workspace / 'output'} is not collected: it is no folder"]


def test_the_last_lines_of_each_role_are_kept() -> None:
    tails = logs.Tails()
    tails.add("trainer-0", [f"line {i}" for i in range(50)])
    tails.add("trainer-0", ["end"])
    assert len(tails.of("trainer-0")) == logs.TAIL
    assert tails.of("trainer-0")[-1] == "end"
    assert tails.of("trainer-1") == ()


def test_what_is_said_beside_a_program_is_among_its_last_lines_only_where_that_printed_nothing() -> None:
    tails = logs.Tails("paddle pod: ")
    tails.add("trainer-0", ["paddle pod: begins"])
    assert tails.of("trainer-0") == ("paddle pod: begins",)
    tails.add("trainer-0", ["ValueError", *[f"paddle pod: {number}" for number in range(50)]])
    assert tails.of("trainer-0") == ("ValueError",)
