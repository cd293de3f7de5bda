"""Parameters that one program trains on servers, and another one reads: a GAN's, a teacher's."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.carrier import Carrier, Cluster
from paddle.fluid import layers
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

ROWS = np.arange(8, dtype=np.float32).reshape(4, 2) / 8


class Job:
    """``w`` is trained by a program of its own, ``v`` by one that multiplies both."""

    def __init__(self, carrier: Carrier | None = None) -> None:
        self._carrier, self._executor, self._scope = carrier, fluid.Executor(), fluid.Scope()
        self._first, self._both, startup = fluid.Program(), fluid.Program(), fluid.Program()
        one = fluid.initializer.Constant(1.0)
        with fluid.unique_name.guard():
            with fluid.program_guard(self._first, startup):
                made = layers.fc(fluid.data("x", [None, 2]), 2, param_attr=fluid.ParamAttr("w", one))
                self._first_loss = self._trained(made, ["w"])
            with fluid.program_guard(self._both, startup):
                made = layers.fc(fluid.data("x", [None, 2]), 2, param_attr=fluid.ParamAttr("w", one))
                made = layers.fc(made, 1, param_attr=fluid.ParamAttr("v", one), bias_attr=False)
                self._loss = self._trained(made, ["v"])
        self._executor.run(startup, scope=self._scope)

    def _trained(self, made: Any, names: list[str]) -> Any:
        loss = layers.mean(layers.square(made - 3.0))
        fluid.optimizer.SGD(0.1).minimize(loss, parameter_list=names)
        program = fluid.default_main_program()
        program._carrier = self._carrier
        return loss

    def train_the_first(self) -> None:
        self._executor.run(self._first, {"x": ROWS}, [], scope=self._scope)

    def loss(self) -> float:
        found: Any = self._executor.run(self._both, {"x": ROWS}, [self._loss], scope=self._scope)[0]
        return float(found.item())


def test_it_reads_them_once_the_step_of_all_trainers_is_over() -> None:
    alone = Job()
    expected = [(alone.train_the_first(), alone.loss())[1] for _ in range(3)]
    endpoints = Endpoints(1, trainers=2)
    carriers = [
        Carrier(Cluster(endpoints=tuple(endpoints.names), trainers=2, trainer_id=number))
        for number in range(2)
    ]
    jobs = [Job(carrier) for carrier in carriers]
    goes_on, other = threading.Semaphore(0), Future[list[float]]()

    def be_the_other() -> None:
        """One that comes to a step when the first trainer already has left its own."""
        found = []
        for _ in range(3):
            assert goes_on.acquire(timeout=TIMEOUT_S)
            jobs[1].train_the_first()
            found.append(jobs[1].loss())
        other.set_result(found)

    threading.Thread(target=be_the_other, daemon=True).start()
    found = []
    for _ in range(3):
        jobs[0].train_the_first()
        goes_on.release()
        found.append(jobs[0].loss())
    assert found == pytest.approx(expected, rel=1e-6)
    assert other.result(TIMEOUT_S) == pytest.approx(expected, rel=1e-6)
    for carrier in carriers:
        carrier.close()
    assert endpoints.outcomes() == [True]
