"""Rounds give each rank what all told it in that round, or say who is missing."""

from __future__ import annotations

import pytest

from paddle._pserver.parley.errors import OtherWorld, RankMissing
from paddle._pserver.parley.messages import Seat
from paddle._pserver.parley.rounds import Rounds


def test_each_is_given_its_part_of_all() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 2, 1), 0, [b"1 to 0", b"1 to 1"], 0.0)
    assert rounds.missing("worker", 0) == [0]
    rounds.tell(Seat("worker", 2, 0), 0, [b"to all"], 0.0)
    assert rounds.missing("worker", 0) == []
    assert rounds.answer("worker", 0, 0) == [b"to all", b"1 to 0"]
    assert rounds.answer("worker", 0, 1) == [b"to all", b"1 to 1"]


def test_what_is_told_again_counts_once_and_is_answered_again() -> None:
    rounds = Rounds()
    for rank in (0, 1):
        rounds.tell(Seat("worker", 2, rank), 0, [b"a%d" % rank], 0.0)
    rounds.tell(Seat("worker", 2, 1), 1, [b"later"], 0.0)
    rounds.tell(Seat("worker", 2, 0), 0, [b"other"], 0.0)
    assert rounds.answer("worker", 0, 0) == [b"a0", b"a1"]
    rounds.tell(Seat("worker", 2, 0), 1, [b"later"], 0.0)
    with pytest.raises(KeyError):
        rounds.answer("worker", 0, 0)


def test_worlds_do_not_hear_each_other() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 1, 0), 0, [b"w"], 0.0)
    rounds.tell(Seat("server", 1, 0), 0, [b"s"], 0.0)
    assert rounds.answer("server", 0, 0) == [b"s"]


def test_who_has_left_is_waited_for_no_more() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 3, 0), 0, [b""], 0.0)
    rounds.leave(Seat("worker", 3, 2))
    assert (rounds.missing("worker", 0), rounds.lost("worker", 0)) == ([1, 2], [2])
    assert not rounds.is_over()
    rounds.leave(Seat("worker", 3, 0))
    assert rounds.is_over()


def test_who_is_left_out_is_waited_for_no_more_and_what_it_says_later_changes_no_answer() -> None:
    rounds = Rounds()
    rounds.spare(Seat("worker", 3, 2))  # before anybody spoke
    rounds.spare(Seat("all", 3, 1))
    rounds.tell(Seat("worker", 3, 1), 0, [b"to 0", b"to 1", b"to 2"], 0.0)
    rounds.tell(Seat("worker", 3, 0), 0, [b"to all"], 0.0)
    assert (rounds.missing("worker", 0), rounds.lost("worker", 0)) == ([], [])
    with pytest.raises(RankMissing, match="goes on without worker 2, this process"):
        rounds.tell(Seat("worker", 3, 2), 0, [b"late"], 0.0)
    assert rounds.answer("worker", 0, 0) == [b"to all", b"to 0", None]
    for rank in (0, 1):
        rounds.tell(Seat("worker", 3, rank), 1, [b""], 0.0)
    with pytest.raises(KeyError):  # nothing is kept for one that will not ask
        rounds.answer("worker", 0, 0)


def test_what_one_had_told_that_is_left_out_counts() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 2, 1), 0, [b"b"], 0.0)
    rounds.spare(Seat("worker", 2, 1))
    assert rounds.missing("worker", 0) == [0]
    rounds.tell(Seat("worker", 2, 0), 0, [b"a"], 0.0)
    assert rounds.answer("worker", 0, 0) == [b"a", b"b"]


@pytest.mark.parametrize("is_host", [False, True])
def test_a_process_that_is_started_again_does_not_wait_for_those_that_are_beyond_it(is_host: bool) -> None:
    rounds = Rounds()
    for round in range(3):
        for rank in (0, 1):
            rounds.tell(Seat("worker", 2, rank), round, [b""], 0.0)
    rounds = Rounds() if is_host else rounds  # what it knew is gone with it
    rounds.tell(Seat("worker", 2, 0), 3, [b""], 0.0)
    assert rounds.ahead("worker", 3, 0) == [], "it may still come there"
    rounds.tell(Seat("worker", 2, 1), 0, [b""], 0.0)
    assert rounds.ahead("worker", 0, 1) == [0]
    assert rounds.ahead("worker", 3, 0) == []


def test_all_are_told_one_number() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 2, 0), 0, [b""], 0.0)
    for size, rank, parts in ((3, 1, [b""]), (2, 2, [b""]), (2, 1, [b""] * 3)):
        with pytest.raises(OtherWorld):
            rounds.tell(Seat("worker", size, rank), 0, parts, 0.0)


def test_who_was_heard_of_is_gone_when_it_is_silent_and_who_was_not_may_come() -> None:
    rounds = Rounds()
    rounds.tell(Seat("worker", 3, 0), 0, [b""], 10.0)
    rounds.here(Seat("worker", 3, 1), 10.0)
    assert (rounds.gone("worker", 0, 9.0), rounds.unseen("worker", 0)) == ([], [2])
    assert rounds.gone("worker", 0, 11.0) == [1]
    rounds.here(Seat("worker", 3, 1), 12.0)
    assert rounds.gone("worker", 0, 11.0) == []


def test_who_leaves_before_anybody_spoke_is_waited_for_no_more() -> None:
    rounds = Rounds()
    rounds.leave(Seat("all", 2, 1))
    rounds.tell(Seat("all", 2, 0), 0, [b""], 0.0)
    assert rounds.lost("all", 0) == [1]
