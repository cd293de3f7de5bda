"""Several calls for gradients in one program: of several losses, and of parts of the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
X = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)


def data():
    return layers.data("x", [2, 2], append_batch_size=False, stop_gradient=False)


def fetched(*fetch):
    return [np.asarray(each) for each in fluid.Executor().run(feed={"x": X}, fetch_list=list(fetch))]


def test_gradients_of_two_targets_are_two_variables_and_are_not_added_up() -> None:
    x = data()
    (first,) = fluid.gradients(layers.mean(x * 2.0), x)
    (second,) = fluid.gradients(layers.mean(x * 10.0), x)
    assert (first.name, second.name) == ("x@GRAD", "x@GRAD_0")
    found = fetched(first, second)
    np.testing.assert_allclose(found[0], np.full((2, 2), 0.5))
    np.testing.assert_allclose(found[1], np.full((2, 2), 2.5))


def test_an_unreached_target_leaves_nothing_to_the_next_call() -> None:
    x = data()
    other = layers.data("other", [2, 2], append_batch_size=False, stop_gradient=False)
    y = x * 3.0
    assert fluid.gradients(layers.mean(y), other) == [None]
    (slope,) = fluid.gradients(layers.reduce_sum(x * 2.0), x)
    np.testing.assert_allclose(fetched(slope)[0], np.full((2, 2), 2.0))


def test_two_losses_move_their_own_parameters_by_their_own_gradients() -> None:
    x = data()
    h = layers.fc(x, 2, param_attr="g", bias_attr=False)
    d_loss = layers.mean(layers.fc(h, 1, param_attr="d", bias_attr=False))
    g_loss = layers.reduce_sum(layers.square(h))
    d_optimizer, g_optimizer = fluid.optimizer.SGD(1.0), fluid.optimizer.SGD(1.0)
    d_pairs = d_optimizer.backward(d_loss, parameter_list=["d"])
    g_pairs = g_optimizer.backward(g_loss, parameter_list=["g"])
    d_optimizer.apply_gradients(d_pairs)
    g_optimizer.apply_gradients(g_pairs)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    tensors = {name: fluid.global_scope().find_var(name).get_tensor() for name in "dg"}
    before = {name: np.array(tensor) for name, tensor in tensors.items()}
    exe.run(feed={"x": X})
    moved = {name: before[name] - np.array(tensor) for name, tensor in tensors.items()}
    np.testing.assert_allclose(
        moved["d"], (X @ before["g"]).mean(axis=0, keepdims=True).T, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(moved["g"], 2 * X.T @ X @ before["g"], rtol=1e-5, atol=1e-6)


def test_both_gradients_of_a_parameter_that_two_losses_have_are_there() -> None:
    h = layers.fc(data(), 2, param_attr="w", bias_attr=False)
    ((_, first),) = fluid.backward.append_backward(layers.reduce_sum(h))
    ((_, second),) = fluid.backward.append_backward(layers.reduce_sum(h * 3.0))
    assert (first.name, second.name) == ("w@GRAD", "w@GRAD_0")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = exe.run(feed={"x": X}, fetch_list=[first, second])
    wanted = X.T @ np.ones((2, 2), np.float32)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(found[1], 3 * wanted, rtol=1e-6)
    clone = fluid.default_main_program().clone()
    again = exe.run(clone, feed={"x": X}, fetch_list=[first.name, second.name])
    np.testing.assert_array_equal(again, found)


def test_no_gradient_goes_through_what_is_in_no_grad_set() -> None:
    x = data()
    h = x * 2.0
    (whole,) = fluid.gradients(layers.reduce_sum(h + x), x)
    (part,) = fluid.gradients(layers.reduce_sum(h + x), x, no_grad_set={h.name})
    found = fetched(whole, part)
    np.testing.assert_allclose(found[0], np.full((2, 2), 3.0))
    np.testing.assert_allclose(found[1], np.full((2, 2), 1.0))


def test_a_program_read_from_its_bytes_has_the_same_gradients() -> None:
    x = data()
    h = x * 2.0
    (first,) = fluid.gradients(layers.reduce_sum(h + x), x, no_grad_set={h.name})
    (second,) = fluid.gradients(layers.reduce_sum(h * h), x)
    program = fluid.Program.parse_from_string(fluid.default_main_program().serialize_to_string())
    found = fluid.Executor().run(program, feed={"x": X}, fetch_list=[first.name, second.name])
    np.testing.assert_allclose(found[0], np.full((2, 2), 1.0))
    np.testing.assert_allclose(found[1], 8 * X)


def test_a_target_between_another_one_and_the_input_counts_with_its_own_gradient() -> None:
    x = data()
    h = x * 2.0
    weights = layers.scale(x, 1.0, 1.0)
    weights.stop_gradient = True
    (slope,) = fluid.gradients([h, h * h], x, [weights, None])
    np.testing.assert_allclose(fetched(slope)[0], 2 * (X + 1) + 8 * X, rtol=1e-6)
    (again,) = fluid.gradients(layers.reduce_sum(slope * slope), x)
    assert again.name == "x@GRAD_0"
    np.testing.assert_allclose(fetched(again)[0], 2 * (2 * (X + 1) + 8 * X) * 8, rtol=1e-6)


def normal(name, seed):
    return fluid.ParamAttr(name=name, initializer=fluid.initializer.Normal(0.0, 0.3, seed=seed))


def dense(side):
    x, label = layers.data("x", [4]), layers.data("label", [1], dtype="int64")
    hidden = layers.fc(x, 8, act="tanh", param_attr=normal(f"w{side}", side))
    chance = layers.fc(hidden, 3, act="softmax", param_attr=normal(f"v{side}", side + 4))
    return layers.mean(layers.cross_entropy(chance, label))


def images(side):
    x = layers.reshape(layers.data("x", [4]), [-1, 1, 2, 2])
    found = layers.conv2d(x, 3, 3, padding=1, act="relu", param_attr=normal(f"w{side}", side))
    return layers.mean(layers.square(layers.pool2d(found, 2, "max", 2)))


def tables(side):
    label, told = layers.data("label", [1], dtype="int64"), normal(f"w{side}", side)
    own = [layers.embedding(label, [3, 2], param_attr=told) for _ in range(2)]
    words = layers.data("words", [1], dtype="int64", lod_level=1)
    pooled = layers.sequence_pool(layers.embedding(words, [5, 2], param_attr=normal(f"v{side}", 9)), "sum")
    return layers.mean(layers.square(layers.concat([*own, pooled], 1) + 1.0))


@pytest.mark.parametrize("network", [dense, images, tables])
def test_two_losses_of_one_program_learn_what_they_would_in_two(network: Any) -> None:
    random, exe = np.random.default_rng(1), fluid.Executor()
    words = fluid.create_lod_tensor(random.integers(0, 5, (7, 1)), [[2, 1, 4]], fluid.CPUPlace())
    feed = {"x": random.normal(size=(3, 4)).astype("float32"), "label": random.integers(0, 3, (3, 1))}

    def losses(*sides: int) -> np.ndarray:
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
            fetch = [network(side) for side in sides]
            for loss in fetch:
                fluid.optimizer.SGD(0.5).minimize(loss)
            exe.run(fluid.default_startup_program())
            known, given = fetch[0].block.vars, feed | {"words": words}
            fed = {name: value for name, value in given.items() if name in known}
            return np.array([[each.item() for each in exe.run(feed=fed, fetch_list=fetch)] for _ in range(4)])

    found = losses(1, 2)
    assert (found[-1] < found[0]).all()
    np.testing.assert_allclose(found, np.hstack([losses(1), losses(2)]), rtol=1e-5)


def test_one_gradient_is_itself_and_lists_of_them_are_fetched() -> None:
    x = data()
    one = fluid.backward.calc_gradient(layers.mean(x * 2.0), x)
    several = fluid.backward.calc_gradient(layers.mean(x * 10.0), [x, x])
    assert (one.name, len(several)) == ("x@GRAD", 2)
    first, *rest = fetched([one], several)
    np.testing.assert_allclose(first, np.full((2, 2), 0.5))
    assert [each.mean() for each in rest] == [2.5, 2.5]


def test_what_an_operator_makes_of_nothing_has_a_gradient() -> None:
    made = (layers.fill_constant([2], "float32", 3.0), layers.assign(np.array([1.0, 2.0], np.float32)))
    for x in made:
        x.stop_gradient = False
        (slope,) = fluid.gradients(x * x, x)
        value, found = fluid.Executor().run(fetch_list=[x, slope])
        np.testing.assert_allclose(found, 2 * value)


def test_what_depends_on_no_parameter_has_its_gradient_too() -> None:
    x = layers.data("x", [2, 2], append_batch_size=False)
    half = x * 0.5
    loss = layers.mean(layers.fc(half, 1, param_attr="w", bias_attr=False))
    pairs = fluid.backward.append_backward(loss)
    assert [parameter.name for parameter, _ in pairs] == ["w"]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    weight, found = exe.run(feed={"x": X}, fetch_list=["w", half.name + "@GRAD"])
    np.testing.assert_allclose(found, np.tile(weight.T / 2, (2, 1)), rtol=1e-6)
    alone = layers.mean(layers.square(half))
    assert fluid.backward.append_backward(alone, parameter_list=[]) == []


def test_what_is_no_list_of_variables_is_refused() -> None:
    x = data()
    loss = layers.mean(layers.fc(x, 1))
    for wrong in (
        {"parameter_list": "w"},
        {"parameter_list": [3]},
        {"no_grad_set": "x"},
        {"callbacks": print},
    ):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            fluid.backward.append_backward(loss, **wrong)
    with pytest.raises(ValueError, match="callbacks"):
        fluid.backward.append_backward(loss, callbacks=[print])
    with pytest.raises(TypeError, match="no_grad_set"):
        fluid.gradients(loss, x, no_grad_set=x)


def test_data_that_is_listed_has_its_gradient_and_is_not_trained() -> None:
    x = data()
    loss = layers.mean(layers.fc(x, 1, param_attr="w", bias_attr=False))
    ((of, slope),) = fluid.backward.append_backward(loss, parameter_list=["x"])
    assert (of.name, slope.name) == ("x", "x@GRAD")
    pairs = fluid.optimizer.SGD(0.1).backward(loss, parameter_list=["x", "w"])
    assert [each.name for each, _ in pairs] == ["w"]
    fluid.Executor().run(fluid.default_startup_program())
    found, weight = fetched(slope, "w")
    np.testing.assert_allclose(found, np.tile(weight.T / 2, (2, 1)), rtol=1e-6)
