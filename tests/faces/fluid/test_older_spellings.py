"""Arguments as releases before 1.7 had them, by place and by name, and what a misspelt one is told."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument

layers = fluid.layers


def _decays(optimizer: fluid.optimizer.Optimizer) -> bool:
    """Whether a parameter of 1, of which the loss knows nothing but a factor 0, becomes smaller."""
    x = layers.data("x", [1], append_batch_size=False)
    weight = layers.create_parameter(
        [1], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0)
    )
    optimizer.minimize(layers.mean(weight * x))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": np.zeros(1, np.float32)})
    return float(fluid.global_scope().find_var("w").get_tensor().array()[0]) < 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda decay: fluid.optimizer.SGD(0.1, decay),
        lambda decay: fluid.optimizer.Momentum(0.1, 0.9, False, decay),
        lambda decay: fluid.optimizer.Momentum(0.1, 0.9, True, decay, "named"),
        lambda decay: fluid.optimizer.Adagrad(0.1, 1e-6, decay),
        lambda decay: fluid.optimizer.Adam(0.1, 0.9, 0.999, 1e-8, decay, "named"),
        lambda decay: fluid.optimizer.Ftrl(0.1, 0.0, 0.0, -0.5, decay),
    ],
)
def test_a_regularizer_in_the_place_that_it_had_is_one(make) -> None:
    assert _decays(make(fluid.regularizer.L2Decay(0.5)))


def test_an_activation_in_the_place_that_it_has_from_1_5_on_is_one() -> None:
    x = layers.data("x", [3])
    assert layers.fc(x, 2, 1, None, None, "relu").op.type == "relu"
    layers.fc(x, 2, 1, "weights", "bias", "tanh", "named")
    assert "named.tmp_0" in fluid.default_main_program().global_block().vars


def test_memories_of_both_kinds_of_steps_are_updated_by_their_own_keywords() -> None:
    x = layers.data("x", [3, 2], append_batch_size=False)
    parts, rnn = layers.unsqueeze(x, [2]), layers.StaticRNN()
    with rnn.step():
        before = rnn.memory(shape=[-1, 1], batch_ref=parts)
        now = before + rnn.step_input(parts)
        rnn.update_memory(mem=before, var=now)
        rnn.step_output(now)
    (found,) = fluid.Executor().run(feed={"x": np.ones((3, 2), np.float32)}, fetch_list=[rnn()])
    np.testing.assert_array_equal(found[:, :, 0], [[1, 1], [2, 2], [3, 3]])


def test_an_argument_that_a_run_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="feeds"):
        fluid.Executor().run(feeds={})


def test_a_run_that_is_pruned_learns_as_any_other() -> None:
    x = layers.data("x", [2])
    loss = layers.mean(layers.fc(x, 1, param_attr="w"))
    fluid.optimizer.SGD(1.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones((2, 2), np.float32)}
    losses = [
        float(exe.run(feed=feed, fetch_list=[loss], use_prune=pruned)[0])
        for pruned in (True, True, False, True)
    ]
    np.testing.assert_allclose(np.diff(losses), np.full(3, -3.0), rtol=1e-5)  # two weights and a bias


def test_a_tree_of_ones_own_needs_its_paths() -> None:
    x, label = layers.data("x", [3]), layers.data("label", [1], dtype="int64")
    with pytest.raises(BadArgument, match="path_table"):
        layers.hsigmoid(x, label, 4, is_custom=True)


def test_minimize_takes_the_clipping_that_it_took_before_1_8() -> None:
    weight = layers.create_parameter(
        [1], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0)
    )
    loss = layers.mean(layers.data("x", [1], append_batch_size=False) * weight)
    fluid.optimizer.SGD(1.0).minimize(loss, grad_clip=fluid.clip.GradientClipByValue(0.25))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": np.ones(1, np.float32)})
    assert fluid.global_scope().find_var("w").get_tensor().array().tolist() == [0.75]


def test_functions_of_2_x_go_on_with_what_fluid_wrote_as_in_2_0_alpha() -> None:
    """Its programs are static without ``paddle.enable_static``, which the others still ask for."""
    assert paddle.in_dynamic_mode()
    x = fluid.data("x", [None, 4])
    length = paddle.norm(x, p=2, axis=1, keepdim=True)
    left, right = paddle.split(paddle.concat([paddle.maximum(x, length), x], axis=1), 2, axis=1)
    limited = paddle.add(paddle.minimum(left, paddle.clip(right, 0.0, 1.0)), 2.0)
    given = np.array([[3.0, 4, 0, 0], [-1, 2, 2, 4]], np.float32)
    got = fluid.Executor().run(feed={"x": given}, fetch_list=[length, left, limited])
    norms = np.linalg.norm(given, axis=1, keepdims=True)
    for found, expected in zip(got, [norms, np.maximum(given, norms), given.clip(0, 1) + 2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(NotInThisRelease, match=r"enable_static\(\)"):
        paddle.zeros([2])
