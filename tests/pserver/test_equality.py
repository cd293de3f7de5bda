"""A cluster computes what one process computes, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RuleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._engine.rules import RULES
from paddle._pserver.trainer.local import LocalExchange

from . import conftest
from .conftest import Start, values_of

Gradients = dict[str, np.ndarray | SparseRows]

STEPS = 4
OPTIONS: dict[str, dict[str, dict[str, float]]] = {
    "momentum": {"momentum": {"momentum": 0.9}, "sparse momentum": {"momentum": 0.9, "sparse": 1}},
    "adam": {
        "adam": {"beta1": 0.8, "beta2": 0.99},
        "adam, not lazy": {"beta1": 0.8, "beta2": 0.99, "lazy": 0},
    },
    "rmsprop": {"rmsprop": {"rho": 0.9}},
}
"""Numbers that make a rule remember: without them momentum is plain descent."""
RULE_SPECS = {
    name: RuleSpec(name=rule, options=options)
    for rule in RULES
    for name, options in OPTIONS.get(rule, {rule: {}}).items()
}

# What stands in a parameter of its own replaces what the job says, in dense blocks and in rows.
OWN: dict[str, Any] = {"momentum": 0.5, "l1_rate": 0.01, "gradient_clipping_threshold": 0.7}
MODEL = (
    *conftest.MODEL,
    ParameterSpec(name="own", shape=(9, 5), **OWN),
    ParameterSpec(name="own rows", shape=(11, 4), sparse=True, **OWN),
)


def update(rule: str, **changes: Any) -> UpdateSpec:
    return replace(conftest.update(rule, **changes), rule=RULE_SPECS[rule])


def gradients_of(model: Sequence[ParameterSpec], seed: int) -> Gradients:
    """One batch's gradients; ids of sparse ones repeat, as they do in a batch."""
    random = np.random.default_rng(seed)
    gradients: Gradients = {}
    for p in model:
        if p.sparse:
            ids = random.integers(0, p.shape[0], size=20)
            values = random.standard_normal((20, p.shape[1])).astype(np.float32)
            gradients[p.name] = SparseRows(ids, values, p.shape[0])
        else:
            gradients[p.name] = random.standard_normal(p.shape).astype(np.float32)
    return gradients


def seed_of(trainer: int, step: int) -> int:
    return 100 * step + trainer + 1


def total(parts: Sequence[Gradients], mean: bool) -> Gradients:
    """The sum of several trainers' gradients, added in their order; or the mean."""
    result: Gradients = {}
    scale = np.float32(1 / len(parts))
    for name, first in parts[0].items():
        if isinstance(first, SparseRows):
            rows = SparseRows.concatenate([part[name].merged() for part in parts]).merged()
            result[name] = SparseRows(rows.ids, rows.values * scale, rows.height) if mean else rows
        else:
            summed = first.copy()
            for part in parts[1:]:
                summed += part[name]
            result[name] = summed * scale if mean else summed
    return result


def locally(spec: UpdateSpec, trainers: int, steps: int = STEPS) -> dict[str, np.ndarray]:
    exchange = LocalExchange()
    arrays = exchange.start(MODEL, spec, values_of(MODEL, 0))
    exchange.begin_pass(0)
    for step in range(steps):
        parts = [gradients_of(MODEL, seed_of(trainer, step)) for trainer in range(trainers)]
        exchange.step(total(parts, spec.reduce == "mean"), samples=8 * trainers)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


def trainer(
    id: int,
    spec: UpdateSpec,
    steps: int = STEPS,
    *,
    model: Sequence[ParameterSpec] = MODEL,
    before_step: Callable[[int], None] = lambda step: None,
    before_push: Callable[[int], None] = lambda step: None,
) -> Callable[[Exchange], dict[str, np.ndarray]]:
    def run(exchange: Exchange) -> dict[str, np.ndarray]:
        arrays = exchange.start(model, spec, values_of(model, id))  # only those of trainer 0 count
        exchange.begin_pass(0)
        for step in range(steps):
            before_step(step)
            gradients = gradients_of(model, seed_of(id, step))
            exchange.prefetch(
                {n: g.ids.reshape(4, 5) for n, g in gradients.items() if isinstance(g, SparseRows)}
            )
            before_push(step)
            exchange.step(gradients, samples=8)
        exchange.end_pass(0)
        exchange.fetch()
        return {name: array.copy() for name, array in arrays.items()}

    return run


def assert_same(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> None:
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("rule", sorted(RULE_SPECS))
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_two_trainers_and_two_pservers_equal_one_process_for_every_rule(
    start_pservers: Start, rule: str, reduce: str
) -> None:
    spec = update(rule, reduce=reduce)
    pservers = start_pservers(hosts=2, ports_num=1, ports_num_for_sparse=1, num_gradient_servers=2)
    first, second = pservers.train(trainer(0, spec), trainer(1, spec))
    assert_same(first, second)
    assert_same(first, locally(spec, trainers=2))
    assert pservers.statuses() == [0, 0, 0, 0]


@pytest.mark.parametrize(("hosts", "ports", "sparse_ports"), [(1, 1, 1), (1, 3, 2), (2, 2, 3)])
def test_the_number_of_shards_changes_no_bit(
    start_pservers: Start, hosts: int, ports: int, sparse_ports: int
) -> None:
    spec = update("momentum", gradient_clipping_threshold=1.5)
    pservers = start_pservers(hosts, ports, sparse_ports)
    assert_same(pservers.train(trainer(0, spec))[0], locally(spec, trainers=1))


def test_three_trainers_are_summed_in_their_order(start_pservers: Start) -> None:
    spec = update("adagrad")
    pservers = start_pservers(hosts=2, ports_num=1, ports_num_for_sparse=1, num_gradient_servers=3)
    results = pservers.train(*(trainer(id, spec) for id in range(3)))
    for result in results:
        assert_same(result, locally(spec, trainers=3))


def test_a_model_smaller_than_the_cluster_trains(start_pservers: Start) -> None:
    """More shards than blocks: some keep nothing, and nobody waits for them."""
    spec = update("sgd")
    pservers = start_pservers(hosts=2, ports_num=4, ports_num_for_sparse=4, num_gradient_servers=1)
    small = (ParameterSpec(name="w", shape=(3, 2)), ParameterSpec(name="t", shape=(2, 2), sparse=True))

    def run(exchange: Exchange) -> dict[str, np.ndarray]:
        arrays = exchange.start(small, spec, values_of(small, 0))
        exchange.step(gradients_of(small, 1), samples=1)
        exchange.fetch()
        return dict(arrays)

    local = LocalExchange()
    assert_same(pservers.train(run)[0], run(local))
    assert pservers.statuses() == [0] * 16


def test_trainers_with_unequal_batches_equal_one_process_that_adds_what_there_is(
    start_pservers: Start,
) -> None:
    spec = update("adagrad")
    pservers = start_pservers(hosts=1, ports_num=2, ports_num_for_sparse=1, num_gradient_servers=2)
    first, second = pservers.train(trainer(0, spec, steps=5), trainer(1, spec, steps=2))
    local = LocalExchange()
    arrays = local.start(MODEL, spec, values_of(MODEL, 0))
    for step in range(5):
        parts = [gradients_of(MODEL, seed_of(id, step)) for id in range(2 if step < 2 else 1)]
        local.step(total(parts, mean=False), samples=8 * len(parts))
    local.fetch()
    assert_same(first, arrays)
    assert_same(second, arrays)


def test_one_asynchronous_trainer_equals_one_process(start_pservers: Start) -> None:
    pservers = start_pservers(hosts=1, ports_num=2, ports_num_for_sparse=2)
    result = pservers.train(trainer(0, update("momentum", mode=ModeSpec(name="async"))))[0]
    assert_same(result, locally(update("momentum"), trainers=1))


def test_asynchronous_trainers_end_a_pass_with_equal_parameters_and_know_of_every_drop(
    start_pservers: Start,
) -> None:
    spec = update("sgd", mode=ModeSpec(name="async"))
    pservers = start_pservers(hosts=1, ports_num=2, ports_num_for_sparse=1, num_gradient_servers=3)

    def run(exchange: Exchange) -> tuple[dict[str, np.ndarray], int]:
        arrays = exchange.start(MODEL, spec, values_of(MODEL, 0))
        dropped = sum(exchange.step(gradients_of(MODEL, step), samples=1).dropped for step in range(30))
        exchange.end_pass(0)
        exchange.fetch()
        return {name: array.copy() for name, array in arrays.items()}, dropped

    results = pservers.train(run, run, run)
    for arrays, _ in results[1:]:
        assert_same(arrays, results[0][0])
    clocks = [hub.shard.clocks for hub in pservers.hubs]
    assert sum(sum(clock.dropped) for clock in clocks) == sum(dropped for _, dropped in results)
    assert all(clock.version + sum(clock.dropped) == 90 for clock in clocks)


@pytest.mark.parametrize(("ports", "sparse_ports"), [(1, 1), (2, 3)])
@pytest.mark.parametrize("others", range(5))
def test_a_gradient_is_discarded_by_all_shards_or_by_none(
    start_pservers: Start, ports: int, sparse_ports: int, others: int
) -> None:
    """After ``others`` pushes of the other trainer, which all shards have in one order."""
    spec = update("sgd", mode=ModeSpec(name="async", discard_ratio=2.0))
    pservers = start_pservers(1, ports, sparse_ports, num_gradient_servers=2)
    exchanges = [pservers.exchange(id) for id in range(2)]
    before, after = (exchange.start(MODEL, spec, values_of(MODEL, 0)) for exchange in exchanges)

    def step(id: int, seed: int) -> int:
        gradients = gradients_of(MODEL, seed)
        exchanges[id].prefetch({n: g.ids for n, g in gradients.items() if isinstance(g, SparseRows)})
        return exchanges[id].step(gradients, samples=1).dropped

    assert [step(0, seed) for seed in range(others)] == [0] * others
    exchanges[0].fetch()
    is_stale = others >= 3  # two trainers at ratio 2: four, this one included
    assert step(1, 100) == (ports + sparse_ports if is_stale else 0)
    exchanges[1].fetch()
    if is_stale:
        assert_same(before, after)
    assert [(before[p.name] != after[p.name]).any() for p in MODEL] == [not is_stale] * len(MODEL)
    assert step(0, 101) == 0  # has pulled what there is since
    for exchange in exchanges:
        exchange.close()


def test_a_trainer_that_starts_late_is_fresh_at_all_shards(start_pservers: Start) -> None:
    spec = update("sgd", mode=ModeSpec(name="async"))
    pservers = start_pservers(1, 1, 2, num_gradient_servers=2)
    first, late = pservers.exchange(0), pservers.exchange(1)
    first.start(MODEL, spec, values_of(MODEL, 0))
    for seed in range(5):
        first.step(gradients_of(MODEL, seed), samples=1)
    late.start(MODEL, spec, values_of(MODEL, 0))
    assert late.step(gradients_of(MODEL, 9), samples=1).dropped == 0
    first.close()
    late.close()
