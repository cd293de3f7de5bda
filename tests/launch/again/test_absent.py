"""Nodes that a later life of a job looks for."""

from __future__ import annotations

from paddle._launch.again.absent import Absent


def test_each_is_asked_again_once_for_each_answer_and_not_at_once() -> None:
    absent = Absent(pause_s=1.0)
    absent.add(1, "it is off", 5.0)
    absent.add(2, "its agent has the workspace", 5.5)
    assert absent.due(5.9) == []
    assert absent.due(6.0) == [1]
    assert absent.due(6.5) == [2]
    assert absent.due(60.0) == []
    assert absent.add(1, "it is off still", 60.0)
    assert not absent.add(1, "it is off still", 60.0), "that is nothing new"
    assert (absent.due(61.0), absent.said(1), absent.said(0)) == ([1], ("", "it is off still"), ("", ""))


def test_another_life_asks_all_anew() -> None:
    absent = Absent(pause_s=1.0)
    absent.add(1, "it is off", 5.0)
    absent.clear({1: "its connection broke"})
    assert (absent.due(60.0), absent.said(1)) == ([], ("its connection broke", ""))
    absent.clear()
    assert absent.said(1) == ("", "")
