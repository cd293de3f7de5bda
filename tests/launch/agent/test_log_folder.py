"""A folder of logs is made fresh for a job: its own logs go, and nobody else's."""

from __future__ import annotations

from pathlib import Path

from paddle._launch.agent import log_folder

MADE = ("agent.log", "train.log", "server.log", "paddle_trainer.INFO", "paddle_pserver2.INFO")
OTHERS = ("notes.txt", "launcher.log", ".job", "my.INFO", "other.log", "train.log.1", "node-0")
LOGS = ["log/train.log", "log/server.log"]


def filled(folder: Path) -> Path:
    folder.mkdir()
    for name in (*MADE, *OTHERS):
        (folder / name).write_text("precious")
    (folder / "own").mkdir()
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.read_text() == "precious"}


def test_what_roles_and_agents_make_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = filled(tmp_path / "log")
    (folder / "own").rmdir()
    assert log_folder.clear(folder, LOGS) == ""
    assert names(folder) == {"agent.log", *OTHERS}, "the agent's own is emptied, once it has it"


def test_a_folder_with_the_name_of_a_log_is_somebody_elses(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    (folder / "train.log" / "mine").mkdir(parents=True)
    assert log_folder.clear(folder, LOGS) == ""
    assert (folder / "train.log" / "mine").is_dir()


def test_through_a_link_nothing_is_removed_and_that_is_said(tmp_path: Path) -> None:
    others = filled(tmp_path / "others")
    (others / "own").rmdir()
    (tmp_path / "log").symlink_to(others)
    text = log_folder.clear(tmp_path / "log", LOGS)
    assert str(others) in text
    assert "nothing is removed there" in text
    with (others / "agent.log").open("r+") as file:
        log_folder.begin(file.fileno(), tmp_path / "log")
    assert names(others) == {*MADE, *OTHERS}


def test_a_link_among_the_logs_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "kept").write_text("precious")
    (tmp_path / "log" / "train.log").symlink_to(tmp_path / "kept")
    log_folder.clear(tmp_path / "log", LOGS)
    assert list((tmp_path / "log").iterdir()) == []
    assert (tmp_path / "kept").read_text() == "precious"
