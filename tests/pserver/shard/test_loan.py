"""What a trainer says of its memory is looked at: what is wrong is refused, what is not there is no error."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._pserver.errors import BadMessage, PserverError
from paddle._pserver.memory import region
from paddle._pserver.protocol.messages import Lies, Share
from paddle._pserver.shard.loan import Loan
from paddle._pserver.trainer.remote import RemoteExchange

from ..conftest import ONES, Pservers, Start, start


def loan(pservers: Pservers) -> tuple[Loan, Any]:
    (hub,) = pservers.hubs
    (inlet,) = hub._inlets.values()
    return inlet.loan, hub.shard.tables


def test_gradients_outside_of_the_memory_are_refused(start_pservers: Start) -> None:
    pservers = start_pservers(is_nearby=True)

    def run(exchange: RemoteExchange) -> None:
        start(exchange)
        lent, tables = loan(pservers)
        made = region.make(4 * 300 + 64)
        assert made is not None and made.lies is not None
        for starts in ({"w": 68}, {"w": 1 << 62}, {"w": 2}, {}, {"v": 0}):
            with pytest.raises(BadMessage):
                lent.share(Share(made.lies, starts, True), tables)
            assert not lent.has_gradient(tables)
        assert lent.share(Share(made.lies, {"w": 64}, True), tables).takes
        assert not lent.gradient()[0].flags.writeable

    pservers.train(run)


def test_what_is_no_memory_of_the_trainer_is_not_taken_and_that_is_no_error(start_pservers: Start) -> None:
    pservers = start_pservers(is_nearby=True)

    def run(exchange: RemoteExchange) -> None:
        start(exchange)
        lent, tables = loan(pservers)
        for lies in (Lies(0, 0, 0), Lies(1, 2, 1200), Lies(1 << 62, 1 << 62, 1 << 62), None):
            answer = lent.share(Share(lies, {"w": 0}, False), tables)
            assert (answer.takes, answer.values) == (False, None)

    pservers.train(run)


def test_a_push_without_a_gradient_from_who_shares_none_is_refused(start_pservers: Start) -> None:
    pservers = start_pservers(is_nearby=True)

    def run(exchange: RemoteExchange) -> None:
        exchange._shares = False
        start(exchange)
        (line,) = [shard.line for shard in exchange._dense]
        line.client.takes_gradients, exchange._room = (
            True,
            type(  # a trainer that believes what nobody said
                "Room", (), {"hold": lambda self, given: given}
            )(),
        )
        exchange.step(ONES, 1)

    with pytest.raises(PserverError, match="should bring 1200 bytes and brings 0"):
        pservers.train(run)


def test_sharing_before_declaring_is_refused(start_pservers: Start) -> None:
    pservers = start_pservers(is_nearby=True)
    exchange = pservers.exchange(0)
    exchange._greet()
    with pytest.raises(PserverError, match="before Declare"):
        exchange._dense[0].line.client.share(Share(reads=True), is_in_step=True)
    exchange.close("it is only a test")
