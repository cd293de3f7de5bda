"""Jobs whose gradients travel in other numbers compute what one process computes that is given just these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import DeclarationMismatch, Refused
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.engine.wire_twins import Twin, bfloat16_twin
from tests.marks import on_demand

from .. import test_equality
from ..conftest import Start, start, values_of
from ..test_equality import Gradients, assert_same, gradients_of, seed_of, total, update
from ..test_resets import between

WIRES = {
    "topk, answers rounded": WireSpec(name="topk", share=0.02, answers="bfloat16"),
    "answers rounded": WireSpec(answers="bfloat16"),
    "bfloat16": WireSpec(name="bfloat16"),
    "float16": WireSpec(name="float16"),
    "topk": WireSpec(name="topk", share=0.02),
    "topk, all": WireSpec(name="topk", share=1.0),
}
STEPS = 4
# Cut into several blocks, and one that the share of topk leaves alone.
MODEL = (ParameterSpec(name="large", shape=(90, 101)), *test_equality.MODEL)


def trainer(id: int, spec: UpdateSpec, steps: int = STEPS) -> Callable[[Exchange], dict[str, np.ndarray]]:
    return test_equality.trainer(id, spec, steps, model=MODEL)


def arriving(twin: Twin, gradients: Gradients) -> Gradients:
    """What shards have of a trainer's gradients, says numpy."""
    arrives: Gradients = {}
    for name, gradient in gradients.items():
        if isinstance(gradient, SparseRows):
            merged = gradient.merged()
            arrives[name] = SparseRows(merged.ids, twin.rows(merged.values), merged.height)
        else:
            arrives[name] = twin.dense(name, gradient)
    return arrives


def locally(wire: WireSpec, spec: UpdateSpec, trainers: int, steps: int = STEPS) -> dict[str, np.ndarray]:
    """One process that is given what arrives."""
    twins = [Twin(wire.name, wire.share) for _ in range(trainers)]
    exchange = LocalExchange()
    arrays = exchange.start(MODEL, spec, values_of(MODEL, 0))
    exchange.begin_pass(0)
    for step in range(steps):
        parts = [arriving(twin, gradients_of(MODEL, seed_of(id, step))) for id, twin in enumerate(twins)]
        exchange.step(total(parts, spec.reduce == "mean"), samples=8 * trainers)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize("wire", WIRES)
def test_two_trainers_and_two_pservers_equal_one_process_that_is_given_what_travels(
    start_pservers: Start, wire: str
) -> None:
    spec = update("momentum", gradient_clipping_threshold=1.5)
    pservers = start_pservers(hosts=2, ports_num=1, ports_num_for_sparse=1, num_gradient_servers=2)
    first, second = pservers.train(trainer(0, spec), trainer(1, spec), wire=WIRES[wire])
    assert_same(first, second)
    assert_same(first, locally(WIRES[wire], spec, trainers=2))
    assert pservers.statuses() == [0, 0, 0, 0]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("ports", "sparse_ports"), [(1, 1), (3, 2)])
def test_the_number_of_shards_changes_no_bit(
    start_pservers: Start, ports: int, sparse_ports: int, wire: str
) -> None:
    spec = update("adagrad")
    pservers = start_pservers(1, ports, sparse_ports)
    assert_same(pservers.train(trainer(0, spec), wire=WIRES[wire])[0], locally(WIRES[wire], spec, trainers=1))


def test_a_rule_that_needs_whole_parameters_has_them(start_pservers: Start) -> None:
    spec = update("lamb")
    pservers = start_pservers(1, 2, 1)
    result = pservers.train(trainer(0, spec), wire=WIRES["topk"])[0]
    assert_same(result, locally(WIRES["topk"], spec, trainers=1))


@pytest.mark.parametrize("wire", ["bfloat16", "topk, answers rounded", "answers rounded"])
def test_on_one_machine_the_result_is_the_same(start_pservers: Start, wire: str) -> None:
    spec = update("momentum")
    pservers = start_pservers(1, 2, 1, is_nearby=True)
    assert_same(pservers.train(trainer(0, spec), wire=WIRES[wire])[0], locally(WIRES[wire], spec, trainers=1))


def test_the_largest_of_all_with_a_share_of_1_is_float32(start_pservers: Start) -> None:
    spec = update("momentum")
    results = [
        start_pservers(1, 2, 1).train(trainer(0, spec), wire=wire)[0]
        for wire in (WireSpec(), WIRES["topk, all"])
    ]
    assert_same(*results)


def test_another_wire_is_another_result(start_pservers: Start) -> None:
    """Else the tests here would show nothing."""
    spec = update("momentum")
    plain = locally(WireSpec(), spec, trainers=1)
    for wire in ("bfloat16", "float16", "topk"):
        other = start_pservers(1, 1, 1).train(trainer(0, spec), wire=WIRES[wire])[0]
        assert any((plain[name] != other[name]).any() for name in plain), wire
        if wire != "topk":
            for name in plain:
                np.testing.assert_allclose(other[name], plain[name], atol=0.05)


@pytest.mark.parametrize("wire", ["float16", "topk", "topk, answers rounded"])
@pytest.mark.parametrize("harm", ["reset", "damage"])
@pytest.mark.parametrize("seed", [0, *map(on_demand, range(1, 3))])
def test_a_bad_network_changes_no_bit(start_pservers: Start, seed: int, harm: str, wire: str) -> None:
    """What is sent again is what was sent: a residual knows of steps, not of sendings."""
    spec = update("momentum")
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1, num_gradient_servers=2)
    with between(pservers, seed, harm) as proxies:
        first, second = pservers.train(*(trainer(id, spec, 10) for id in range(2)), wire=WIRES[wire])
        assert sum(proxy.harmed for proxy in proxies) > 2
    assert_same(first, second)
    assert_same(first, locally(WIRES[wire], spec, trainers=2, steps=10))


def test_trainers_with_different_wires_are_told(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    first, second = pservers.exchange(0), pservers.exchange(1, wire=WIRES["topk"])
    start(first)
    with pytest.raises(DeclarationMismatch, match=r"--wire, --wire_topk and --wire_answers"):
        start(second)
    for exchange in first, second:
        exchange.close("over")


def test_topk_is_refused_where_trainers_update_by_themselves(start_pservers: Start) -> None:
    spec = update("sgd", mode=ModeSpec(name="geo", k_steps=2))
    pservers = start_pservers()
    exchange = pservers.exchange(0, wire=WIRES["topk"])
    with pytest.raises(Refused, match=r"--wire=topk does not go with the mode 'geo'.*bfloat16"):
        exchange.start(MODEL[:1], spec, values_of(MODEL[:1], 0))
    exchange.close("refused")


@pytest.mark.parametrize("name", ["int8", ""])
def test_a_wire_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="float32, bfloat16, float16, topk"):
        WireSpec(name=name)


def test_answers_that_are_none_are_refused() -> None:
    answers: Any = "float16"
    with pytest.raises(ValueError, match="float32 or bfloat16"):
        WireSpec(answers=answers)


def test_rounded_answers_are_refused_where_trainers_update_by_themselves(start_pservers: Start) -> None:
    spec = update("sgd", mode=ModeSpec(name="average", k_steps=2))
    exchange = start_pservers().exchange(0, wire=WIRES["answers rounded"])
    with pytest.raises(Refused, match=r"--wire_answers=bfloat16 does not go with the mode 'average'"):
        exchange.start(MODEL[:1], spec, values_of(MODEL[:1], 0))
    exchange.close("refused")


def rounded(values: np.ndarray) -> list[int]:
    return bfloat16_twin(values.reshape(-1), np.zeros(values.size, np.float32))[0].tolist()


def upper(values: np.ndarray) -> list[int]:
    """The halves of numbers that have no more."""
    bits = values.reshape(-1).view(np.uint32)
    assert not (bits & 0xFFFF).any()
    return (bits >> 16).tolist()


@pytest.mark.parametrize("ports", [1, 3])
def test_a_trainer_computes_with_rounded_parameters_and_tests_and_saves_those_that_are_kept(
    start_pservers: Start, ports: int
) -> None:
    spec, exact = update("momentum"), LocalExchange()
    own = exact.start(MODEL, spec, values_of(MODEL, 0))

    def run(exchange: RemoteExchange) -> None:
        arrays = exchange.start(MODEL, spec, values_of(MODEL, 0))
        for step in range(3):
            gradients = gradients_of(MODEL, step)
            ids = {name: np.unique(g.ids) for name, g in gradients.items() if isinstance(g, SparseRows)}
            exchange.prefetch(ids)
            exact.prefetch(ids)
            for name, rows in ids.items():
                assert upper(arrays[name][rows]) == rounded(own[name][rows])
            exchange.step(gradients, 1)
            exact.step(gradients, 1)
            for name in own.keys() - ids.keys():
                assert upper(arrays[name]) == rounded(own[name])
        exchange.fetch()
        exact.fetch()
        assert_same(arrays, own)
        exchange.step(gradients, 1)
        exact.step(gradients, 1)
        exchange.end_pass(0)
        for name in own.keys() - ids.keys():
            assert arrays[name].tobytes() == own[name].tobytes()

    start_pservers(1, ports, 2).train(run, wire=WIRES["answers rounded"])


@pytest.mark.parametrize("share", [0.0, -1.0, 1.01, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        WireSpec(name="topk", share=share)


@pytest.mark.parametrize("mode", [ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)])
@pytest.mark.parametrize("wire", ["bfloat16", "float16", "topk"])
def test_one_trainer_that_waits_for_nobody_equals_one_process(
    start_pservers: Start, wire: str, mode: ModeSpec
) -> None:
    pservers = start_pservers(1, 2, 1)
    result = pservers.train(trainer(0, update("momentum", mode=mode)), wire=WIRES[wire])[0]
    assert_same(result, locally(WIRES[wire], update("momentum"), trainers=1))


LOCAL = [
    ModeSpec(name="geo", k_steps=2),
    ModeSpec(name="average", k_steps=2),
    ModeSpec(name="average", k_steps=2, is_async=True),
    ModeSpec(name="elastic_average", k_steps=2),
]
MERGED = ModeSpec(name="half_async", max_merge_var_num=2, merge="mean")


@pytest.mark.parametrize(
    ("wire", "mode"),
    [
        *((WIRES[wire], mode) for wire in ("bfloat16", "float16") for mode in (*LOCAL, MERGED)),
        (WireSpec(name="topk", share=0.25), MERGED),
    ],
    ids=str,
)
def test_trainers_that_merge_or_update_by_themselves_learn_what_each_knows_half_of(
    start_pservers: Start, wire: WireSpec, mode: ModeSpec
) -> None:
    # so small that a whole pass of one, while the other stands still, moves them a quarter of the way only
    spec = replace(update("sgd", mode=mode), schedule=ScheduleSpec(learning_rate=0.015))
    model = (ParameterSpec(name="w", shape=(50, 40)), ParameterSpec(name="t", shape=(12, 3), sparse=True))
    goals = [values_of(model, seed) for seed in (1, 2)]

    def learn(id: int) -> Callable[[RemoteExchange], dict[str, np.ndarray]]:
        def run(remote: RemoteExchange) -> dict[str, np.ndarray]:
            exchange = in_mode(remote, mode, 2)
            arrays = exchange.start(model, spec, values_of(model, 0))
            ids = np.arange(12)
            for pass_id in range(10):
                exchange.begin_pass(pass_id)
                for _ in range(20):
                    exchange.prefetch({"t": ids})
                    rows = SparseRows(ids, arrays["t"] - goals[id]["t"], 12)
                    exchange.step({"w": arrays["w"] - goals[id]["w"], "t": rows}, 1)
                exchange.end_pass(pass_id)
            exchange.fetch()
            return {name: array.copy() for name, array in arrays.items()}

        return run

    pservers = start_pservers(1, 2, 1, num_gradient_servers=2)
    first, second = pservers.train(learn(0), learn(1), wire=wire)
    assert_same(first, second)
    for name in first:
        before = values_of(model, 0)[name]
        between_both = (goals[0][name] + goals[1][name]) / 2
        ratio = abs(first[name] - between_both).mean() / abs(before - between_both).mean()
        assert ratio < 0.3, name


def test_what_a_wire_saves_is_seen(start_pservers: Start) -> None:
    model, values = (ParameterSpec(name="w", shape=(100, 1000)),), np.ones((100, 1000), np.float32)

    def ten_steps(exchange: RemoteExchange) -> None:
        exchange.start(model, update("sgd"), {"w": values})
        for _ in range(10):
            exchange.step({"w": values}, 1)

    received = {}
    for wire in (WireSpec(), WIRES["bfloat16"], WireSpec(name="topk", share=0.01)):
        pservers = start_pservers()
        pservers.train(ten_steps, wire=wire)
        assert pservers.statuses() == [0]
        (hub,) = pservers.hubs
        traffic = pservers.call(hub.report).traffic
        received[wire.name] = traffic.received - values.nbytes  # the initial values, always float32
        assert traffic.sent > 10 * values.nbytes
    assert 10 * values.nbytes < received["float32"] < 10.1 * values.nbytes
    assert 0.49 < received["bfloat16"] / received["float32"] < 0.51
    assert received["topk"] / received["float32"] < 0.025


def test_what_rounded_answers_save_is_seen(start_pservers: Start) -> None:
    model, values = (ParameterSpec(name="w", shape=(100, 1000)),), np.ones((100, 1000), np.float32)

    def ten_steps(exchange: RemoteExchange) -> None:
        exchange.start(model, update("sgd"), {"w": values})
        for _ in range(10):
            exchange.step({"w": values}, 1)

    pservers = start_pservers()
    pservers.train(ten_steps, wire=WIRES["answers rounded"])
    sent = pservers.call(pservers.hubs[0].report).traffic.sent - values.nbytes  # the first pull is exact
    assert 0.49 < sent / (10 * values.nbytes) < 0.51
