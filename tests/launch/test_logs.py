"""What a job leaves to read, and what it shows while it runs."""

import contextlib
import io
import math
import os
import shutil
import sys
from pathlib import Path

import pytest

from paddle._launch import logs
from paddle._launch.board import Board, Row
from paddle._launch.news import Progress
from paddle._launch.status import EVERY_S, LiveScreen, PlainScreen, screen
from tests.launch.jobs.conftest import plan


def progress(rank: int = 0, batch_id: int = 0, cost: float = 7.0) -> Progress:
    return Progress(f"trainer-{rank}", 0, batch_id, cost, 100.0)


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
    logs.clear(home)
    logs.collect(workspace, home, 0, pytest.fail)
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert found == {
        "log/node-0/train.log",
        "log/mine",
        "output/pass-00000/done",
        "output.previous/pass-00009/done",
    }


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
    logs.clear(home)
    told: list[str] = []
    assert logs.collect(workspace, home, 0, told.append) == ("output",)
    assert len(told) == 1
    assert (home / "log").read_text() == "the user's"
    assert (home / "output" / "pass-00000" / "done").exists()


def test_one_earlier_model_is_kept(workspace, home) -> None:
    for generation in ("first", "second"):
        (workspace / "output" / "name").write_text(generation)
        logs.collect(workspace, home, 0, pytest.fail)
    assert (home / "output" / "name").read_text() == "second"
    assert (home / "output.previous" / "name").read_text() == "first"
    assert names(home) == {"log", "output", "output.previous"}


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
    logs.clear(home)
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


def test_the_curve_is_a_table_at_once_and_a_picture_at_the_end(tmp_path) -> None:
    curve = logs.LossCurve(tmp_path, pytest.fail)
    assert curve.draw() is None
    for batch in range(5):
        curve.add(progress(batch_id=batch, cost=7 - batch), batch * 0.25)
    lines = (tmp_path / "loss.csv").read_text().splitlines()
    assert lines[0] == "seconds,trainer,pass_id,batch_id,cost,samples_per_s"
    assert lines[3] == "0.50,trainer-0,0,2,5,100.0"
    pytest.importorskip("matplotlib")
    assert curve.draw() == tmp_path / "loss.png"
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_a_cost_that_is_no_number_does_not_end_the_curve() -> None:
    costs = [float("nan"), 4.0, float("inf"), *[2.0] * 57]
    smooth = logs._smooth(costs)  # over three
    assert math.isnan(smooth[0])
    assert smooth[1:] == [4.0, 4.0, 3.0, *[2.0] * 56]


def test_without_matplotlib_the_table_is_the_curve(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    curve = logs.LossCurve(tmp_path, pytest.fail)
    curve.add(progress(), 0.0)
    assert curve.draw() == tmp_path / "loss.csv"


def test_a_week_of_reports_is_a_table_that_can_be_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(logs.LossCurve, "_append", lambda *_: None)
    curve = logs.LossCurve(tmp_path, pytest.fail)
    for second in range(0, 7 * 24 * 3600, 5):
        curve.add(progress(), float(second))
    assert 1000 < len(curve._points["trainer-0"]) < 20_000


def test_a_full_disk_under_the_curve_is_told_once(tmp_path) -> None:
    (tmp_path / "loss.csv").symlink_to("/dev/full")
    told: list[str] = []
    curve = logs.LossCurve(tmp_path, told.append)
    curve.add(progress(), 1.0)
    assert len(told) == 1
    assert "No space left" in told[0]
    assert str(tmp_path / "loss.csv") in told[0]


def test_the_last_lines_of_each_role_are_kept() -> None:
    tails = logs.Tails()
    tails.add("trainer-0", [f"line {i}" for i in range(50)])
    tails.add("trainer-0", ["end"])
    assert len(tails.of("trainer-0")) == logs.TAIL
    assert tails.of("trainer-0")[-1] == "end"
    assert tails.of("trainer-1") == ()


def trainers(number: int) -> list[Row]:
    return [
        Row(node=n, address="127.0.0.1", role=f"trainer-{n}", kind="trainer", rank=n) for n in range(number)
    ]


def board(*rows: Progress) -> Board:
    board = Board(trainers(20))
    for row in rows:
        board.take(row)
    return board


def test_progress_is_one_line_for_few_trainers_and_for_many() -> None:
    assert board().line() == ""
    line = board(progress(1), progress(0, 3, 6.5)).line()
    assert (
        line == "trainer-0 pass 0 batch 3 cost 6.5000 | trainer-1 pass 0 batch 0 cost 7.0000 | 200 samples/s"
    )
    many = board(*(progress(rank, 10 + rank, rank) for rank in range(20))).line()
    assert many.startswith("20 trainers from pass 0 batch 10 to pass 0 batch 29")
    assert len(many) < 120


def test_plain_lines_come_seldom_and_only_with_news() -> None:
    stream = io.StringIO()
    shown = screen(stream)
    assert isinstance(shown, PlainScreen)
    shown.show(board(), 0.0)
    shown.show(board(progress(0, 1)), 0.1)
    shown.show(board(progress(0, 2)), EVERY_S - 0.1)
    shown.show(board(progress(0, 2)), EVERY_S + 0.2)
    shown.show(board(progress(0, 2)), 3 * EVERY_S)
    assert [line.split(" cost")[0] for line in stream.getvalue().splitlines()] == [
        "trainer-0 pass 0 batch 1",
        "trainer-0 pass 0 batch 2",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_line_per_trainer_that_changes(monkeypatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "25")):
        monkeypatch.setenv(name, value)
    stream = Terminal()
    shown = screen(stream)
    assert isinstance(shown, LiveScreen)
    shown.say("starting [2] trainers")
    for batch in (1, 2):
        shown.show(board(progress(0, batch), progress(1, batch)), 0.0)
    shown.close()
    text = stream.getvalue()
    assert "starting [2] trainers" in text
    assert text.count("samples/s") == 3  # drawn, drawn anew, and left standing
    assert "and 2 more, of which there is nothing to be seen" in text  # of 20, on a terminal of 25 lines
    assert "\x1b[1A" in text


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("make", [PlainScreen, LiveScreen])
def test_a_screen_that_is_gone_ends_nothing(make, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = make(Gone())
    shown.say("words")
    shown.show(board(progress()), 0.0)
    shown.close()


def test_what_roles_print_is_beside_the_collected_logs_while_they_run(tmp_path: Path) -> None:
    told: list[str] = []
    launch = plan(tmp_path)
    (tmp_path / "log").mkdir()
    arriving = logs.Arriving(launch, told.append)
    arriving.add("trainer-1", ["one", "tw\udc80o"])
    arriving.add("trainer-1", ["three"])
    place = tmp_path / "log" / "node-1" / "train.log"
    assert place.read_text() == "one\ntw\\udc80o\nthree\n"
    assert not (tmp_path / "log" / "node-0").exists()
    (tmp_path / "log" / "node-0").write_text("in the way")
    for _ in range(3):
        arriving.add("pserver-0", ["lost"])
    assert len(told) == 1
    assert "logs are collected at the end only" in told[0]
