"""Pruned parameters, by the original's names: zero from the first step to the file that is saved."""

import io

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle.v2.attr import HookAttribute

RATIO = 0.6
ROWS = [([0.1 * i, 1.0 - 0.2 * i, 0.5, -0.3 * i], [0.7 * i]) for i in range(6)]
OPTIMIZERS = {
    "momentum": lambda: paddle.optimizer.Momentum(momentum=0.9, learning_rate=0.01),
    "adam": lambda: paddle.optimizer.Adam(learning_rate=0.01),
    "decay": lambda: paddle.optimizer.AdaGrad(
        learning_rate=0.01, regularization=paddle.optimizer.L2Regularization(0.1)
    ),
}


def network(hook):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    attr = paddle.attr.Param(name="w", update_hooks=hook, initial_std=0.5)
    hidden = paddle.layer.fc(input=x, size=5, param_attr=attr, bias_attr=False)
    out = paddle.layer.fc(input=hidden, size=1, act=paddle.activation.Linear(), name="out")
    return paddle.layer.square_error_cost(input=out, label=y)


@pytest.mark.parametrize("rule", sorted(OPTIMIZERS))
def test_the_smallest_are_zero_from_the_start_and_the_others_learn(rule):
    paddle.init(seed=5)
    cost = network(paddle.attr.Hook("pruning", sparsity_ratio=RATIO))
    parameters = paddle.parameters.create(cost)
    before = parameters.get("w")
    stays = np.abs(before) >= np.sort(np.abs(before), axis=None)[-8]
    assert stays.sum() == 8  # of 20
    trainer = paddle.trainer.SGD(cost, parameters, OPTIMIZERS[rule]())
    costs = []

    def handler(event):
        if isinstance(event, paddle.event.EndIteration):
            costs.append(event.cost)
            assert (parameters.get("w")[~stays] == 0).all()

    trainer.train(lambda: iter([ROWS[:3], ROWS[3:]]), num_passes=3, event_handler=handler)
    after = parameters.get("w")
    assert (after[stays] != before[stays]).all()
    assert costs[-1] < costs[1]
    trainer.test(lambda: iter([ROWS]))
    file = io.BytesIO()
    trainer.save_parameter_to_tar(file)
    file.seek(0)
    saved = paddle.parameters.Parameters.from_tar(file)
    assert saved.get("w").tobytes() == after.tobytes()
    assert sorted(saved.names()) == sorted(parameters.names())


def test_a_step_is_that_of_a_network_whose_other_values_are_zero():
    """Its twin by hand: plain descent, of which what was pruned takes no part."""
    paddle.init(seed=5)
    cost = network(paddle.attr.Hook("pruning", sparsity_ratio=RATIO))
    parameters = paddle.parameters.create(cost)
    w, u, b = (parameters.get(name).astype(np.float64) for name in ("w", "_out.w0", "_out.wbias"))
    stays = np.abs(w) >= np.sort(np.abs(w), axis=None)[-8]
    w = np.where(stays, w, 0)
    x, y = (np.array(column, np.float64) for column in zip(*ROWS, strict=True))
    h = np.tanh(x @ w)
    error = 2 * (h @ u + b - y)
    gradient = x.T @ (error @ u.T * (1 - h**2)) * stays
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.01))
    trainer.train(lambda: iter([ROWS]), num_passes=1)
    np.testing.assert_allclose(parameters.get("w"), w - 0.01 * gradient, rtol=1e-5, atol=1e-8)


def test_what_the_hook_says_is_where_the_original_has_it():
    assert paddle.attr.Hook is paddle.attr.HookAttr is paddle.attr.HookAttribute is HookAttribute
    config, _ = paddle.attr.Param(update_hooks=[HookAttribute("pruning")]).configure("w", [2, 2])
    (hook,) = config.update_hooks
    assert (hook.type, hook.sparsity_ratio) == ("pruning", 0.6)
    by_hand = b"\xa2\x01\x09\x0a\x07pruning"
    assert by_hand in config.SerializeToString()


def test_a_hook_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"sparsity_ratio is from 0 to 1, not 1\.5"):
        HookAttribute("pruning", sparsity_ratio=1.5)
    with pytest.raises(ValueError, match="more than one hook"):
        paddle.attr.Param(update_hooks=[HookAttribute("pruning")] * 2)
