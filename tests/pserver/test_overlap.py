"""A step whose gradients are pushed while others are computed, and whose answer comes in the next forward."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.errors import TrainerLost
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard.inlet import Inlet
from paddle._pserver.trainer.remote import RemoteExchange
from tests.marks import on_demand
from tests.waiting import until

from .conftest import DENSE_ONLY, ONES, TIMEOUT_S, Pservers, Start, free_ports, start, update
from .overlapping import LAYERS, Heard, Net, Trainer, alone, course, threads  # noqa: F401 (a fixture)
from .test_equality import assert_same
from .test_resets import between

WIDE = 700  # three layers of 2 MiB each: the answer comes in six portions


def assert_equal(found: tuple[list[float], dict[str, np.ndarray]], steps: int) -> None:
    costs, parameters = alone(steps)
    assert found[0] == costs
    assert_same(found[1], parameters)


@pytest.mark.parametrize("ports", [1, 2, 3])
@pytest.mark.parametrize("carried", [False, True])
def test_an_executor_that_overlaps_computes_what_one_process_computes(
    start_pservers: Start, request: pytest.FixtureRequest, ports: int, carried: bool
) -> None:
    if carried:
        request.getfixturevalue("threads")
    pservers = start_pservers(ports_num=ports, ports_num_for_sparse=1)
    assert_equal(pservers.train(course(5))[0], 5)
    assert set(pservers.statuses()) == {0}


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("harm", ["reset", "damage"])
@pytest.mark.parametrize("seed", [0, *map(on_demand, range(1, 4))])
def test_a_bad_network_changes_no_bit_of_an_overlapping_step(
    start_pservers: Start, seed: int, harm: str
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    with between(pservers, seed, harm) as proxies:
        found = pservers.train(course(12))[0]
        assert sum(proxy.harmed for proxy in proxies) > 2
    assert_equal(found, 12)


@pytest.mark.parametrize(
    "wire", [WireSpec(name="bfloat16"), WireSpec(answers="bfloat16"), WireSpec(name="topk", share=0.1)]
)
def test_in_other_numbers_too_a_thread_changes_no_bit(
    start_pservers: Start, request: pytest.FixtureRequest, wire: WireSpec
) -> None:
    inline = start_pservers(ports_num=2, ports_num_for_sparse=1).train(course(4, 150), wire=wire)[0]
    request.getfixturevalue("threads")
    carried = start_pservers(ports_num=2, ports_num_for_sparse=1).train(course(4, 150), wire=wire)[0]
    assert inline[0] == carried[0]
    assert_same(inline[1], carried[1])


# Overlap, seen from both ends. Nothing here measures time.


def deposited(pservers: Pservers, hub: int, segment: int) -> np.ndarray:
    """What a shard has of a gradient that has not been pushed."""
    (session,) = pservers.hubs[hub]._sessions.values()
    assert session._reader is not None
    inlet = session._reader._place.__self__  # type: ignore[attr-defined]
    assert isinstance(inlet, Inlet)
    dense = inlet._deposit.gradient.dense
    return np.array(dense[segment]) if dense else np.empty(0, np.float32)


@pytest.mark.usefixtures("threads")
def test_a_shard_has_the_last_layers_gradient_before_that_of_the_first_is_computed(
    start_pservers: Start,
) -> None:
    pservers = start_pservers(ports_num_for_sparse=1)
    net = Net()
    names = [spec.name for spec in net.specs if not spec.sparse]
    gave: list[str] = []

    def told(what: str, name: Any) -> None:
        """The executor does nothing else meanwhile: the operators after this one have not run."""
        if what == "gave":
            gave.append(name)
            expected = trainer.executor._gradients[name].reshape(-1)
            has = partial(deposited, pservers, 0, names.index(name))
            until(lambda: np.array_equal(has(), expected), f"the gradient of {name}")
            assert pservers.hubs[0].shard.clocks.version == 0

    exchange = heard(pservers, told)
    trainer = net.begin(exchange)
    exchange.begin_pass(0)
    trainer.step(0)
    exchange.end_pass(0)
    exchange.close()
    assert [name for name in gave if name in LAYERS] == ["third", "second", "first"]
    assert pservers.statuses() == [0, 0]


def heard(pservers: Pservers, told: Callable[[str, Any], None]) -> RemoteExchange:
    return pservers.exchange(0, partial(Heard, told=told))


class Gate:
    """Passes on what comes to its port; of what comes back, only so much, until it is opened."""

    def __init__(self, listener: socket.socket, to: tuple[str, int]) -> None:
        self.listener, self.to = listener, to
        self.passed = 0
        self.most = 1 << 60
        self.opened = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.to)
                threading.Thread(target=self._there, args=(near, far), daemon=True).start()
                threading.Thread(target=self._back, args=(far, near), daemon=True).start()

    def _there(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := near.recv(1 << 16):
                far.sendall(data)
        far.close()

    def _back(self, far: socket.socket, near: socket.socket) -> None:
        with suppress(OSError):
            while data := far.recv(1 << 12):
                if self.passed + len(data) > self.most:
                    self.opened.wait(TIMEOUT_S)
                near.sendall(data)
                self.passed += len(data)
        near.close()


@pytest.fixture
def gated(start_pservers: Start) -> Any:
    """``gated(**how)``: pservers, of which the first is behind a gate."""
    listeners = []

    def make(**how: Any) -> tuple[Pservers, Gate]:
        pservers = start_pservers(**how)
        (listener,) = free_ports(pservers.hosts, 1)
        listeners.append(listener)
        gate = Gate(listener, (pservers.hosts[0], pservers.port))
        pservers.port = listener.getsockname()[1]
        return pservers, gate

    yield make
    for listener in listeners:
        listener.close()


FIRST = frozenset({"first"})
"""What the first operator that reads a parameter needs."""


def test_the_next_forward_begins_while_the_answer_for_later_layers_is_held_back(gated: Any) -> None:
    pservers, gate = gated(num_gradient_servers=1)
    net = Net(WIDE, sparse=False)
    log: list[tuple[str, Any]] = []
    exchange = heard(pservers, lambda what, names: log.append((what, names)))
    trainer = net.begin(exchange)
    exchange.begin_pass(0)
    gate.most = gate.passed + 4 * WIDE * WIDE + (1 << 20) + (1 << 16)  # the first layer's, and a portion
    trainer.step(0)  # returns, though the answer cannot have come
    assert exchange._flight.is_under_way
    log.clear()
    second = threading.Thread(target=trainer.step, args=(1,))
    second.start()
    later = {("waits for", frozenset({"second"})), ("waits for", frozenset({"third"}))}
    until(lambda: later.intersection(log), "the step to wait for a later layer")
    assert ("has", FIRST) in log
    assert exchange._flight.deliveries[0].answer is None
    assert not gate.opened.is_set()
    gate.opened.set()
    second.join(TIMEOUT_S)
    exchange.end_pass(0)
    exchange.close()
    assert pservers.statuses() == [0]


# What becomes of a batch that is not finished, and of a step that nobody has waited for.


def given_up(trainer: Trainer, seed: int, at: str) -> None:
    """A batch that fails once the gradient of ``at`` has been given."""
    exchange = trainer.executor._exchange
    assert isinstance(exchange, Heard)
    told = exchange.told

    def fails(what: str, name: Any) -> None:
        if (what, name) == ("gave", at):
            raise KeyboardInterrupt

    exchange.told = fails
    with pytest.raises(KeyboardInterrupt):
        trainer.step(seed)
    exchange.told = told


@pytest.mark.usefixtures("threads")
def test_a_batch_that_is_given_up_midway_leaves_nothing_behind(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    exchange = heard(pservers, lambda what, names: None)
    trainer = Net().begin(exchange)
    exchange.begin_pass(0)
    costs = []
    for seed in range(3):
        given_up(trainer, 100 + seed, at=LAYERS[-1 - seed])
        costs.append(trainer.step(seed))
    exchange.end_pass(0)
    exchange.fetch()
    assert_equal((costs, dict(trainer.arrays)), 3)
    exchange.close()
    assert pservers.statuses() == [0, 0, 0]


@pytest.mark.usefixtures("threads")
def test_a_trainer_that_fails_midway_says_so_to_those_who_wait(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    net = Net(sparse=False)

    def bad(exchange: RemoteExchange) -> None:
        assert isinstance(exchange, Heard)
        trainer = net.begin(exchange)
        trainer.step(0)
        given_up(trainer, 1, at="second")
        raise ValueError("no such file")

    def good(exchange: RemoteExchange) -> None:
        trainer = Net(sparse=False).begin(exchange)
        trainer.step(0)
        with pytest.raises(TrainerLost, match=r"trainer 1 at .* failed: ValueError: no such file"):
            trainer.step(1)
            exchange.end_pass(0)
        raise TrainerLost("as it should")

    with pytest.raises(TrainerLost, match="as it should"):
        pservers.train(good, bad, kind=partial(Heard, told=lambda what, names: None))


@pytest.mark.parametrize("carried", [False, True])
def test_a_step_that_nobody_has_waited_for_counts_when_its_trainer_leaves(
    start_pservers: Start, request: pytest.FixtureRequest, carried: bool
) -> None:
    if carried:
        request.getfixturevalue("threads")
    pservers = start_pservers(ports_num=2)

    def leaves(exchange: RemoteExchange) -> None:
        start(exchange)
        exchange.commit(ONES, 1)

    pservers.train(leaves)
    assert [hub.shard.clocks.version for hub in pservers.hubs] == [1, 1]
    assert pservers.statuses() == [0, 0]


@pytest.mark.parametrize("carried", [False, True])
def test_a_trainer_that_fails_while_its_step_is_under_way_leaves_at_once(
    start_pservers: Start, request: pytest.FixtureRequest, carried: bool
) -> None:
    """The answer waits for the other trainer, who hears why it will not come."""
    if carried:
        request.getfixturevalue("threads")
    pservers = start_pservers(num_gradient_servers=2)
    came, left = threading.Event(), threading.Event()

    def bad(exchange: RemoteExchange) -> None:
        start(exchange)
        exchange.commit(ONES, 1)
        assert came.wait(TIMEOUT_S)
        exchange.close("its disk is full")
        left.set()

    def good(exchange: RemoteExchange) -> None:
        start(exchange)
        came.set()
        assert left.wait(TIMEOUT_S)
        with pytest.raises(TrainerLost, match=r"trainer 0 at .* failed: its disk is full"):
            exchange.step(ONES, 1)

    pservers.train(bad, good)
    assert pservers.statuses() == [1]


@pytest.mark.parametrize("ask", ["fetch", "settle", "begin_step", "end_pass"])
@pytest.mark.parametrize("carried", [False, True])
def test_what_went_wrong_with_a_step_is_told_by_whatever_comes_next(
    start_pservers: Start, request: pytest.FixtureRequest, carried: bool, ask: str
) -> None:
    if carried:
        request.getfixturevalue("threads")
    pservers = start_pservers(num_gradient_servers=2)
    asks: dict[str, Callable[[RemoteExchange], Any]] = {
        "fetch": lambda exchange: exchange.fetch(),
        "settle": lambda exchange: exchange.settle(frozenset({"w"})),
        "begin_step": lambda exchange: (exchange.begin_step(), exchange.give("w", ONES["w"])),
        "end_pass": lambda exchange: exchange.end_pass(0),
    }

    came, told = threading.Event(), threading.Event()

    def run(exchange: RemoteExchange) -> None:
        start(exchange)
        exchange.commit(ONES, 1)
        assert came.wait(TIMEOUT_S)
        pservers.call(lambda: pservers.hubs[0].stop("it was told to stop"))
        with pytest.raises(TrainerLost, match="it was told to stop"):
            asks[ask](exchange)
        told.set()

    def other(exchange: RemoteExchange) -> None:
        start(exchange)
        came.set()
        assert told.wait(TIMEOUT_S)

    pservers.train(run, other)
    assert pservers.statuses() == [1]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("mode", [ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)])
def test_where_nobody_waits_for_others_steps_overlap_too(start_pservers: Start, mode: ModeSpec) -> None:
    pservers = start_pservers(ports_num=2, num_gradient_servers=2)

    def run(exchange: RemoteExchange) -> np.ndarray:
        arrays = exchange.start(DENSE_ONLY, update(mode=mode), ONES)
        exchange.begin_pass(0)
        for _ in range(20):
            exchange.begin_step()
            exchange.give("w", ONES["w"])
            exchange.commit(ONES, 1)
        exchange.end_pass(0)
        return arrays["w"].copy()

    one, other = pservers.train(run, run)
    assert one.tobytes() == other.tobytes()
    assert [hub.shard.clocks.pushes for hub in pservers.hubs] == [[20, 20]] * 2
