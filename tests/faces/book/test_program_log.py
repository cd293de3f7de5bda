"""Lines that programs write into the original's own log are seen."""

from __future__ import annotations

import logging

import paddle.v2 as paddle


def test_lines_of_a_program_are_on_standard_error_and_those_of_the_runtime_are_not(
    capsys, monkeypatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging.getLogger("paddle"), "handlers", [])
    paddle.init()
    paddle.init()
    log = logging.getLogger("paddle")
    monkeypatch.setattr(log, "level", logging.INFO)
    log.info("Pass %d", 3)
    logging.getLogger("paddle.trainer").warning("of the runtime")
    shown = capsys.readouterr().err
    assert shown.count("Pass 3") == 1
    assert "[INFO" in shown and "test_program_log.py" in shown
    assert "of the runtime" not in shown
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.NullHandler()])
    log.info("settled by the program")
    assert "settled" not in capsys.readouterr().err
