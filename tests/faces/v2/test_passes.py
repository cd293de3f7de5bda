"""Passes on and off: whatever is fused, and however updates are applied, a model of each kind learns the
same. That each plan of any test gives the same in one run is compared where it is made (tests/plain).

Tolerance: kernels of fused operators state theirs, 3e-7 for one value; what a few steps make of it stays
within 1e-4 of a cost. Where nothing but order and place changes, the costs are the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.passes import Improved, descent, prune
from paddle._engine.passes.setting import Setting
from paddle._engine.program import Operator

from .small_models import MODELS, rows_of

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: paddle.optimizer.Momentum(momentum=0.0, learning_rate=0.01),
    "adagrad": lambda: paddle.optimizer.AdaGrad(
        learning_rate=0.01, regularization=paddle.optimizer.L2Regularization(1e-3)
    ),
}
SAME_BITS = ("linear_regression", "adagrad")
"""Nothing is fused here but updates, in which no bit differs."""
STEPS, BATCH = 6, 8


@contextmanager
def no_passes() -> Iterator[None]:
    """Only what nobody wants is left out; every parameter is updated by itself. Some plan must be made
    within: one that was made before has been through the passes."""
    plans: list[Sequence[Operator]] = []

    def pruned(operators: Sequence[Operator], setting: Setting) -> Improved:
        plans.append(operators)
        return Improved(prune(operators, setting.keep))

    with (
        mock.patch("paddle._engine.plan.improve", pruned),
        mock.patch("paddle._pserver.trainer.local.LocalExchange.room", lambda exchange: {}),
    ):
        yield
    assert plans, "no plan was made without passes"


@contextmanager
def all_passes(seen: list[Operator]):
    """With the gradients of small parameters, too, subtracted at once."""
    from paddle._engine import plan

    improve = plan.improve

    def watched(operators: Any, setting: Any) -> Any:
        better = improve(operators, setting)
        seen.extend(better.operators)
        return better

    with mock.patch.object(plan, "improve", watched), mock.patch.object(descent, "LEAST", 1):
        yield


def learned(model: str, optimizer: str) -> tuple[list[float], dict[str, np.ndarray]]:
    """The cost of every batch, and the parameters after the last."""
    paddle.init(use_gpu=False, trainer_count=1, seed=5)
    cost = MODELS[model]()
    parameters = paddle.parameters.create(cost)
    for name in parameters:
        values = np.random.default_rng(len(name)).normal(0, 0.3, parameters.get_shape(name))
        parameters.set(name, values.astype(np.float32))
    trainer = paddle.trainer.SGD(cost, parameters, OPTIMIZERS[optimizer]())
    rows = rows_of(paddle.topology.Topology(cost).data_type(), STEPS * BATCH, seed=3)
    costs: list[float] = []

    def note(event: Any) -> None:
        if isinstance(event, paddle.event.EndIteration):
            costs.append(event.cost)

    trainer.train(paddle.batch(lambda: iter(rows), BATCH), event_handler=note)
    return costs, {name: parameters.get(name) for name in parameters}


def fresh_names() -> None:
    from paddle.v2 import config_base

    config_base._names_given.clear()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_model_learns_the_same_with_all_passes_and_with_none(model: str, optimizer: str) -> None:
    seen: list[Operator] = []
    with no_passes():
        plain, parameters = learned(model, optimizer)
    fresh_names()
    with all_passes(seen):
        improved, moved = learned(model, optimizer)
    assert np.isfinite(plain).all() and len(plain) == STEPS
    if (model, optimizer) == SAME_BITS:
        assert improved == plain
    np.testing.assert_allclose(improved, plain, rtol=1e-4)
    for name, values in parameters.items():
        np.testing.assert_allclose(moved[name], values, rtol=1e-3, atol=2e-5)


EXPECTED = {
    "digits": {
        "bias_activation",
        "bias_activation_grad",
        "bias_softmax_cost",
        "bias_softmax_cost_grad",
        "descend",
    },
    "word2vec": {"lookup_beside", "lookup_beside_grad", "descend"},
    "word2vec_dense": {"lookup_beside", "lookup_beside_grad"},
    "click_rate": {"lookup_beside", "lookup_beside_grad", "concat", "concat_grad"},
    "bag_of_words": {"lookup_pool", "lookup_pool_grad"},
    "text_windows": {"bias_activation"},
}


@pytest.mark.parametrize("model", EXPECTED)
def test_what_these_models_are_there_to_fuse_is_fused(model: str) -> None:
    seen: list[Operator] = []
    with all_passes(seen):
        learned(model, "sgd")
    assert EXPECTED[model] <= {operator.type for operator in seen}
