"""Learning rates of a job: who counts what they fall by."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._fleet.fleet import Fleet
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy
from paddle.fluid.layers.learning_rate_scheduler import exponential_decay
from paddle.fluid.transpiler import DistributeTranspiler
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

lr = paddle.optimizer.lr
Made = tuple[Any, Any, Any]


def strategy(a_sync: bool, **configs: Any) -> DistributedStrategy:
    made = DistributedStrategy()
    made.a_sync = a_sync
    made.a_sync_configs = configs
    return made


def falling(
    rate: Any, told: DistributedStrategy, names: list[str], id: int = 0, workers: int = 1, face: Any = None
) -> Made:
    """A program whose one parameter falls by the learning rate in each step, and its fleet."""
    fleet = Fleet().init(UserDefinedRoleMaker(current_id=id, worker_num=workers, server_endpoints=names))
    main, startup = fluid.Program(), fluid.Program()
    paddle.enable_static()
    try:
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            x = fluid.layers.data(name="x", shape=[1], dtype="float32")
            loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="w", bias_attr=False))
            face = face or (paddle if isinstance(rate, lr.LRScheduler) else fluid)
            fleet.distributed_optimizer(face.optimizer.SGD(rate), told).minimize(loss)
    finally:
        paddle.disable_static()
    return main, startup, fleet


def rates(made: Made, steps: int, each: Any = lambda: None) -> list[float]:
    """At which rates its steps are taken."""
    main, startup, _ = made
    executor, scope = fluid.Executor(), fluid.Scope()
    executor.run(startup, scope=scope)
    found = []
    for _ in range(steps + 1):
        fetched = executor.run(main, {"x": np.ones((1, 1), "float32")}, ["w"], scope=scope)
        found.append(float(fetched[0].item()))
        each()
    executor.close()
    return [round(float(gone), 4) for gone in -np.diff(found)]


def test_servers_let_a_schedule_fall_that_nobody_steps() -> None:
    with pytest.warns(UserWarning, match=r"ExponentialDecay: the servers count .* every 3"):
        made = falling(lr.ExponentialDecay(1.0, 0.5), strategy(True, lr_decay_steps=3), Endpoints(1).names)
    assert rates(made, 7) == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_an_optimizer_of_fluid_takes_a_schedule_of_2x() -> None:
    with pytest.warns(UserWarning, match="ExponentialDecay: the servers count"):
        made = falling(
            lr.ExponentialDecay(1.0, 0.5), strategy(True, lr_decay_steps=2), Endpoints(1).names, face=fluid
        )
    assert rates(made, 4) == [1.0, 0.5, 0.5, 0.25]
    schedule, main, startup = lr.StepDecay(0.5, step_size=2), fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = fluid.layers.mean(
            fluid.layers.fc(fluid.layers.data("x", [1]), 1, param_attr="w", bias_attr=False)
        )
        fluid.optimizer.SGD(schedule).minimize(loss)
    assert rates((main, startup, None), 5, schedule.step) == [0.5, 0.05, 0.05, 0.005, 0.005]


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        (lr.NaturalExpDecay(1.0, 0.5), [1.0, 0.6065, 0.6065, 0.3679]),
        (lr.InverseTimeDecay(1.0, 1.0), [1.0, 0.5, 0.5, 0.3333]),
        (lr.NoamDecay(4, 2, 2.0), [0.7071, 0.5774, 0.5, 0.4472]),
    ],
)
def test_servers_know_four_schedules(schedule: Any, steps: list[float]) -> None:
    with pytest.warns(UserWarning):
        made = falling(schedule, strategy(True, lr_decay_steps=2), Endpoints(1).names)
    assert rates(made, 4) == steps


def test_in_step_the_steps_of_all_workers_are_counted() -> None:
    endpoints, told = Endpoints(1, 2), strategy(False, lr_decay_steps=4)
    with pytest.warns(UserWarning):
        jobs = [falling(lr.ExponentialDecay(1.0, 0.5), told, endpoints.names, id, 2) for id in range(2)]
    found: list[Future[list[float]]] = [Future() for _ in jobs]
    for made, future in zip(jobs, found, strict=True):
        threading.Thread(target=lambda m=made, f=future: f.set_result(rates(m, 5)), daemon=True).start()
    for future in found:
        assert future.result(TIMEOUT_S) == [1.0, 0.5, 0.5, 0.25, 0.25]


def test_a_schedule_that_servers_do_not_know_is_stepped_and_the_program_is_told() -> None:
    schedule = lr.PiecewiseDecay([2], [1.0, 0.5])
    with pytest.warns(UserWarning, match="PiecewiseDecay is not a schedule that servers know"):
        made = falling(schedule, strategy(True), Endpoints(1).names)
    assert rates(made, 3, schedule.step) == [1.0, 0.5, 0.5]


def test_with_0_decay_steps_and_in_geo_the_program_drives_it() -> None:
    for told in (strategy(True, lr_decay_steps=0), strategy(True, k_steps=2)):
        schedule = lr.ExponentialDecay(1.0, 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = falling(schedule, told, Endpoints(1).names)
        assert rates(made, 3, schedule.step) == [0.5, 0.25, 0.125]


def counter_step(main: Any) -> float:
    return next(float(op.attr("step")) for op in main.global_block().ops if op.type == "increment")


def test_where_nobody_waits_a_counter_of_operators_counts_for_all() -> None:
    names = ["127.0.0.1:6170"]
    for is_async, step in ((True, 3.0), (False, 1.0)):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            x = fluid.layers.data(name="x", shape=[1], dtype="float32")
            loss = fluid.layers.mean(fluid.layers.fc(x, 1))
            fluid.optimizer.SGD(exponential_decay(1.0, 10, 0.5)).minimize(loss)
            turned = DistributeTranspiler()
            turned.transpile(1, main, names[0], trainers=3, sync_mode=not is_async)
        assert counter_step(turned.get_trainer_program()) == step
