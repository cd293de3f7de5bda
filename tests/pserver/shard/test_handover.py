"""What sessions rely on in aiohttp and asyncio, pinned: an upgrade of either that breaks it fails here."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.messages import PROTOCOL, Hello, Welcome
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from tests.waiting import PATIENCE_S

from ..conftest import Start, update

MODEL = (ParameterSpec(name="w", shape=(10,)),)
VALUES = {"w": np.ones(10, np.float32)}


def test_the_transport_stays_ours_when_aiohttp_would_close_it_as_idle(start_pservers: Start) -> None:
    pservers = start_pservers(keepalive_timeout=0.05)
    client = Client("127.0.0.1", pservers.port, "shard", call_timeout_s=PATIENCE_S, notice=lambda text: None)
    client.connect(Deadline(PATIENCE_S))
    assert client._socket is not None
    client._socket.settimeout(0.3)
    with pytest.raises(TimeoutError):  # not: the end of the stream
        client._socket.recv(1)
    client.send(Hello(PROTOCOL, 0, 1, "dense"), asking="hello")
    assert isinstance(client.receive(), Welcome)
    client.close()


def test_aiohttp_hears_of_the_end_of_a_session_and_complains_of_nothing(
    start_pservers: Start, caplog: pytest.LogCaptureFixture
) -> None:
    pservers = start_pservers()
    with caplog.at_level(logging.WARNING):
        pservers.train(lambda exchange: exchange.start(MODEL, update(), VALUES))
        assert pservers.statuses() == [0]
        assert pservers.call(lambda: pservers.connections()) == 0
    assert not [record for record in caplog.records if record.name.startswith(("aiohttp", "asyncio"))]


def test_a_buffer_is_offered_whenever_the_transport_asks(start_pservers: Start) -> None:
    """An empty one would end the connection; sessions are asked in every state, also while they close."""
    pservers = start_pservers()
    exchange = pservers.exchange(0)
    exchange.start(MODEL, update(), VALUES)
    (session,) = pservers.call(lambda: list(pservers.hubs[0]._sessions.values()))
    assert len(session.get_buffer(0)) > 0
    pservers.call(session.close)
    assert len(session.get_buffer(0)) > 0
    exchange.close()
