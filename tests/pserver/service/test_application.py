"""The HTTP face of a shard."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from paddle._engine.exchange import Exchange

from ..conftest import ONES, TIMEOUT_S, Pservers, Start, start


def get(pservers: Pservers, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{pservers.port}{path}", timeout=TIMEOUT_S) as response:
        return bytes(response.read())


def test_health_and_status_are_on_the_same_port(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    assert get(pservers, "/healthz") == b"ok\n"
    assert json.loads(get(pservers, "/v1/status"))["state"] == "waiting"

    def run(exchange: Exchange) -> dict[str, Any]:
        start(exchange)
        exchange.step(ONES, 5)
        exchange.end_pass(0)
        return dict(json.loads(get(pservers, "/v1/status")))

    status = pservers.train(run, run)[0]
    assert (status["state"], status["version"], status["samples"]) == ("ready", 1, 10)
    assert status["dense_values"] == 300
    assert [trainer["pushes"] for trainer in status["trainers"]] == [1, 1]


def test_all_that_can_be_seen_is_there_in_three_forms(start_pservers: Start) -> None:
    pservers = start_pservers()
    assert get(pservers, "/").startswith(b"<!doctype html>")
    assert b'\npaddle_pserver_state{state="waiting"} 1\n' in get(pservers, "/metrics")
    assert json.loads(get(pservers, "/v1/status"))["name"] == "dense shard 0"


def test_a_browser_at_the_session_door_is_told_what_it_is(start_pservers: Start) -> None:
    pservers = start_pservers()
    with pytest.raises(urllib.error.HTTPError, match="426") as refusal:
        get(pservers, "/v1/session")
    assert b"paddle-pserver/1" in refusal.value.read()
