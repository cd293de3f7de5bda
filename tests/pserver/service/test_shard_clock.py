"""The clock by which a shard waits: it goes with time, and stands while the shard hears nobody."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._pserver.errors import TrainerLost
from paddle._pserver.service.shard_clock import MOST_S, ShardClock
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import until

from ..conftest import ONES, TIMEOUT_S, Start, start
from .slow_warming import SlowWarming


class Time:
    """Moved by hand."""

    def __init__(self, s: float = 100.0) -> None:
        self.s = s

    def __call__(self) -> float:
        return self.s


def test_it_goes_with_time_while_it_is_read() -> None:
    hand = Time()
    clock, began = ShardClock(hand), 100.0
    for _ in range(60):
        hand.s += 1.0
        clock.now()
    assert clock.now() - began == 60.0


def test_time_in_which_the_process_stood_still_is_nobodys_silence() -> None:
    hand = Time()
    clock = ShardClock(hand)
    began = clock.now()
    hand.s += 3600.0
    assert clock.now() - began == MOST_S


def test_it_stands_while_the_shard_loads_and_then_goes_on() -> None:
    hand = Time()
    clock = ShardClock(hand)
    hand.s += 1.0
    began = clock.now()
    with clock.standing(), clock.standing():
        for _ in range(5):
            hand.s += 1.0
            assert clock.now() == began
    hand.s += 1.0
    assert clock.now() - began == 1.0


@given(st.lists(st.tuples(st.integers(0, 10), st.booleans())))
def test_it_never_runs_backwards_nor_ahead(steps: list[tuple[int, bool]]) -> None:
    hand = Time()
    clock = ShardClock(hand)
    before = clock.now()
    for seconds, stands in steps:
        if stands:
            with clock.standing():
                hand.s += seconds
        else:
            hand.s += seconds
        now = clock.now()
        assert before <= now <= before + min(seconds, MOST_S)
        before = now


def test_trainers_are_not_given_up_for_time_in_which_the_shard_loads_its_code(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trainer 1 waits for trainer 0, which the shard itself keeps waiting, for longer than its patience."""
    loading = SlowWarming(monkeypatch)
    pservers = start_pservers(num_gradient_servers=2)
    (hub,) = pservers.hubs
    clock = Time(time.monotonic())
    monkeypatch.setattr(hub._clock, "_read", clock)

    def pass_by(seconds: float) -> None:
        for _ in range(int(seconds)):
            clock.s += 1.0
            pservers.call(hub._tick)

    def run(exchange: RemoteExchange) -> None:
        start(exchange)
        with pytest.raises(TrainerLost, match=rf"barrier_timeout is {TIMEOUT_S:g} s\): missing trainer 1 "):
            exchange.step(ONES, 1)

    with ThreadPoolExecutor(1) as pool, closing(pservers.exchange(1)) as other:
        training = pool.submit(pservers.train, run)
        assert loading.has_begun.wait(TIMEOUT_S)
        started = threading.Thread(target=start, args=[other])
        started.start()
        until(lambda: pservers.call(lambda: 1 in hub.shard.barrier), "trainer 1 to wait for trainer 0")
        pass_by(2 * TIMEOUT_S)
        assert hub.shard.broken is None
        loading.may_end.set()
        started.join(TIMEOUT_S)
        until(lambda: pservers.call(lambda: 0 in hub.shard.barrier), "trainer 0 to wait for trainer 1")
        pass_by(TIMEOUT_S + 1)  # who keeps others waiting now is a trainer
        training.result(TIMEOUT_S)
