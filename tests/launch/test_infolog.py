"""The .INFO files."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.infolog import InfoLog, open_info_log

LINE = re.compile(r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.]+:\d+\] ")


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    trainer = logging.getLogger("paddle.trainer")
    before = (trainer.level, trainer.propagate)
    yield trainer
    for handler in [handler for handler in trainer.handlers if isinstance(handler, InfoLog)]:
        trainer.removeHandler(handler)
        handler.close()
    trainer.level, trainer.propagate = before


def lines(folder: Path) -> list[str]:
    return (folder / "paddle_trainer.INFO").read_text().splitlines()


def test_every_line_is_laid_out_as_glog_does(tmp_path: Path, logger: logging.Logger) -> None:
    assert open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path / "log"), "GLOG_logtostderr": "0"})
    logger.info("Pass %d, Batch %d, Cost %.2f", 0, 100, 6.1)
    logger.warning("slow")
    logger.error("wrong")
    written = lines(tmp_path / "log")
    assert all(LINE.match(line) for line in written)
    assert written[-3].endswith("] Pass 0, Batch 100, Cost 6.10")
    assert f" {os.getpid()} test_infolog.py:" in written[-3]
    assert [line[0] for line in written[-3:]] == ["I", "W", "E"]


def test_the_file_tells_at_once_who_writes_it(tmp_path: Path, logger: logging.Logger) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)})
    assert f"pid {os.getpid()} on " in lines(tmp_path)[0]


def test_what_others_told_forges_no_line_and_commands_no_terminal(
    tmp_path: Path, logger: logging.Logger
) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)})
    logger.error("trainer 1 failed: %s", "\x1b[2Jno\nI1121 all is well")
    assert lines(tmp_path)[-1].endswith("] trainer 1 failed: no\\nI1121 all is well")


def test_a_traceback_follows_its_line(tmp_path: Path, logger: logging.Logger) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)})
    try:
        raise ValueError("inside")
    except ValueError:
        logger.exception("step 3 failed")
    assert lines(tmp_path)[1].endswith("] step 3 failed")
    assert lines(tmp_path)[-1] == "ValueError: inside"


@pytest.mark.parametrize(("level", "kept"), [("0", "IWE"), ("1", "WE"), ("2", "E"), ("odd", "IWE")])
def test_levels_below_glogs_own_are_left_out(
    level: str, kept: str, tmp_path: Path, logger: logging.Logger
) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path), "GLOG_minloglevel": level})
    for write in (logger.debug, logger.info, logger.warning, logger.error):
        write("here")
    assert "".join(line[0] for line in lines(tmp_path) if line.endswith("here")) == kept


def test_opening_twice_writes_once(tmp_path: Path, logger: logging.Logger) -> None:
    first = open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)})
    assert open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)}) is first
    logger.info("once")
    assert sum(line.endswith("once") for line in lines(tmp_path)) == 1


def test_without_a_folder_nothing_changes(logger: logging.Logger) -> None:
    handlers = list(logger.handlers)
    assert open_info_log("paddle_trainer", {}) is None
    assert logger.handlers == handlers


def test_by_wish_it_goes_to_standard_error(
    tmp_path: Path, logger: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path), "GLOG_logtostderr": "1"})
    logger.info("seen")
    assert capfd.readouterr().err.endswith("] seen\n")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told_and_survived(
    tmp_path: Path, logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path / "file")}) is None
    assert "paddle_trainer.INFO" in capsys.readouterr().err


def test_a_full_disk_is_told_once_and_survived(
    logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logger.addHandler(InfoLog(os.open("/dev/full", os.O_WRONLY), "/dev/full"))
    logger.warning("one")
    logger.warning("two")
    warned = capsys.readouterr().err.splitlines()
    assert len(warned) == 1
    assert "/dev/full: No space left on device" in warned[0]


def test_a_message_that_does_not_fit_its_arguments_is_survived(
    tmp_path: Path, logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    open_info_log("paddle_trainer", {"GLOG_log_dir": str(tmp_path)})
    logger.info("%d", "word")
    assert "Logging error" in capsys.readouterr().err
