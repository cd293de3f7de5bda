"""Trainers that bring their gradients in turn, over connections of every kind: the same bits, and no more
gradients in memory than there may be."""

from __future__ import annotations

import threading
import weakref
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._launch.authority import Authority
from paddle._pserver.errors import TrainerLost
from paddle._pserver.protocol.announcing import Announce
from paddle._pserver.protocol.placement import DenseLayout
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard.deposit import Deposit
from paddle._pserver.shard.inlet import Inlet
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.waiting import PATIENCE_S, until

from .conftest import ONES, Pservers, Start, start
from .overlapping import Net, threads  # noqa: F401 (a fixture)
from .papers import ADDRESSES, Files
from .service.test_standstill import Disk
from .test_equality import MODEL, assert_same, locally, trainer, update
from .test_resets import between, cut

TRAINERS = 3


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.options.WORTH_BYTES", 1)


@pytest.fixture
def gradients(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many arrays for gradients there were whenever one more was made."""
    made: list[weakref.ref[np.ndarray]] = []
    counts: list[int] = []
    real = Deposit.__init__

    def making(self: Deposit, layout: DenseLayout) -> None:
        real(self, layout)
        if layout.size:
            made.append(weakref.ref(self._values))
            counts.append(sum(each() is not None for each in made))

    monkeypatch.setattr(Deposit, "__init__", making)
    return counts


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of all messages that shards get."""
    kinds: list[str] = []
    real = Inlet.place

    def placing(self: Inlet, kind: int, meta: memoryview, body_length: int) -> Any:
        inbound, into = real(self, kind, meta, body_length)
        kinds.append(type(inbound.message).__name__)
        return inbound, into

    monkeypatch.setattr(Inlet, "place", placing)
    return kinds


def train(pservers: Pservers, spec: Any, *, steps: int = 4, **options: Any) -> list[Any]:
    return pservers.train(*(trainer(id, spec, steps) for id in range(TRAINERS)), **options)


@pytest.mark.parametrize("rule", ["momentum", "adam"])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("ports", [1, 2])
def test_the_bits_are_those_of_one_process_and_two_gradients_are_there_at_most(
    start_pservers: Start, gradients: list[int], asked: list[str], rule: str, reduce: str, ports: int
) -> None:
    spec = update(rule, reduce=reduce)
    pservers = start_pservers(1, ports, 1, num_gradient_servers=TRAINERS, gradient_bytes=0)
    for result in train(pservers, spec):
        assert_same(result, locally(spec, TRAINERS))
    assert asked.count("Announce") == 4 * TRAINERS * ports
    if ports == 1:
        assert max(gradients) == 1
    assert set(pservers.statuses()) == {0}


def test_where_nobody_asks_for_that_nothing_is_announced(start_pservers: Start, asked: list[str]) -> None:
    spec = update("momentum")
    train(start_pservers(1, 1, 1, num_gradient_servers=TRAINERS), spec)
    assert "Announce" not in asked


def test_so_it_is_over_encrypted_connections(
    start_pservers: Start, tmp_path: Path, gradients: list[int], asked: list[str]
) -> None:
    papers = Files(tmp_path / "job", Authority("job", datetime.now(UTC)).issue(ADDRESSES))
    spec = update("momentum")
    pservers = start_pservers(
        1, 1, 1, num_gradient_servers=TRAINERS, gradient_bytes=0, certificate=papers.certificate
    )
    for result in train(pservers, spec, tls_ca=str(papers.ca)):
        assert_same(result, locally(spec, TRAINERS))
    assert "Announce" in asked and max(gradients) == 1


def test_so_it_is_by_unix_sockets(start_pservers: Start, gradients: list[int], asked: list[str]) -> None:
    spec = update("momentum")
    pservers = start_pservers(1, 1, 1, num_gradient_servers=TRAINERS, gradient_bytes=0, is_nearby=True)
    for result in train(pservers, spec, shares_memory=False):
        assert_same(result, locally(spec, TRAINERS))
    assert "Announce" in asked and max(gradients) == 1


@pytest.mark.parametrize("sharing", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}], ids=str)
def test_a_trainer_that_shares_its_memory_waits_for_no_turn(
    start_pservers: Start, gradients: list[int], asked: list[str], sharing: set[int]
) -> None:
    spec = update("momentum")
    pservers = start_pservers(1, 1, 1, num_gradient_servers=TRAINERS, gradient_bytes=0, is_nearby=True)

    def work(id: int) -> Any:
        def run(exchange: RemoteExchange) -> Any:
            exchange._shares = id in sharing
            return trainer(id, spec)(exchange)

        return run

    for result in pservers.train(*map(work, range(TRAINERS))):
        assert_same(result, locally(spec, TRAINERS))
    assert asked.count("Announce") == 4 * (TRAINERS - len(sharing))
    assert max(gradients, default=0) <= 1


@pytest.mark.parametrize(
    "wire",
    [
        WireSpec(name="bfloat16"),
        WireSpec(name="float16", answers="bfloat16"),
        WireSpec(name="topk", share=0.2),
    ],
    ids=lambda wire: wire.name,
)
def test_so_it_is_in_every_number(start_pservers: Start, asked: list[str], wire: WireSpec) -> None:
    spec = update("momentum")
    plain = train(start_pservers(1, 2, 1, num_gradient_servers=TRAINERS), spec, wire=wire)
    assert "Announce" not in asked
    bounded = start_pservers(1, 2, 1, num_gradient_servers=TRAINERS, gradient_bytes=0)
    for one, other in zip(plain, train(bounded, spec, wire=wire), strict=True):
        assert_same(one, other)
    assert "Announce" in asked


@pytest.mark.parametrize(
    "mode",
    [ModeSpec(name="average", k_steps=2), ModeSpec(name="elastic_average", k_steps=2, delta_add_rate=0.5)],
    ids=lambda mode: mode.name,
)
def test_so_it_is_where_trainers_in_step_update_by_themselves(
    start_pservers: Start, asked: list[str], mode: ModeSpec
) -> None:
    spec = update("momentum", mode=mode)

    def work(id: int) -> Any:
        return lambda exchange: trainer(id, spec)(in_mode(exchange, mode, 1))

    results = [
        start_pservers(1, 1, 1, num_gradient_servers=TRAINERS, gradient_bytes=bound).train(
            *map(work, range(TRAINERS))
        )
        for bound in (None, 0)
    ]
    assert_same(results[0][2], results[1][2])
    assert "Announce" in asked


@pytest.mark.parametrize("harm", ["reset", "damage"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bad_network_changes_no_bit(start_pservers: Start, asked: list[str], seed: int, harm: str) -> None:
    spec = update("momentum")
    pservers = start_pservers(1, 2, 1, num_gradient_servers=TRAINERS, gradient_bytes=0)
    with between(pservers, seed, harm) as proxies:
        results = train(pservers, spec, steps=8)
        assert sum(proxy.harmed for proxy in proxies) > 2
    for result in results:
        assert_same(result, locally(spec, TRAINERS, 8))
    assert "Announce" in asked


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("ports", [1, 2])
def test_gradients_that_are_given_ahead_wait_for_their_turn_too(
    start_pservers: Start, asked: list[str], ports: int
) -> None:
    def run(exchange: RemoteExchange) -> dict[str, np.ndarray]:
        net = Net().begin(exchange)
        exchange.begin_pass(0)
        for step in range(4):
            net.step(step)
        exchange.end_pass(0)
        exchange.fetch()
        return {name: array.copy() for name, array in net.arrays.items()}

    results = [
        start_pservers(1, ports, 1, num_gradient_servers=TRAINERS, gradient_bytes=bound).train(
            *[run] * TRAINERS
        )
        for bound in (None, 0)
    ]
    assert_same(results[0][0], results[1][2])
    assert "Announce" in asked
    first = asked.index("Announce")
    assert "Part" in asked[:first] and "Part" not in asked[first:]


def waits(pservers: Pservers, id: int) -> bool:
    """Whether a trainer waits for its turn."""
    shard = pservers.hubs[0].shard
    return pservers.call(lambda: id in [each for each, _ in shard.barrier.questions(Announce)])


def test_who_waits_may_lose_its_connection(start_pservers: Start) -> None:
    pservers = start_pservers(1, 1, 1, num_gradient_servers=TRAINERS, gradient_bytes=0)
    spec, is_back = update("momentum"), threading.Event()

    def hold(step: int) -> None:
        assert step != 1 or is_back.wait(PATIENCE_S)

    def first(exchange: RemoteExchange) -> Any:
        return trainer(0, spec, before_push=hold)(exchange)

    def second(exchange: RemoteExchange) -> Any:
        def disturb() -> None:
            until(lambda: exchange._steps == 2 and waits(pservers, 1), "it to wait for its turn")
            before = exchange._dense[0].line.client
            cut(exchange, shards=1)
            until(lambda: exchange._dense[0].line.client is not before, "it to be back")
            until(lambda: waits(pservers, 1), "it to wait again")
            is_back.set()

        threading.Thread(target=disturb, daemon=True).start()
        return trainer(1, spec)(exchange)

    results = pservers.train(first, second, trainer(2, spec))
    for result in results:
        assert_same(result, locally(spec, TRAINERS))


def test_turns_go_on_once_a_snapshot_for_which_steps_wait_was_read(start_pservers: Start) -> None:
    spec, disk = update("momentum"), Disk()
    work = [trainer(id, spec, model=[p for p in MODEL if not p.sparse]) for id in range(TRAINERS)]
    pservers = start_pservers(num_gradient_servers=TRAINERS, gradient_bytes=0, kept=disk, cut_limit_bytes=0)
    dense, seen = pservers.hubs[0], list[Any]()

    def watch() -> None:
        assert disk.is_at_it.wait(PATIENCE_S)
        until(lambda: dense._standstill._held, "the first in turn to have brought its gradient")
        until(lambda: waits(pservers, 1) and waits(pservers, 2), "the others to wait")
        seen.append(dense.shard.clocks.version)
        disk.may_go_on.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    results = pservers.train(*work)
    watcher.join(PATIENCE_S)
    assert_same(results[2], start_pservers(num_gradient_servers=TRAINERS).train(*work)[0])
    assert seen == [1]


def test_who_waits_may_be_interrupted_and_says_goodbye(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is between two messages: the shard hears it there."""
    pservers = start_pservers(num_gradient_servers=TRAINERS, gradient_bytes=0)

    def interrupted(exchange: RemoteExchange) -> None:
        start(exchange)

        def on_idle() -> None:
            if waits(pservers, 1):
                raise KeyboardInterrupt

        exchange._dense[0].line.client.on_idle = on_idle
        with pytest.raises(KeyboardInterrupt):
            exchange.step(ONES, 1)
        sessions.append(pservers.hubs[0].shard.roster.trainers[1].session)
        exchange.close("KeyboardInterrupt")
        told.set()

    def late(exchange: RemoteExchange) -> None:
        start(exchange)
        told.wait()
        with pytest.raises(TrainerLost, match=r"trainer 1 at .* failed: KeyboardInterrupt"):
            exchange.step(ONES, 1)

    def waiting(exchange: RemoteExchange) -> None:
        start(exchange)
        with pytest.raises(TrainerLost, match=r"trainer 1 at .* failed: KeyboardInterrupt"):
            exchange.step(ONES, 1)

    told, sessions = threading.Event(), list[Any]()
    pservers.train(late, interrupted, waiting)
    assert sessions[0] is not None
