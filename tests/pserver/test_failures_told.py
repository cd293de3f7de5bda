"""What shards hear of a trainer that fails, and other trainers through them, on real loopback sockets."""

from __future__ import annotations

import threading
from unittest.mock import Mock

import pytest

from paddle._engine.exchange import Exchange
from paddle._pserver.errors import TrainerLost
from paddle._pserver.protocol.messages import Goodbye
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import until

from .conftest import ONES, TIMEOUT_S, Start, start


def test_a_trainer_that_fails_ends_the_others_at_once(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)

    def good(exchange: Exchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        with pytest.raises(TrainerLost, match=r"trainer 1 at .* failed: ValueError: no such file"):
            exchange.step(ONES, 1)
        raise TrainerLost("as it should")

    def bad(exchange: Exchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        raise ValueError("no such file")

    with pytest.raises(TrainerLost, match="as it should"):
        pservers.train(good, bad)
    assert pservers.statuses() == [1, 1]


def test_who_waits_at_one_shard_hears_of_another_that_a_trainer_failed(start_pservers: Start) -> None:
    """Trainer 1 can tell the first shard, and sends nothing more to the second."""
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)
    first, second = (hub.shard for hub in pservers.hubs)
    has_started, told = threading.Event(), threading.Event()

    def good(exchange: RemoteExchange) -> None:
        start(exchange)
        has_started.set()  # one that still starts would hear it there
        with pytest.raises(TrainerLost, match=rf":{pservers.port}: trainer 1 at .* failed: no way there"):
            exchange.step(ONES, 1)
        told.set()
        raise TrainerLost("as it should")

    def bad(exchange: RemoteExchange) -> None:
        start(exchange)
        assert has_started.wait(TIMEOUT_S)
        exchange._dense[1].ask_push = Mock(side_effect=ValueError)  # type: ignore[method-assign]
        with pytest.raises(ValueError):
            exchange.step(ONES, 1)
        until(
            lambda: pservers.call(lambda: first.clocks.version == 1 and 0 in second.barrier),
            "the first shard to have answered trainer 0, and the second to keep it waiting",
        )
        exchange._dense[0].line.say_goodbye(Goodbye("no way there"))
        assert told.wait(TIMEOUT_S)

    with pytest.raises(TrainerLost, match="as it should"):
        pservers.train(good, bad)


def test_a_shard_hears_who_failed_from_whoever_heard_it_at_another(start_pservers: Start) -> None:
    """Trainer 1 is slow to tell the second shard, and trainer 0 is there before it."""
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)
    _, second = (hub.shard for hub in pservers.hubs)
    has_started = threading.Event()

    def good(exchange: RemoteExchange) -> None:
        start(exchange)
        has_started.set()  # one that still starts would hear it there
        with pytest.raises(TrainerLost, match="no way there"):
            exchange.step(ONES, 1)
        exchange.close("it follows")

    def bad(exchange: RemoteExchange) -> None:
        start(exchange)
        assert has_started.wait(TIMEOUT_S)
        exchange._dense[0].line.say_goodbye(Goodbye("no way there"))
        until(lambda: pservers.call(lambda: second.broken is not None), "the second shard to hear of it")

    pservers.train(good, bad)
    assert second.broken is not None
    assert (second.broken.culprits, second.broken.is_own) == ((1,), False)


def test_who_waits_at_one_shard_hears_of_a_failure_behind_an_answer_of_another(start_pservers: Start) -> None:
    """Trainer 1 sends nothing more to the first shard. The second one has answered trainer 0, which reads the
    first one's answer first."""
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)
    first, second = (hub.shard for hub in pservers.hubs)
    told = threading.Event()

    def good(exchange: RemoteExchange) -> None:
        start(exchange)
        failed = rf":{pservers.port + 1}: trainer 1 at .* failed: no way there"
        with pytest.raises(TrainerLost, match=failed):
            exchange.step(ONES, 1)
        told.set()

    def bad(exchange: RemoteExchange) -> None:
        start(exchange)
        exchange._dense[0].ask_push = Mock()  # type: ignore[method-assign]
        exchange.commit(ONES, 1)
        until(
            lambda: pservers.call(lambda: second.clocks.version == 1 and 0 in first.barrier),
            "the second shard to have answered trainer 0, and the first to keep it waiting",
        )
        exchange._dense[1].line.say_goodbye(Goodbye("no way there"))
        assert told.wait(TIMEOUT_S / 2), "it did not wait until the first shard's patience had ended"

    pservers.train(good, bad)
