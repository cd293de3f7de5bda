"""What a pod hears from outside, by files in its workspace."""

from __future__ import annotations

import threading
from pathlib import Path

from paddle._launch.actions import TellFallen
from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.inside.hearing import Hearing, line_of

FIRST, SECOND = (TellFallen("pserver-0", f"trainer-{number}", "why: ä\n", goes_on=True) for number in (1, 2))


def test_each_line_is_passed_on_once_whole_and_when_the_role_is_there(tmp_path: Path) -> None:
    heard: list[TellFallen] = []
    is_there = threading.Event()
    hearing = Hearing(tmp_path, "pserver-0", is_there.is_set, heard.append)
    news, second = tmp_path / names.NEWS, line_of(SECOND)
    others = line_of(TellFallen("pserver-1", "trainer-1", "whose pod shares the workspace", goes_on=True))
    news.write_text(others + line_of(FIRST) + "nonsense\n" + second[:9])
    hearing.look()
    assert heard == []
    is_there.set()
    for _ in range(2):
        hearing.look()
    assert heard == [FIRST]
    with news.open("a") as file:
        file.write(second[9:])
    hearing.look()
    assert heard == [FIRST, SECOND]


def test_it_listens_until_the_role_is_to_end(tmp_path: Path) -> None:
    ended: list[bool] = []
    (tmp_path / names.STOP).touch()
    hearing = Hearing(tmp_path, "pserver-0", lambda: True, ended.append)
    hearing.await_stop(threading.Event(), lambda: ended.append(True))
    assert ended == [True]
