"""Rounds give each rank what all told it in that round, or say who is missing."""

from __future__ import annotations

import pytest

from paddle._pserver.parley.errors import ParleyError
from paddle._pserver.parley.rounds import Rounds


def test_each_is_given_its_part_of_all() -> None:
    rounds = Rounds()
    rounds.tell("worker", 2, 1, 0, [b"1 to 0", b"1 to 1"])
    assert rounds.missing("worker", 0) == [0]
    rounds.tell("worker", 2, 0, 0, [b"to all"])
    assert rounds.missing("worker", 0) == []
    assert rounds.answer("worker", 0, 0) == [b"to all", b"1 to 0"]
    assert rounds.answer("worker", 0, 1) == [b"to all", b"1 to 1"]


def test_what_is_told_again_counts_once_and_is_answered_again() -> None:
    rounds = Rounds()
    for rank in (0, 1):
        rounds.tell("worker", 2, rank, 0, [b"a%d" % rank])
    rounds.tell("worker", 2, 1, 1, [b"later"])
    rounds.tell("worker", 2, 0, 0, [b"other"])
    assert rounds.answer("worker", 0, 0) == [b"a0", b"a1"]
    rounds.tell("worker", 2, 0, 1, [b"later"])
    with pytest.raises(KeyError):
        rounds.answer("worker", 0, 0)


def test_worlds_do_not_hear_each_other() -> None:
    rounds = Rounds()
    rounds.tell("worker", 1, 0, 0, [b"w"])
    rounds.tell("server", 1, 0, 0, [b"s"])
    assert rounds.answer("server", 0, 0) == [b"s"]


def test_who_has_left_is_waited_for_no_more() -> None:
    rounds = Rounds()
    rounds.tell("worker", 3, 0, 0, [b""])
    rounds.leave("worker", 2)
    assert (rounds.missing("worker", 0), rounds.lost("worker", 0)) == ([1, 2], [2])
    assert not rounds.is_over()
    rounds.leave("worker", 0)
    assert rounds.is_over()


def test_all_are_told_one_number() -> None:
    rounds = Rounds()
    rounds.tell("worker", 2, 0, 0, [b""])
    for size, rank, parts in ((3, 1, [b""]), (2, 2, [b""]), (2, 1, [b""] * 3)):
        with pytest.raises(ParleyError, match="told one number"):
            rounds.tell("worker", size, rank, 0, parts)
