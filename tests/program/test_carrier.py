"""What a carrier begins it ends, and then lets go of."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from paddle._engine.errors import ExchangeError
from paddle._program import carrier
from paddle._program.carrier import Carrier, Cluster


class Exchange:
    """Notes with which failure it was closed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.closed: list[str | None] = []

    def close(self, failure: str | None = None) -> None:
        self.closed.append(failure)


@pytest.fixture(autouse=True)
def _own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "_remote", lambda cluster, number: Exchange(number))


def job(port: int) -> Carrier:
    return Carrier(Cluster(endpoints=(f"127.0.0.1:{port}",)))


def test_what_said_goodbye_is_let_go() -> None:
    first = job(1)
    exchange: Any = first()
    held = weakref.ref(exchange)
    first.close()
    first.close()
    assert exchange.closed == [None]
    del exchange
    gc.collect()
    assert held() is None


def test_of_two_programs_of_a_job_no_number_is_given_twice() -> None:
    first, second, third = job(2), job(2), job(2)
    exchanges: list[Any] = [first(), second(), second()]
    assert [each.number for each in exchanges] == [0, 1, 2]
    first.close()
    again: list[Any] = [third(), third()]
    assert [each.number for each in again] == [0, 3]
    second.close()
    third.close()


def test_of_pservers_that_serve_one_program_a_second_one_is_told_so(monkeypatch) -> None:
    monkeypatch.setenv("PADDLE_SHARED_PORTS", "4,1,1")
    first, second = job(4), job(4)
    first()
    with pytest.raises(NotImplementedError, match="while another one of this process is"):
        second()
    first.close()
    assert second() is not None
    second.close()


def test_an_error_is_told_to_all_that_are_left() -> None:
    one = job(3)
    exchanges: list[Any] = [one(), one()]
    try:
        raise ValueError("no")
    except ValueError as error:
        one.failed(error)
        one.close()
    assert [each.closed for each in exchanges] == [["ValueError: no"]] * 2


def test_one_that_the_program_caught_before_it_said_goodbye_is_none_but_for_one_of_the_exchange() -> None:
    for error, told in ((ValueError("no"), None), (ExchangeError("cut off"), "ExchangeError: cut off")):
        one = job(4)
        exchange: Any = one()
        one.failed(error)
        one.close()
        assert exchange.closed == [told]


def test_a_place_in_names_of_v2_is_not_that_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    remote = "paddle._pserver.trainer.remote.RemoteExchange"
    monkeypatch.setattr(remote, lambda _, **named: made.append(named))
    monkeypatch.setenv("PADDLE_INIT_TRAINER_ID", "1")
    carrier._to_servers(Cluster(endpoints=("127.0.0.1:6174",), trainers=2, trainer_id=1), 0)
    assert (made[0]["trainer_id"], made[0]["num_gradient_servers"]) == (1, 2)
