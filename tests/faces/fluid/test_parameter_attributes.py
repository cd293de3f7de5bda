"""How parameters begin, are kept small and have their gradients clipped, by what their attributes say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from paddle import fluid

layers = fluid.layers
RNG = np.random.default_rng(2)
X = RNG.normal(size=(16, 4)).astype(np.float32)
FEED = {"x": X, "y": (X @ [[1.0], [2], [-1], [0.5]]).astype(np.float32)}
IDS = {"ids": np.array([[1], [3], [1], [7]]), "y": np.array([[1.0], [2], [3], [4]], np.float32)}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    programs = fluid.program_guard(fluid.Program(), fluid.Program())
    with programs, fluid.unique_name.guard(), fluid.scope_guard(fluid.core.Scope()):
        yield


def value(name: str) -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor())


def line(param_attr: object, bias_attr: object = None) -> fluid.Variable:
    """The loss of a straight line."""
    x, y = layers.data(name="x", shape=[4]), layers.data(name="y", shape=[1])
    found = layers.fc(input=x, size=1, param_attr=param_attr, bias_attr=bias_attr)
    return layers.mean(layers.square_error_cost(input=found, label=y))


def begun(optimizer: fluid.optimizer.Optimizer, loss: fluid.Variable) -> fluid.Executor:
    optimizer.minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    return exe


@pytest.mark.parametrize("dim", [None, 1])
def test_weights_are_a_direction_times_a_length(dim: int | None) -> None:
    loss = line(fluid.WeightNormParamAttr(dim=dim, name="w"))
    exe = begun(fluid.optimizer.SGD(0.05), loss)
    np.testing.assert_allclose(value("w_g"), [[np.linalg.norm(value("w_v"))]], rtol=1e-6)  # as 1.8.5 has it
    costs = [exe.run(feed=FEED, fetch_list=[loss])[0][0] for _ in range(120)]
    assert costs[-1] < 0.02 * costs[0]
    weights = value("w_v") * value("w_g") / np.linalg.norm(value("w_v"))
    np.testing.assert_allclose(weights[:, 0], [1, 2, -1, 0.5], atol=0.3)


def test_penalties_are_a_parameters_own_before_the_optimizers() -> None:
    own = fluid.ParamAttr(name="w", regularizer=fluid.regularizer.L1Decay(0.1))
    loss = line(own, fluid.ParamAttr(name="b", initializer=fluid.initializer.Constant(2.0)))
    exe = begun(fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(0.01)), loss)
    w, b = value("w"), value("b")
    slope = 2 * (X @ w + b - FEED["y"]) / len(X)
    exe.run(feed=FEED)
    np.testing.assert_allclose(value("w"), w - 0.1 * (X.T @ slope + 0.1 * np.sign(w)), rtol=1e-4)
    np.testing.assert_allclose(value("b"), b - 0.1 * (slope.sum() + 0.01 * b), rtol=1e-4)


def test_all_gradients_together_are_bounded() -> None:
    loss = line("w", "b")
    fluid.clip.set_gradient_clip(fluid.clip.GradientClipByGlobalNorm(clip_norm=0.5))
    exe = begun(fluid.optimizer.SGD(1.0), loss)
    before = np.append(value("w"), value("b"))
    exe.run(feed=FEED)
    moved = np.append(value("w"), value("b")) - before
    np.testing.assert_allclose(np.linalg.norm(moved), 0.5, rtol=1e-5)


CLIPS = [
    None,
    fluid.clip.GradientClipByGlobalNorm(0.5),
    fluid.clip.GradientClipByNorm(0.1),
    fluid.clip.GradientClipByValue(0.01),
]


@pytest.mark.filterwarnings("ignore:the decay of table")
@pytest.mark.parametrize("penalty", [None, fluid.regularizer.L2Decay(0.1)], ids=["free", "decayed"])
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: type(clip).__name__)
def test_a_table_whose_gradient_is_rows_moves_as_a_dense_one(clip: object, penalty: object) -> None:
    found = []
    for is_sparse in (False, True):
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
            ids, y = layers.data(name="ids", shape=[1], dtype="int64"), layers.data(name="y", shape=[1])
            begins = fluid.initializer.NumpyArrayInitializer(np.arange(20.0).reshape(10, 2) / 20)
            attr = fluid.ParamAttr(name="table", initializer=begins, gradient_clip=clip, regularizer=penalty)
            row = layers.embedding(input=ids, size=[10, 2], is_sparse=is_sparse, param_attr=attr)
            guess = layers.fc(input=row, size=1, param_attr=fluid.initializer.Constant(0.3))
            exe = begun(fluid.optimizer.SGD(0.1), layers.mean(layers.square_error_cost(guess, y)))
            for _ in range(3):
                exe.run(feed=IDS)
            found.append(value("table"))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    assert (found[0] != np.arange(20.0).reshape(10, 2) / 20).any()


@pytest.mark.parametrize(
    ("initializer", "bound", "spread"),
    [
        (fluid.initializer.MSRA(), np.sqrt(6 / 400), np.sqrt(2 / 400)),
        (fluid.initializer.MSRA(uniform=False), np.inf, np.sqrt(2 / 400)),
        (fluid.initializer.Xavier(), np.sqrt(6 / 700), np.sqrt(2 / 700)),
        (fluid.initializer.TruncatedNormal(0.0, 0.5), 1.0, 0.5 * 0.8796),
        (fluid.initializer.Normal(0.0, 0.5), np.inf, 0.5),
        (fluid.initializer.Uniform(-0.5, 0.5), 0.5, np.sqrt(1 / 12)),
    ],
)
def test_first_values_are_spread_as_is_told(initializer: object, bound: float, spread: float) -> None:
    fluid.layers.create_parameter([400, 300], "float32", name="w", default_initializer=initializer)
    fluid.Executor().run(fluid.default_startup_program())
    assert np.abs(value("w")).max() <= bound
    np.testing.assert_allclose(value("w").std(), spread, rtol=0.02)


def test_filters_begin_between_pixels() -> None:
    x = layers.data(name="x", shape=[1, 3, 3])
    larger = layers.conv2d_transpose(
        input=x,
        num_filters=1,
        filter_size=4,
        stride=2,
        padding=1,
        param_attr=fluid.initializer.Bilinear(),
        bias_attr=False,
    )
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    ramp = np.arange(3, dtype=np.float32) * np.ones((1, 1, 3, 1), np.float32)
    (found,) = exe.run(feed={"x": ramp}, fetch_list=[larger])
    np.testing.assert_allclose(found[0, 0, 2, 1:5], [0.25, 0.75, 1.25, 1.75], rtol=1e-6)


@pytest.mark.parametrize(("least", "most"), [(None, 0.01), (-0.002, 0.01)])
def test_what_comes_back_through_a_variable_is_bounded(least: float | None, most: float) -> None:
    x, y = layers.data(name="x", shape=[4]), layers.data(name="y", shape=[1])
    found = layers.fc(input=x, size=1, param_attr="w", bias_attr=False)
    found._set_error_clip(fluid.clip.ErrorClipByValue(max=most, min=least))
    exe = begun(fluid.optimizer.SGD(1.0), layers.mean(layers.square_error_cost(input=found, label=y)))
    before = value("w")
    exe.run(feed=FEED)
    slope = np.clip(2 * (X @ before - FEED["y"]) / len(X), -most if least is None else least, most)
    np.testing.assert_allclose(value("w"), before - X.T @ slope, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:the decay of table")
def test_a_program_for_tests_reads_a_table_that_a_penalty_makes_dense() -> None:
    ids, y = layers.data(name="ids", shape=[1], dtype="int64"), layers.data(name="y", shape=[1])
    row = layers.embedding(input=ids, size=[10, 2], is_sparse=True, param_attr="table")
    loss = layers.mean(layers.square_error_cost(layers.fc(input=row, size=1), y))
    test = fluid.default_main_program().clone(for_test=True)
    exe = begun(fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(0.1)), loss)
    exe.run(feed=IDS)
    (after,) = exe.run(test, feed=IDS, fetch_list=[loss.name])
    assert after == exe.run(feed=IDS, fetch_list=[loss])[0]


def test_parameters_of_one_attribute_have_names_of_their_own() -> None:
    attr = fluid.ParamAttr(initializer=fluid.initializer.Constant(1.0))
    made = [fluid.layers.create_parameter([2], "float32", name=name, attr=attr) for name in "ab"]
    assert [each.name for each in made] == ["a.w_0", "b.w_0"]  # as of layers of these names
    assert attr.name is None
    assert layers.create_parameter([2], "float32").name == "create_parameter_0.w_0"


def test_the_decay_of_a_table_is_of_all_rows_and_says_so() -> None:
    """As upstream's since 1.3: rows that a batch passes by decay, too."""
    ids = layers.data(name="ids", shape=[1], dtype="int64")
    begins = fluid.initializer.Constant(1.0)
    row = layers.embedding(ids, [4, 1], is_sparse=True, param_attr=fluid.ParamAttr("table", begins))
    penalised = fluid.optimizer.SGD(0.5, regularization=fluid.regularizer.L2Decay(0.2))
    with pytest.warns(UserWarning, match=r"at .*test_parameter_attributes.py:\d+\) moves all its rows"):
        exe = begun(penalised, layers.reduce_sum(row))
    exe.run(feed={"ids": np.array([[1], [1]])})
    np.testing.assert_allclose(value("table").ravel(), [0.9, 1.0 - 0.5 * (2 + 0.2), 0.9, 0.9], rtol=1e-6)


def test_a_table_without_a_height_has_no_decay_and_says_so() -> None:
    ids = layers.data(name="ids", shape=[1], dtype="int64")
    table = fluid.ParamAttr("table", fluid.initializer.Constant(1.0))
    loss = layers.reduce_sum(fluid.contrib.layers.sparse_embedding(ids, [10, 1], param_attr=table))
    with pytest.warns(UserWarning, match="'table' has no height, so it has no decay"):
        exe = begun(fluid.optimizer.SGD(0.5, regularization=fluid.regularizer.L2Decay(0.2)), loss)
    found = [exe.run(feed={"ids": np.array([[1]])}, fetch_list=[loss])[0] for _ in range(2)]
    np.testing.assert_allclose(np.ravel(found), [1.0, 0.5])


@pytest.mark.parametrize("penalty", [fluid.regularizer.L2Decay(0.5), fluid.regularizer.L1Decay(0.5)])
def test_a_regularizer_in_place_of_an_attribute_is_that_of_the_parameter(penalty: object) -> None:
    line(penalty, bias_attr=False)
    (parameter,) = fluid.default_main_program().global_block().all_parameters()
    assert parameter.regularizer is penalty


@pytest.mark.parametrize(
    ("given", "names"),
    [({}, []), ({"param_attr": "s"}, ["s"]), ({"param_attr": False, "bias_attr": "b"}, ["b"])],
)
def test_normal_groups_have_parameters_only_where_attributes_say_so(given: dict, names: list[str]) -> None:
    """As in 1.8.5 and 2.6.2; all other normalizations have a scale and a bias unless told."""
    layers.group_norm(layers.data(name="x", shape=[4, 3, 3]), 2, **given)
    assert [each.name for each in fluid.default_main_program().all_parameters()] == names
