"""The learning rate that trainers tell with a step, in the place of what a schedule says."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import RateMismatch, TrainerLost
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.pserver.conftest import Start

MODEL = (ParameterSpec(name="w", shape=(3,)), ParameterSpec(name="t", shape=(4, 2), sparse=True))
PLAIN = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=100.0))
VALUES = {"w": np.zeros(3, np.float32), "t": np.zeros((4, 2), np.float32)}
GRADIENTS = {
    "w": np.ones(3, np.float32),
    "t": SparseRows(np.array([1]), np.ones((1, 2), np.float32), 4),
}


def test_a_local_step_is_as_long_as_it_is_told() -> None:
    exchange = LocalExchange()
    arrays = exchange.start(MODEL, PLAIN, VALUES)
    exchange.step(GRADIENTS, 1, rate=0.5)
    exchange.step(GRADIENTS, 1, rate=0.25)
    exchange.fetch()
    assert arrays["w"].tolist() == [-0.75] * 3
    assert arrays["t"].tolist() == [[0, 0], [-0.75, -0.75], [0, 0], [0, 0]]


def test_a_rate_that_is_no_number_is_refused_before_anything_is_lost() -> None:
    exchange = LocalExchange()
    exchange.start(MODEL, PLAIN, VALUES)
    with pytest.raises(ExchangeError, match="learning rate of this step is nan"):
        exchange.step(GRADIENTS, 1, rate=float("nan"))


def test_in_step_all_tell_one_rate_and_shards_update_by_it(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=1, ports_num_for_sparse=1, num_gradient_servers=2)

    def train(exchange: RemoteExchange) -> list[float]:
        arrays = exchange.start(MODEL, PLAIN, VALUES)
        exchange.step(GRADIENTS, 1, rate=0.5)
        exchange.fetch()
        return [*arrays["w"].tolist(), *arrays["t"][1].tolist()]

    assert pservers.train(train, train) == [[-1.0] * 5] * 2


def test_in_step_two_rates_break_the_job_and_both_are_named(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    dense = MODEL[:1]

    def train(exchange: RemoteExchange, rate: float) -> str:
        exchange.start(dense, PLAIN, VALUES)
        with pytest.raises((RateMismatch, TrainerLost)) as error:
            exchange.step({"w": GRADIENTS["w"]}, 1, rate=rate)
        return str(error.value)

    told = pservers.train(lambda each: train(each, 0.5), lambda each: train(each, 0.125))
    for each in told:
        assert "trainers 0 and 1 tell different learning rates for step 1: 0.5 and 0.125" in each


def test_out_of_step_each_has_its_own(start_pservers: Start) -> None:
    pservers = start_pservers(num_gradient_servers=2)
    update = UpdateSpec(rule=PLAIN.rule, schedule=PLAIN.schedule, mode=ModeSpec(name="async"))

    def train(exchange: RemoteExchange, rate: float) -> float:
        arrays = exchange.start(MODEL[:1], update, VALUES)
        exchange.step({"w": GRADIENTS["w"]}, 1, rate=rate)
        exchange.end_pass(0)
        return float(arrays["w"][0])

    assert pservers.train(lambda each: train(each, 0.5), lambda each: train(each, 0.125)) == [-0.625] * 2


@pytest.mark.parametrize(("name", "moved"), [("geo", -0.75), ("half_async", -0.5)])
def test_who_updates_or_merges_by_itself_goes_by_what_it_is_told(
    start_pservers: Start, name: str, moved: float
) -> None:
    pservers = start_pservers()
    mode = ModeSpec(name=name, k_steps=2, max_merge_var_num=2)  # type: ignore[arg-type]
    update = UpdateSpec(rule=PLAIN.rule, schedule=PLAIN.schedule, mode=mode)

    def train(remote: RemoteExchange) -> float:
        exchange = in_mode(remote, mode, 1)
        arrays = exchange.start(MODEL[:1], update, VALUES)
        for rate in (0.5, 0.25):
            exchange.step({"w": GRADIENTS["w"]}, 1, rate=rate)
        exchange.fetch()
        return float(arrays["w"][0])

    assert pservers.train(train) == [moved]
