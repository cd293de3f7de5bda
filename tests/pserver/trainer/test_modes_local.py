"""Modes in which trainers update by themselves, through real pservers. What they guarantee, event by event:
tests/pserver/oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.engine.rules.rule_twins import OPTIONS

from ..conftest import Pservers, Start, values_of

MODEL = (ParameterSpec(name="w", shape=(3, 2)), ParameterSpec(name="t", shape=(5, 2), sparse=True))
VALUES = values_of(MODEL, 0)
RATE = 0.25
RULES = {name: RuleSpec(name=name, options=OPTIONS[name]) for name in ("sgd", "adagrad")}

Step = tuple[int, list[int]]
"""A gradient: its value everywhere, and the rows of t that it touches."""

NOT_IN_STEP = st.one_of(
    st.builds(ModeSpec, name=st.just("geo"), k_steps=st.integers(1, 3)),
    st.builds(
        ModeSpec,
        name=st.sampled_from(["average", "elastic_average"]),
        k_steps=st.integers(1, 3),
        delta_add_rate=st.sampled_from([0.5, 1.0]),
        is_async=st.just(True),
    ),
)


def update(mode: ModeSpec, rule: str | RuleSpec = "sgd") -> UpdateSpec:
    spec = RULES[rule] if isinstance(rule, str) else rule
    return UpdateSpec(rule=spec, schedule=ScheduleSpec(learning_rate=RATE), mode=mode)


def gradient(step: Step) -> dict[str, np.ndarray | SparseRows]:
    value, ids = step
    rows = np.full((len(ids), 2), value, np.float32)
    return {
        "w": np.full((3, 2), value, np.float32),
        "t": SparseRows(np.array(ids, np.int64), rows, MODEL[1].shape[0]),
    }


def joined(
    pservers: Pservers, mode: ModeSpec, rule: str | RuleSpec = "sgd"
) -> list[tuple[Exchange, Mapping[str, Any]]]:
    """All trainers of a job, in this thread, each with its arrays."""
    made = []
    for id in range(pservers.num_gradient_servers):
        exchange = in_mode(pservers.exchange(id), mode, pservers.num_gradient_servers)
        made.append((exchange, exchange.start(MODEL, update(mode, rule), VALUES)))
    return made


def look_at(exchange: Exchange, step: Step) -> None:
    exchange.prefetch({"t": np.array(step[1], np.int64)})


def close(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> None:
    for name, array in other.items():
        np.testing.assert_allclose(one[name], array, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("name", ["average", "elastic_average"])
def test_the_number_of_shards_changes_no_bit_where_trainers_wait_for_each_other(
    start_pservers: Start, name: Any
) -> None:
    """Where they do not: test_every_mode.py."""
    mode = ModeSpec(name=name, k_steps=2, delta_add_rate=0.5)
    todo: list[list[Step]] = [
        [(3, [0, 4]), (-2, [1, 1]), (5, [4])],
        [(1, [2]), (7, [0, 1]), (2, []), (4, [3])],
    ]

    def run(id: int) -> Any:
        def train(remote: Any) -> dict[str, bytes]:
            exchange = in_mode(remote, mode, len(todo))
            arrays = exchange.start(MODEL, update(mode, "adagrad"), VALUES)
            for step in todo[id]:
                look_at(exchange, step)
                exchange.step(gradient(step), samples=1)
            exchange.end_pass(0)
            return {name: array.tobytes() for name, array in arrays.items()}

        return train

    shapes = [(1, 1, 1), (2, 2, 2)]
    found = [start_pservers(*shape, num_gradient_servers=2).train(run(0), run(1)) for shape in shapes]
    assert found[0][0] == found[0][1] == found[1][0] == found[1][1]


@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_shards_count_each_sample_once(start_pservers: Start, name: Any) -> None:
    pservers = start_pservers(ports_num=1, ports_num_for_sparse=1)
    ((exchange, _),) = joined(pservers, ModeSpec(name=name, k_steps=2))
    for samples in (1, 2, 4, 8, 16):
        exchange.step(gradient((1, [0])), samples=samples)
    exchange.end_pass(0)
    assert [hub.shard.clocks.samples for hub in pservers.hubs] == [31, 31]
    exchange.close()


def test_one_trainer_that_averages_with_itself_trains_as_if_it_were_alone(start_pservers: Start) -> None:
    mode = ModeSpec(name="average", k_steps=3)
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1)
    ((exchange, arrays),) = joined(pservers, mode, "adagrad")
    alone = LocalExchange()
    expected = alone.start(MODEL, update(ModeSpec(), "adagrad"), VALUES)
    steps: Sequence[Step] = [(3, [0, 4]), (-2, [1, 1]), (5, [4]), (1, [2])]
    for step in steps:
        exchange.step(gradient(step), samples=1)
        alone.step(gradient(step), samples=1)
    exchange.end_pass(0)
    close(arrays, expected)
    exchange.close()


@pytest.mark.parametrize("name", ["average", "elastic_average"])
def test_a_fetch_makes_nobody_wait_and_shows_what_all_shared_last(start_pservers: Start, name: Any) -> None:
    job = joined(
        start_pservers(ports_num_for_sparse=1, num_gradient_servers=2), ModeSpec(name=name, k_steps=2)
    )
    exchange, arrays = job[0]
    exchange.step(gradient((3, [1])), samples=1)
    before = {name: array.copy() for name, array in arrays.items()}
    exchange.fetch()
    close(arrays, VALUES)
    look_at(exchange, (0, []))
    close(arrays, before)
    for each, _ in job:
        each.close()


@pytest.mark.parametrize("name", ["geo", "average", "elastic_average"])
def test_where_nobody_waits_a_fetch_pushes_what_is_not_pushed_yet(start_pservers: Start, name: Any) -> None:
    pservers = start_pservers(ports_num_for_sparse=1)
    mode = ModeSpec(name=name, k_steps=9, is_async=name != "geo")
    ((exchange, arrays),) = joined(pservers, mode)
    exchange.step(gradient((3, [1])), samples=7)
    before = {name: array.copy() for name, array in arrays.items()}
    exchange.fetch()
    close(arrays, before)  # of one trainer all that it moved is the center's
    assert [hub.shard.clocks.samples for hub in pservers.hubs] == [7, 7]
    exchange.close()


@pytest.mark.parametrize("mode", [ModeSpec(name="geo"), ModeSpec(name="ssp", staleness=3)], ids=str)
def test_a_new_process_joins_a_running_job_with_the_parameters_as_they_are(
    start_pservers: Start, mode: ModeSpec
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2, num_gradient_servers=2)
    first, old, new = pservers.exchange(0), pservers.exchange(1), pservers.exchange(1)
    exchange, late = in_mode(first, mode, 2), in_mode(new, mode, 2)
    arrays = exchange.start(MODEL, update(mode), VALUES)
    in_mode(old, mode, 2).start(MODEL, update(mode), VALUES)
    exchange.step(gradient((3, [1, 4])), samples=1)
    for shard in old._shards:
        shard.line.client.close()
    while pservers.call(lambda: any(hub.shard.roster.trainers[1].session for hub in pservers.hubs)):
        pass
    theirs = late.start(MODEL, update(mode), VALUES)
    late.fetch()
    exchange.fetch()
    close(theirs, arrays)
    late.step(gradient((2, [0])), samples=1)
    exchange.fetch()
    late.fetch()
    close(theirs, arrays)
    late.close()
    exchange.close()
