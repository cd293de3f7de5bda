"""A trainer of several threads and its pservers: one step for all parts, whose gradients travel meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import Exchange
from paddle._engine.executor import initialize
from paddle._engine.scope import Scope
from paddle._engine.teams.team import Part, Team
from paddle._pserver.trainer.local import LocalExchange

from .conftest import Start, update
from .overlapping import Net, threads  # noqa: F401 (a fixture)
from .test_equality import assert_same
from .test_resets import between

SIZES = (3, 3, 2)


def in_parts(exchange: Exchange, steps: int = 6) -> dict[str, np.ndarray]:
    """The parameters that a team of three has after some steps."""
    net, scope = Net(), Scope()
    initialize(net.program, scope, 3)
    arrays = exchange.start(net.specs, update("momentum"), {s.name: scope.get(s.name) for s in net.specs})
    scope.bind(arrays)
    team = Team(scope, 3, exchange, exchange.room())
    exchange.begin_pass(0)
    for step in range(steps):
        random = np.random.default_rng(step)
        feeds = [
            {
                "x": random.standard_normal((size, net.width)).astype(np.float32),
                "ids": random.integers(0, 20, (size, 1)),
            }
            for size in SIZES
        ]
        parts = [Part(feed, size) for feed, size in zip(feeds, SIZES, strict=True)]
        team.run(net.program, parts, [net.loss], seed=0, step=step)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize("carried", [False, True])
def test_threads_with_pservers_compute_what_they_compute_alone(
    start_pservers: Start, request: pytest.FixtureRequest, carried: bool
) -> None:
    if carried:
        request.getfixturevalue("threads")
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    assert_same(pservers.train(in_parts)[0], in_parts(LocalExchange()))
    assert set(pservers.statuses()) == {0}


@pytest.mark.usefixtures("threads")
def test_a_bad_network_changes_no_bit_of_a_step_in_parts(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    with between(pservers, 1, "reset") as proxies:
        found = pservers.train(in_parts)[0]
        assert sum(proxy.harmed for proxy in proxies) > 0
    assert_same(found, in_parts(LocalExchange()))
