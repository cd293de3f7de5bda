"""Programs of a cluster, trained by several trainers on several servers, beside the same program alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from paddle._program.errors import BadFeed
from paddle._pserver.errors import JobFailed
from paddle.fluid import optimizer, transpiler, unique_name
from paddle.fluid.executor import Executor, Scope
from paddle.fluid.framework import Program, program_guard
from paddle.fluid.layer_helper import LayerHelper
from paddle.fluid.layers import data, fc, mean, square_error_cost
from paddle.fluid.layers.learning_rate_scheduler import exponential_decay
from paddle.fluid.param_attr import ParamAttr
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

WORDS, TRAINERS = 60, 2
Made = tuple[Program, Program, Any]


def decayed() -> Any:
    return optimizer.SGD(learning_rate=exponential_decay(0.1, decay_steps=2, decay_rate=0.5))


def network(made: Callable[[], Any], **traits: Any) -> Made:
    main, startup = Program(), Program()
    startup.random_seed = 3
    with unique_name.guard(), program_guard(main, startup):
        word, label = data(name="w", shape=[1], dtype="int64"), data(name="y", shape=[1], dtype="float32")
        helper = LayerHelper("embedding", param_attr=ParamAttr(name="emb", learning_rate=2.0))
        table = helper.create_parameter(attr=helper.param_attr, shape=[WORDS, 6], dtype="float32")
        rows = helper.create_variable_for_type_inference("float32")
        helper.append_op(
            type="lookup_table",
            inputs={"Ids": word, "W": table},
            outputs={"Out": rows},
            attrs={"padding_idx": -1, **traits},
        )
        loss = mean(
            square_error_cost(input=fc(input=fc(input=rows, size=4, act="tanh"), size=1), label=label)
        )
        made().minimize(loss)
    return main, startup, loss


def batches(id: int, trainers: int, steps: int = 4) -> list[dict[str, np.ndarray]]:
    random, share = np.random.default_rng(1), 16 // trainers
    words = [random.integers(0, WORDS, (16, 1))[id * share : (id + 1) * share] for _ in range(steps)]
    return [{"w": each, "y": (each % 5).astype(np.float32)} for each in words]


def train(made: Made, own: list[dict[str, np.ndarray]]) -> tuple[list[float], dict[str, np.ndarray]]:
    main, startup, loss = made
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    losses = [executor.run(main, feed=each, fetch_list=[loss], scope=scope)[0].item() for each in own]
    names = ("emb", "fc_0.w_0", "fc_1.b_0")
    values = {name: np.array(scope.find_var(name).get_tensor()) for name in names}
    executor.close()
    return losses, values


def transpiled(id: int, names: list[str], made: Made, sync: bool, **options: Any) -> Made:
    config = transpiler.DistributeTranspilerConfig()
    vars(config).update(options)
    turned, pservers = transpiler.DistributeTranspiler(config), ",".join(names)
    turned.transpile(id, made[0], pservers, TRAINERS, sync_mode=sync, startup_program=made[1])
    return turned.get_trainer_program(), made[1], made[2]


def job(
    works: Callable[[int, Made], Any], made: Callable[[], Made], endpoints: Endpoints, **options: Any
) -> list[Any]:
    """What each trainer's work gave, or how it ended."""
    results: list[Future[Any]] = [Future() for _ in range(TRAINERS)]
    programs = [
        transpiled(id, endpoints.names, made(), **{"sync": True, **options}) for id in range(TRAINERS)
    ]

    def run(id: int) -> None:
        try:
            results[id].set_result(works(id, programs[id]))
        except BaseException as error:
            results[id].set_result(error)

    for id in range(TRAINERS):
        threading.Thread(target=run, args=(id,), daemon=True).start()
    return [result.result(TIMEOUT_S) for result in results]


@pytest.mark.parametrize("traits", [{}, {"is_sparse": True}, {"is_sparse": True, "is_distributed": True}])
@pytest.mark.parametrize(
    "made", [lambda: optimizer.Adam(0.01), lambda: optimizer.Momentum(0.1, 0.9), decayed]
)
def test_in_step_every_rule_and_schedule_equals_one_process(
    made: Callable[[], Any], traits: dict[str, Any]
) -> None:
    losses, values = train(network(made, **traits), batches(0, 1))
    endpoints = Endpoints(2, TRAINERS)
    found = job(
        lambda id, program: train(program, batches(id, TRAINERS)), lambda: network(made, **traits), endpoints
    )
    np.testing.assert_allclose(np.mean([each for each, _ in found], axis=0), losses, rtol=1e-6)
    for name, value in values.items():
        np.testing.assert_allclose(found[0][1][name], value, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(found[0][1][name], found[1][1][name])
    assert endpoints.outcomes() == [True, True]


@pytest.mark.parametrize(
    "options", [{"sync": False}, {"geo_sgd_mode": True, "geo_sgd_need_push_nums": 4}], ids=["async", "geo"]
)
def test_out_of_step_it_learns_what_one_process_learns(options: dict[str, Any]) -> None:
    """The band: no better than one process at twice the rate, as each of two trainers' steps counts for
    itself, and no worse than one at the rate itself, where a trainer's own steps are all that it has had: as
    fast as the other is, or slow, it lies between. Batches are halves, hence the margins."""

    def made(rate: float = 0.05) -> Made:
        return network(lambda: optimizer.SGD(rate), is_sparse=True)

    losses, _ = train(made(), batches(0, 1, 60))
    twice, _ = train(made(2 * 0.05), batches(0, 1, 60))
    endpoints = Endpoints(1, TRAINERS)
    found = job(lambda id, program: train(program, batches(id, TRAINERS, 60)), made, endpoints, **options)
    reached = np.mean([each[-10:] for each, _ in found])
    assert reached < 0.5 * losses[0]
    assert 0.5 * np.mean(twice[-10:]) < reached < 1.15 * np.mean(losses[-10:])
    assert endpoints.outcomes() == [True]


def test_an_error_that_was_overcome_is_none_and_one_that_was_not_is_told_to_the_others() -> None:
    def made() -> Made:
        return network(lambda: optimizer.SGD(0.05))

    def overcomes(id: int, program: Made) -> Any:
        own = batches(id, TRAINERS)
        executor, scope = Executor(), Scope()
        executor.run(program[1], scope=scope)
        for each in own:
            executor.run(program[0], feed=each, scope=scope)
            if id:
                with pytest.raises(BadFeed):
                    executor.run(program[0], feed={"w": each["w"]}, scope=scope)
        executor.run(program[0], feed=own[0], scope=scope)
        executor.close()

    endpoints = Endpoints(1, TRAINERS)
    assert job(overcomes, made, endpoints) == [None, None]
    assert endpoints.outcomes() == [True]

    def fails(id: int, program: Made) -> Any:
        executor, scope = Executor(), Scope()
        executor.run(program[1], scope=scope)
        try:
            for each in [*batches(id, TRAINERS), *[{}] * id]:
                executor.run(program[0], feed=each, scope=scope)
            executor.run(program[0], feed=batches(id, TRAINERS)[0], scope=scope)
        finally:
            executor.close()

    endpoints = Endpoints(1, TRAINERS)
    first, second = job(fails, made, endpoints)
    assert isinstance(second, BadFeed)
    assert "trainer 1 at" in str(first)
    assert "BadFeed: the feed lacks" in str(first)
    with pytest.raises(JobFailed, match="BadFeed: the feed lacks"):
        endpoints.outcomes()
