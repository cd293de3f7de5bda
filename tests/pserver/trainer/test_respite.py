"""How long a line that broke has, whatever it waits for meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddle._pserver.trainer.client import IDLE_S
from paddle._pserver.trainer.respite import FIRST_WORD_S, Respite


class Connection:
    """What a client has for whoever waits on it."""

    on_idle: Callable[[], None]
    on_waiting: Callable[[], None]
    longest_send_s = 0.0

    def silent_s(self, most_s: float = 1000.0) -> float:
        """Nothing comes: how long it is waited for."""
        waited_s = 0.0
        while waited_s < most_s:
            waited_s += IDLE_S
            try:
                self.on_idle()
            except TimeoutError:
                break
        return waited_s


def coming_back(within_s: float) -> tuple[Respite, Connection]:
    respite, connection = Respite(within_s), Connection()
    respite.begin()
    respite.bind(connection)  # type: ignore[arg-type]
    return respite, connection


def test_a_shard_that_is_silent_while_a_line_comes_back_is_given_up_in_time() -> None:
    respite, connection = coming_back(60.0)
    assert connection.silent_s(40.0) == 40.0
    respite.bind(another := Connection())  # type: ignore[arg-type]
    assert another.silent_s() == pytest.approx(20.0, abs=IDLE_S)
    assert respite.begin().is_over


@pytest.mark.parametrize("within_s", [1.0, 60.0])
def test_one_that_has_let_it_in_has_the_time_to_say_for_whom_it_waits(within_s: float) -> None:
    respite, connection = coming_back(within_s)
    respite.go_on()
    assert connection.silent_s() == pytest.approx(max(within_s, FIRST_WORD_S), abs=IDLE_S)


def test_a_shard_that_says_for_whom_it_waits_is_not_given_up() -> None:
    respite, connection = coming_back(60.0)
    connection.silent_s(50.0)
    connection.on_waiting()
    assert connection.silent_s() == 1000.0
    assert respite.begin().left_s() == pytest.approx(60.0, abs=20.0), "the next break has all of it"


def test_silence_on_a_line_that_is_back_ends_no_call_and_is_gone_where_it_breaks_again() -> None:
    respite, connection = coming_back(60.0)
    looked: list[int] = []
    respite.release(connection, lambda: looked.append(1))  # type: ignore[arg-type]
    assert connection.silent_s(600.0) == 600.0
    assert len(looked) == 1200
    assert respite.begin().left_s() == 0.0


def test_an_answer_ends_it() -> None:
    respite, connection = coming_back(60.0)
    connection.silent_s(50.0)
    respite.end()
    assert respite.begin().left_s() == pytest.approx(60.0, abs=20.0)
