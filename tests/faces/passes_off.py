"""Without passes: plans of what a program says, one operator after another, for a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import numpy as np

from paddle import fluid
from paddle._engine.passes import prune
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Operator

FEW = 6
"""Steps that are compared: what rounds otherwise is told apart from what computes otherwise."""


@contextmanager
def no_passes() -> Iterator[None]:
    """Only what nobody wants is left out; every parameter is updated by itself. Some plan must be made
    within: one that was made before has been through the passes."""
    plans: list[Sequence[Operator]] = []

    def pruned(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
        plans.append(operators)
        return prune(operators, setting.keep)

    with (
        mock.patch("paddle._engine.plan.improve", pruned),
        mock.patch("paddle._pserver.trainer.local.LocalExchange.room", lambda exchange: {}),
    ):
        yield
    assert plans, "no plan was made without passes"


Step = Callable[[fluid.Executor, int], Sequence[np.ndarray]]
"""Runs the step of a number; gives what it fetched, of which the first numbers count."""


def told(step: Step, steps: int) -> np.ndarray:
    """(steps, fetched) of the default fluid program, which has begun; without passes, from the same values in
    a scope of its own, the first few steps tell the same."""
    scope, variables = fluid.global_scope(), fluid.default_main_program().list_vars()
    kept = [v for v in variables if v.persistable and scope.find_var(v.name)]
    values = {v.name: np.array(scope.find_var(v.name).get_tensor()) for v in kept}
    with fluid.scope_guard(fluid.core.Scope()), no_passes():
        fluid.Executor(fluid.CPUPlace()).run(fluid.default_startup_program())
        for name, value in values.items():
            fluid.global_scope().find_var(name).get_tensor().set(value, fluid.CPUPlace())
        plain = _run(step, FEW)
    found = _run(step, steps)
    np.testing.assert_allclose(found[:FEW], plain, rtol=1e-4)
    return found


def _run(step: Step, steps: int) -> np.ndarray:
    """By an executor of its own, by whose steps dropout draws."""
    exe = fluid.Executor(fluid.CPUPlace())
    return np.array(
        [[each.reshape(-1)[0] for each in step(exe, number)] for number in range(steps)], np.float64
    )
