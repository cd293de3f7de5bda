"""Weights that begin in a form or are made of others, attention that writes step by step, and schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle
from paddle._absent import AbsentName
from paddle.optimizer import lr
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

nn = paddle.nn
RNG = np.random.default_rng(3)


def _value(variable: object) -> np.ndarray:
    name = variable.name  # type: ignore[attr-defined]
    return np.asarray(paddle.static.global_scope().find_var(name).get_tensor())


def test_rows_begin_at_right_angles_and_filters_with_their_input() -> None:
    wide = paddle.create_parameter([3, 8], "float32", default_initializer=nn.initializer.Orthogonal(2.0))
    high = paddle.create_parameter([8, 3], "float32", default_initializer=nn.initializer.Orthogonal())
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(2, 3, 5)),), feed)
    same = nn.Conv1D(3, 3, 3, padding=1, weight_attr=nn.initializer.Dirac(), bias_attr=False)(x)
    (found,) = ran([same], feed)
    assert found == pytest.approx(feed[x.name], abs=1e-6)
    assert _value(wide) @ _value(wide).T == pytest.approx(4 * np.eye(3), abs=1e-5)
    assert _value(high).T @ _value(high) == pytest.approx(np.eye(3), abs=1e-5)
    assert nn.initializer.calculate_gain("leaky_relu", 1.0) == pytest.approx(1)
    with pytest.raises(ValueError, match="calculate_gain"):
        nn.initializer.calculate_gain("none")


def test_a_weight_is_a_direction_times_a_length_and_begins_as_it_was() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(4, 3)),), feed)
    layer = nn.Linear(3, 2, weight_attr=paddle.ParamAttr(name="w"))
    before = layer(x)
    nn.utils.weight_norm(layer, dim=1)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_v", "weight_g"]
    (one, other) = ran([before, layer(x)], feed)
    assert one == pytest.approx(other, abs=1e-6)
    assert _value(layer.weight_g) == pytest.approx(
        np.sqrt(np.square(_value(layer.weight_v)).sum(0)), rel=1e-5
    )
    nn.utils.remove_weight_norm(layer)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    assert ran([layer(x)], feed)[0] == pytest.approx(one, abs=1e-6)
    with pytest.raises(ValueError, match="not found"):
        nn.utils.remove_weight_norm(layer)
    with pytest.raises(AbsentName, match="an optimizer clips"):
        _ = nn.utils.clip_grad_norm_


def test_a_weight_over_its_largest_singular_value_has_one_of_1() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=20)
    layer(paddle.zeros([1, 4]))
    whole = paddle.static.nn.spectral_norm(layer.weight_orig, 1, 20)
    normed, same = ran([layer.weight, whole], {})
    assert np.linalg.svd(normed)[1][0] == pytest.approx(1, rel=1e-3)
    assert same == pytest.approx(normed, abs=2e-3)


def test_one_position_after_another_gives_what_all_at_once_give() -> None:
    feed: dict[str, np.ndarray] = {}
    x, memory = data((RNG.normal(size=(2, 3, 8)), RNG.normal(size=(2, 4, 8))), feed)
    paddle.seed(1)
    model = nn.Transformer(8, 2, 1, 2, 16)
    model.eval()
    told = model.decoder(x, memory, model.generate_square_subsequent_mask(3))
    cache, steps = model.decoder.gen_cache(memory), []
    for at in range(3):
        found, cache = model.decoder(paddle.slice(x, [1], [at], [at + 1]), memory, cache=cache)
        steps.append(found)
    once, each = ran([told, paddle.concat(steps, 1)], feed)
    assert each == pytest.approx(once, abs=1e-5)
    assert tuple(model(memory, x).shape) == (-1, 3, 8)


def test_schedules_rise_and_fall() -> None:
    cycle = lr.CyclicLR(0.1, 1.0, 3, 2)
    line = lr.LinearLR(0.6, 4, 0.5)
    one = lr.OneCycleLR(1.0, 10, 10.0, 0.0, 0.3, "linear")
    warm = lr.CosineAnnealingWarmRestarts(1.0, 2, 2)
    found = []
    for _ in range(7):
        found.append([schedule() for schedule in (cycle, line, one, warm)])
        for schedule in (cycle, line, one, warm):
            schedule.step()
    cycles, lines, ones, warms = np.array(found).T
    assert cycles == pytest.approx([0.1, 0.4, 0.7, 1, 0.55, 0.1, 0.4])
    assert lines == pytest.approx([0.3, 0.375, 0.45, 0.525, 0.6, 0.6, 0.6])
    assert ones[:4] == pytest.approx([0.1, 0.55, 1, 6 / 7])
    cosine = [(1 + math.cos(math.pi * part)) / 2 for part in (0, 1 / 2, 0, 1 / 4, 2 / 4, 3 / 4, 0)]
    assert warms == pytest.approx(cosine)
    with pytest.raises(ValueError, match="phase_pct"):
        lr.OneCycleLR(1.0, 10, phase_pct=0.6, three_phase=True)


def test_a_sampler_of_some_gives_each_once() -> None:
    sampler = paddle.io.SubsetRandomSampler([4, 7, 9])
    assert sorted(sampler) == [4, 7, 9]
    assert len(sampler) == 3
    with pytest.raises(ValueError, match="greater than 0"):
        paddle.io.SubsetRandomSampler([])


def test_looking_ahead_begins_behind_the_first_step() -> None:
    """As 2.6.2 does; LookaheadOptimizer of fluid begins at the initial values."""
    feed: dict[str, np.ndarray] = {}
    (x,) = data((np.ones((1, 1)),), feed)
    initial = paddle.ParamAttr(initializer=nn.initializer.Constant(8.0))
    loss = paddle.mean(nn.Linear(1, 1, weight_attr=initial, bias_attr=False)(x))
    paddle.incubate.LookAhead(paddle.optimizer.SGD(1.0), alpha=0.5, k=2).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    found = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(5)]
    assert found == [8.0, 7.0, 6.5, 5.5, 5.5]


def test_what_is_on_trial_is_there_by_its_name() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(4, 3)),), feed)
    loss = paddle.mean(nn.Linear(3, 1)(x))
    paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1), k=2).minimize(loss)
    square = paddle.reshape(x, [-1, 1, 2, 6])[:, :, :, :2]
    hidden = paddle.incubate.softmax_mask_fuse_upper_triangle(square)
    first, shares = ran([loss, hidden], feed)
    assert np.isfinite(first).all()
    np.testing.assert_allclose(shares[:, 0, 0], [[1, 0]] * len(shares), atol=1e-27)
    assert paddle.incubate.layers.shuffle_batch is paddle.fluid.contrib.layers.shuffle_batch
    with pytest.raises(AbsentName, match=r"paddle\.incubate\.asp is not in this release"):
        _ = paddle.incubate.asp
