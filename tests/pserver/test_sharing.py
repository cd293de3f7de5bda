"""A shard and trainers of its machine show each other gradients and values in memory: the same bits, also
where that cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from paddle._pserver.trust import nearby

from .conftest import ONES, Start, start, update, values_of
from .overlapping import Net, alone
from .test_equality import MODEL, assert_same, gradients_of, locally, seed_of, trainer
from .test_resets import cut

Work = Callable[[RemoteExchange], Any]


def shared(exchange: RemoteExchange) -> list[tuple[bool, bool]]:
    """Per dense shard: whether it reads gradients, and shows values."""
    clients = [shard.line.client for shard in exchange._dense]
    return [(client.takes_gradients, client._receipt.seen is not None) for client in clients]


def sharing(work: Work, expected: tuple[bool, bool] = (True, True)) -> Work:
    """``work``, and that memory was shared so meanwhile."""

    def run(exchange: RemoteExchange) -> Any:
        result = work(exchange)
        assert set(shared(exchange)) == {expected}
        return result

    return run


def in_room(id: int, spec: Any, steps: int = 4) -> Work:
    """As ``trainer``, with gradients that are computed where shards read them."""

    def run(exchange: RemoteExchange) -> dict[str, np.ndarray]:
        arrays = exchange.start(MODEL, spec, values_of(MODEL, id))
        exchange.begin_pass(0)
        for step in range(steps):
            gradients = gradients_of(MODEL, seed_of(id, step))
            for name, array in exchange.room().items():
                array[...], gradients[name] = gradients[name], array
            exchange.prefetch({n: g.ids for n, g in gradients.items() if isinstance(g, SparseRows)})
            exchange.step(gradients, samples=8)
        exchange.end_pass(0)
        exchange.fetch()
        return {name: array.copy() for name, array in arrays.items()}

    return run


# The same bits.


@pytest.mark.parametrize("work", [trainer, in_room])
@pytest.mark.parametrize(("hosts", "ports"), [(1, 1), (1, 3), (2, 2)])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_shards_and_trainers_of_one_machine_compute_the_bits_of_one_process(
    start_pservers: Start, work: Callable[..., Work], hosts: int, ports: int, reduce: str
) -> None:
    spec = update("momentum", reduce=reduce)
    pservers = start_pservers(hosts, ports, 1, num_gradient_servers=3, is_nearby=True)
    results = pservers.train(*(sharing(work(id, spec)) for id in range(3)))
    for result in results:
        assert_same(result, locally(spec, trainers=3))


@pytest.mark.parametrize(
    "mode",
    [
        ModeSpec(name="async"),
        ModeSpec(name="ssp", staleness=1),
        ModeSpec(name="half_async", max_merge_var_num=3),
        ModeSpec(name="geo", k_steps=2),
        ModeSpec(name="average", k_steps=2),
        ModeSpec(name="elastic_average", k_steps=2, delta_add_rate=0.5),
    ],
    ids=lambda mode: mode.name,
)
def test_every_mode_computes_the_bits_that_it_computes_over_sockets(
    start_pservers: Start, mode: ModeSpec
) -> None:
    spec = update("momentum", mode=mode)

    def run(exchange: RemoteExchange) -> Any:
        return in_room(0, spec, steps=5)(in_mode(exchange, mode, 1))  # type: ignore[arg-type]

    def both(exchange: RemoteExchange) -> Any:
        result = run(exchange)
        assert shared(exchange) == [(True, True)] * 2
        return result

    (there,) = start_pservers(1, 2, 1, is_nearby=True).train(both)
    (over_tcp,) = start_pservers(1, 2, 1).train(run)
    assert_same(there, over_tcp)


def test_trainers_of_both_kinds_train_together(start_pservers: Start) -> None:
    """What one of them has told by memory and the other by bytes is folded alike."""
    spec = update("adam")
    pservers = start_pservers(1, 2, 1, num_gradient_servers=3, is_nearby=True)

    def run(id: int) -> Work:
        def work(exchange: RemoteExchange) -> Any:
            exchange._shares = id == 1
            return sharing(in_room(id, spec), (id == 1, id == 1))(exchange)

        return work

    for result in pservers.train(*map(run, range(3))):
        assert_same(result, locally(spec, trainers=3))


def test_a_gradient_that_is_computed_elsewhere_is_copied_and_left_alone(start_pservers: Start) -> None:
    def run(exchange: RemoteExchange) -> float:
        start(exchange)
        gradients = {"w": np.full(300, 2, np.float32)}
        exchange.step(gradients, 1)
        assert gradients["w"].tolist() == [2.0] * 300
        return float(exchange.room()["w"][299])

    assert start_pservers(is_nearby=True).train(sharing(run)) == [2.0]


def test_a_shard_never_writes_where_a_trainer_computes(start_pservers: Start) -> None:
    """Not even the sum of all: what the first of them has told it may have to tell again."""

    def run(value: float) -> Work:
        def work(exchange: RemoteExchange) -> list[float]:
            start(exchange)
            room = exchange.room()["w"]
            seen = []
            for _ in range(3):
                room[:] = value
                exchange.step({"w": room}, 1)
                seen += [float(room.min()), float(room.max())]
            return seen

        return work

    pservers = start_pservers(num_gradient_servers=2, is_nearby=True)
    assert pservers.train(sharing(run(1.5)), sharing(run(2.5))) == [[1.5] * 6, [2.5] * 6]


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("breaks", [False, True])
def test_a_step_that_ends_while_the_next_begins_takes_gradients_from_where_they_are_computed(
    start_pservers: Start, ports: int, breaks: bool
) -> None:
    def run(exchange: RemoteExchange) -> tuple[list[float], dict[str, np.ndarray]]:
        trains = Net().begin(exchange)
        exchange.begin_pass(0)
        costs = []
        for seed in range(6):
            costs.append(trains.step(seed))
            if breaks and all(shard.line.client._socket for shard in exchange._shards):
                cut(exchange)  # while the answer is under way
        exchange.end_pass(0)
        exchange.fetch()
        return costs, {name: array.copy() for name, array in trains.arrays.items()}

    pservers = start_pservers(ports_num=ports, ports_num_for_sparse=1, is_nearby=True)
    ((costs, parameters),) = pservers.train(sharing(run))
    expected, expected_parameters = alone(6)
    assert costs == expected
    assert_same(parameters, expected_parameters)


# Connections that break.


@pytest.mark.parametrize("steps", [12])
def test_connections_that_break_change_no_bit(start_pservers: Start, steps: int) -> None:
    spec = update("momentum")
    pservers = start_pservers(1, 2, 1, num_gradient_servers=2, is_nearby=True)

    def run(id: int) -> Work:
        def work(exchange: RemoteExchange) -> Any:
            arrays = exchange.start(MODEL, spec, values_of(MODEL, id))
            exchange.begin_pass(0)
            for step in range(steps):
                gradients = gradients_of(MODEL, seed_of(id, step))
                if step % 3 == id:
                    cut(exchange)
                exchange.step(gradients, 8)
            exchange.end_pass(0)
            exchange.fetch()
            return {name: array.copy() for name, array in arrays.items()}

        return work

    first, second = pservers.train(*(sharing(run(id)) for id in range(2)))
    assert_same(first, second)
    assert_same(first, locally(spec, trainers=2, steps=steps))


def test_a_shard_that_went_on_without_a_trainer_while_that_read_is_found_out(start_pservers: Start) -> None:
    """The answer is asked for again, by a trainer that has lost no step."""
    notices: list[str] = []

    def run(exchange: RemoteExchange) -> float:
        arrays = start(exchange)
        (hub,) = pservers.hubs
        tables = hub.shard.tables
        assert tables is not None and tables.shown is not None
        (line,) = [shard.line for shard in exchange._dense]
        real = line.client._receipt.seen
        assert real is not None
        read = real.read

        def too_late(*args: Any) -> bool:
            tables.shown.begin(2)  # type: ignore[union-attr]
            is_right = read(*args)
            tables.shown.begin(1)  # type: ignore[union-attr]
            return is_right

        real.read = too_late  # type: ignore[method-assign]
        assert exchange.step(ONES, 1).version == 1
        return float(arrays["w"][0])

    pservers = start_pservers(is_nearby=True)
    (value,) = pservers.train(sharing(run), notice=notices.append)
    assert value < 1
    assert any("went on without this trainer while that read new values" in text for text in notices)


# Where it cannot be.


def refused(*args: object, **named: object) -> None:
    """As where no memory is to be had, or a process is not seen."""


def went(start_pservers: Start, expected: tuple[bool, bool]) -> None:
    spec = update("adam")
    pservers = start_pservers(1, 2, 1, num_gradient_servers=2, is_nearby=True)
    for result in pservers.train(*(sharing(in_room(id, spec), expected) for id in range(2))):
        assert_same(result, locally(spec, trainers=2))


def test_without_memory_for_it_all_goes_over_the_socket(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.memory.region.make", refused)
    went(start_pservers, (False, False))


def test_where_the_trainers_memory_is_not_seen_its_gradients_go_over_the_socket(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.shard.loan.region", type("Nowhere", (), {"find": refused}))
    went(start_pservers, (False, True))


def test_where_the_shards_memory_is_not_seen_values_come_over_the_socket(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.memory.shown.find", refused)
    went(start_pservers, (True, False))


def test_a_process_of_another_user_is_shown_nothing(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user is another only for the shard, to whose name it came: a trainer would not even have come."""
    end = nearby._end

    def seen(sock: Any) -> tuple[int, int, int]:
        process, user, group = end(sock)
        return process, user + isinstance(sock.getsockname(), bytes), group

    monkeypatch.setattr(nearby, "_end", seen)
    went(start_pservers, (False, False))


def test_over_tcp_nothing_is_shared(start_pservers: Start) -> None:
    assert start_pservers(is_nearby=False).train(sharing(start, (False, False)))
    assert start_pservers(is_nearby=False).train(lambda exchange: [start(exchange), exchange.room()][1]) == [
        {}
    ]


# What is left when somebody goes.


def test_arrays_are_as_they_were_after_the_exchange_is_closed(start_pservers: Start) -> None:
    def run(exchange: RemoteExchange) -> tuple[np.ndarray, np.ndarray]:
        arrays = start(exchange)
        room = exchange.room()["w"]
        exchange.step(ONES, 1)
        return arrays["w"], room

    pservers = start_pservers(num_gradient_servers=1, is_nearby=True)
    ((values, room),) = pservers.train(sharing(run))
    assert pservers.statuses() == [0]
    expected = values.copy()
    pservers.hubs.clear()
    assert np.array_equal(values, expected)
    values[:], room[:] = 7, 8  # theirs to write to, also now
    owner = values if values.base is None else values.base
    assert owner.flags.owndata and values[0] == 7 and room[299] == 8


def test_a_forked_process_disturbs_nothing(start_pservers: Start) -> None:
    def run(exchange: RemoteExchange) -> float:
        arrays = start(exchange)
        exchange.step(ONES, 1)
        before = float(arrays["w"][0])
        child = os.fork()
        if not child:
            arrays["w"][:] = 5  # its own
            exchange.close("a child fails")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert float(arrays["w"][0]) == before
        exchange.step(ONES, 1)
        return before - float(arrays["w"][0])

    (moved,) = start_pservers(is_nearby=True).train(sharing(run))
    assert moved > 0
