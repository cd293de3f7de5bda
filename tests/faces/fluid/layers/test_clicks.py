"""Layers of click-through programs and of weights that no gradient moves, held to what 1.8.5 printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument, BadProgram

layers = fluid.layers


def ran(feed: dict[str, Any], fetched: list[Any], **told: Any) -> list[Any]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetched, **told)


@pytest.mark.parametrize(
    ("dtype", "printed"),
    [
        ("int32", [57590, 77080, 12789, 64644, 63771, 38320, 17761, 82908, 53715, 72553, 85808, 39624]),
        ("int64", [88852, 49710, 26827, 36686, 55201, 24819, 87032, 76689, 18322, 6184, 56227, 62688]),
    ],
)
def test_hashes_are_those_of_1_8_5_and_stay_in_their_sequences(dtype: str, printed: list[int]) -> None:
    ids = np.arange(12).reshape(4, 3).astype(dtype) * 37 + 5
    out = layers.hash(layers.data("ids", [3], dtype=dtype, lod_level=1), 100000, num_hash=3)
    (found,) = ran({"ids": fluid.create_lod_tensor(ids, [[1, 3]], None)}, [out], return_numpy=False)
    assert np.asarray(found).shape == (4, 3, 1) and out.shape == (-1, 3, 1)
    assert np.asarray(found).ravel().tolist() == printed and str(np.asarray(found).dtype) == dtype
    assert found.recursive_sequence_lengths() == [[1, 3]]


def test_a_hash_finds_a_row_of_a_table() -> None:
    ids = layers.data("ids", [1], dtype="int64")
    rows = layers.embedding(layers.reshape(layers.hash(ids, 50), [-1, 1]), [50, 4], param_attr="table")
    (found,) = ran({"ids": np.array([[7], [1 << 60], [7]])}, [rows])
    assert (found[0] == found[2]).all() and (found[0] != found[1]).any()


INS = np.arange(12, dtype="float32").reshape(4, 3)
TAGS = np.array([[0], [1], [0], [2], [1]], "int64")


def tagged(is_lod: bool, wanted: list[int], otherwise: int = 0) -> list[Any]:
    ins = fluid.data("ins", [None, 3], "float32", lod_level=1 if is_lod else 0)
    tags, names = fluid.data("tags", [None, 1], "int64", lod_level=1), fluid.data("names", [None], "int64")
    ins.stop_gradient = False
    out, weight = layers.filter_by_instag(ins, tags, names, is_lod, otherwise)
    (slope,) = fluid.gradients([layers.reduce_sum(out * out)], [ins])
    feed = {
        "ins": fluid.create_lod_tensor(INS, [[1, 1, 2]], None) if is_lod else INS,
        "tags": fluid.create_lod_tensor(TAGS, [[1, 2, 2]] if is_lod else [[1, 2, 1, 1]], None),
        "names": np.array(wanted, "int64"),
    }
    return ran(feed, [out, weight, slope], return_numpy=False)


@pytest.mark.parametrize(
    ("is_lod", "wanted", "kept", "lengths", "count"),
    [
        (False, [1], [1, 3], [1, 1], 2),
        (False, [0, 2], [0, 1, 2], [1, 1, 1], 3),
        (True, [2], [2, 3], [2], 1),
    ],
)
def test_samples_that_bear_a_tag_are_kept_as_in_1_8_5(
    is_lod: bool, wanted: list[int], kept: list[int], lengths: list[int], count: int
) -> None:
    out, weight, slope = tagged(is_lod, wanted)
    assert (np.asarray(out) == INS[kept]).all() and out.recursive_sequence_lengths() == [lengths]
    assert np.asarray(weight).tolist() == [[1.0]] * count
    expected = np.zeros_like(INS)
    expected[kept] = 2 * INS[kept]
    assert (np.asarray(slope) == expected).all()


@pytest.mark.parametrize("is_lod", [False, True])
def test_where_no_sample_bears_a_tag_there_is_a_row_without_weight(is_lod: bool) -> None:
    out, weight, slope = tagged(is_lod, [9], otherwise=5)
    assert np.asarray(out).tolist() == [[5.0] * 3] and np.asarray(weight).tolist() == [[0.0]]
    assert not np.asarray(slope).any()


def test_tags_of_another_number_of_samples_are_refused() -> None:
    with pytest.raises(BadProgram, match="3 samples have tags for 4"):
        ins, tags = (
            fluid.data("ins", [None, 3], "float32"),
            fluid.data("tags", [None, 1], "int64", lod_level=1),
        )
        out, _ = layers.filter_by_instag(ins, tags, fluid.data("names", [None], "int64"), False)
        told = fluid.create_lod_tensor(TAGS, [[1, 2, 1, 1]], None)
        ran({"ins": INS[:3], "tags": told, "names": np.array([1])}, [out])


LOGITS = np.array([[0.1, 0.43, 0.21, 0.09, -0.15, 0.29], [-0.12, 0.78, 0.93, -0.23, 0.58, 0.06]], "float32")


def told_classes(hits: bool) -> tuple[Any, Any]:
    logits, label = fluid.data("logits", [2, 6]), fluid.data("label", [2, 1], "int64")
    samples, chances = fluid.data("samples", [2, 4], "int64"), fluid.data("chances", [2, 4])
    logits.stop_gradient = False
    told = {"customized_samples": samples, "customized_probabilities": chances}
    cost = layers.sampled_softmax_with_cross_entropy(
        logits, label, 3, remove_accidental_hits=hits, use_customized_samples=True, **told
    )
    return ran(
        {
            "logits": LOGITS,
            "label": np.array([[0], [2]]),
            "samples": np.array([[0, 1, 4, 2], [2, 2, 0, 4]]),
            "chances": np.array(
                [
                    [0.05, 0.09090909, 0.13181818, 0.17272727],
                    [0.21363637, 0.25454545, 0.29545453, 0.33636364],
                ],
                "float32",
            ),
        },
        [cost, *fluid.gradients([layers.reduce_sum(cost)], [logits])],
    )


def test_a_sampled_softmax_over_classes_of_ones_own_costs_what_it_costs_in_1_8_5() -> None:
    cost, slope = told_classes(hits=True)
    assert cost.ravel() == pytest.approx([0.8686006, 0.5309835], rel=1e-5)
    first = [-0.58046174, 0.32096043, 0.13556671, 0.0, 0.12393462, 0.0]
    second = [0.14878944, 0.0, -0.41197366, 0.0, 0.26318419, 0.0]
    assert slope == pytest.approx(np.array([first, second]), abs=1e-6)


def test_a_class_that_is_the_label_counts_against_it_where_hits_stay() -> None:
    cost, slope = told_classes(hits=False)
    assert cost.ravel() == pytest.approx([0.8686006, 0.93212056], rel=1e-5)
    assert slope[1] == pytest.approx([0.0996232, 0.0, -0.27584028, 0.0, 0.17621715, 0.0], abs=1e-6)


def test_several_labels_of_a_sample_are_refused_by_name_and_half_of_ones_own_classes_too() -> None:
    logits, label = fluid.data("logits", [2, 6]), fluid.data("label", [2, 1], "int64")
    with pytest.raises(NotInThisRelease, match=r"num_true=2.*nor does it run in 1\.8\.5"):
        layers.sampled_softmax_with_cross_entropy(logits, label, 3, num_true=2)
    with pytest.raises(BadArgument, match="customized_probabilities, both"):
        layers.sampled_softmax_with_cross_entropy(
            logits, label, 3, use_customized_samples=True, customized_samples=label
        )


def test_centres_move_towards_their_samples_as_in_1_8_5_and_the_optimizer_leaves_them() -> None:
    x, label = fluid.data("x", [3, 2]), fluid.data("label", [3, 1], "int64")
    values = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0]], "float32")
    feed = {"x": values, "label": np.array([[0], [2], [2]])}
    moved = layers.fc(x, 2, param_attr="w", bias_attr=False)
    attr = fluid.ParamAttr(name="centers", initializer=fluid.initializer.Constant(0.5))
    cost = layers.reduce_mean(layers.center_loss(x + moved * 0.0, label, 3, 0.1, attr))
    fluid.optimizer.SGD(0.1).minimize(cost)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    costs = [exe.run(feed=feed, fetch_list=[cost])[0].item() for _ in range(3)]
    centers = np.array(fluid.global_scope().find_var("centers").get_tensor())
    assert costs[0] == pytest.approx((0.25 + 1.25 + 0.125) / 3) and costs == sorted(costs, reverse=True)
    expected = np.full((3, 2), 0.5)
    for _ in range(3):
        pulls = np.zeros((3, 2))
        np.add.at(pulls, [0, 2, 2], values - expected[[0, 2, 2]])
        expected = expected + 0.1 * pulls / np.array([[2], [1], [3]])
    assert centers == pytest.approx(expected, abs=1e-6)
    assert "centerloss_alpha" in fluid.default_main_program().global_block().vars


def test_centres_stay_where_they_are_not_to_be_moved_and_the_rate_may_be_computed() -> None:
    x, label = fluid.data("x", [1, 2]), fluid.data("label", [1, 1], "int64")
    rate = layers.fill_constant([1], "float32", 0.5)
    kept = layers.center_loss(x, label, 2, rate, fluid.ParamAttr(name="kept"), update_center=False)
    told = layers.center_loss(x, label, 2, rate, fluid.ParamAttr(name="told"))
    feed = {"x": np.ones((1, 2), "float32"), "label": np.zeros((1, 1), "int64")}
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    seen = [exe.run(feed=feed, fetch_list=[kept, told]) for _ in range(2)]
    assert seen[0][0] == seen[1][0] and seen[1][1] == pytest.approx(seen[0][1] * 0.75**2, rel=1e-5)


def test_a_weight_is_over_its_greatest_stretch_and_its_slope_is_the_numerical_one() -> None:
    """1.8.5 gives these values; its slope takes the sum of the weight for what stands beside it."""
    matrix = np.array([[1.0, -0.5], [0.25, 2.0], [0.5, 0.75]], "float32")
    weight = fluid.data("weight", [3, 2])
    weight.stop_gradient = False
    out = layers.spectral_norm(weight, dim=1, power_iters=60)
    (slope,) = fluid.gradients([layers.reduce_sum(layers.sin(out))], [weight])
    assert [each.name for each in fluid.default_main_program().all_parameters()] == [
        "spectral_norm_0.w_0",
        "spectral_norm_0.w_1",
    ]
    fluid.default_startup_program().random_seed = 3
    found, steep = ran({"weight": matrix}, [out, slope])
    assert found == pytest.approx(matrix / np.linalg.norm(matrix, 2), rel=1e-5)
    for at in np.ndindex(3, 2):
        sides = []
        for step in (1e-4, -1e-4):
            moved = matrix.astype(np.float64)
            moved[at] += step
            sides.append(np.sin(moved / np.linalg.norm(moved, 2)).sum())
        assert steep[at] == pytest.approx((sides[0] - sides[1]) / 2e-4, rel=1e-3, abs=1e-4)


def test_a_stretch_after_two_steps_is_what_1_8_5_finds() -> None:
    weight = fluid.data("weight", [4, 3])
    out = layers.spectral_norm(weight, power_iters=2)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for name, size in (("spectral_norm_0.w_0", 4), ("spectral_norm_0.w_1", 3)):
        tensor = fluid.global_scope().find_var(name).get_tensor()
        tensor.set(np.linspace(0.3, 1.1, size).astype("float32"), None)
    matrix = np.arange(12, dtype="float32").reshape(4, 3) / 10 - 0.5
    (found,) = exe.run(feed={"weight": matrix}, fetch_list=[out])
    assert found[0] == pytest.approx([-0.425437, -0.340349, -0.255262], rel=1e-5)
    assert found[3] == pytest.approx([0.340349, 0.425437, 0.510524], rel=1e-5)


@pytest.mark.parametrize(
    ("act", "alpha", "printed"),
    [
        (
            "leaky_relu",
            0.1,
            [0.434957, -0.105632, 1.5261, -0.0722891, -0.0807777, 1.42914, -0.104418, 0.240964],
        ),
        ("elu", 0.7, [0.434957, -0.456588, 1.5261, -0.360257, -0.387906, 1.42914, -0.453613, 0.240964]),
        (None, 1.0, [0.434957, -1.05632, 1.5261, -0.722891, -0.807777, 1.42914, -1.04418, 0.240964]),
    ],
)
def test_a_batch_norm_in_place_is_what_1_8_5_gives(
    act: str | None, alpha: float, printed: list[float]
) -> None:
    x = fluid.data("x", [2, 2, 1, 2])
    x.stop_gradient = False
    held = x * 1.0
    out = layers.inplace_abn(held, act=act, act_alpha=alpha)
    (slope,) = fluid.gradients([layers.reduce_sum(layers.sin(out))], [x])
    values = np.array([0.5, -1.0, 2.0, 0.25, -0.75, 1.5, 0.0, 1.0], "float32").reshape(2, 2, 1, 2)
    assert out is held
    found, steep = ran({"x": values}, [out, slope])
    assert found.ravel() == pytest.approx(printed, rel=1e-4, abs=1e-6)
    exe = fluid.Executor()
    for at in np.ndindex(*values.shape):
        sides = []
        for step in (0.01, -0.01):
            moved = values.copy()
            moved[at] += step
            sides.append(np.sin(exe.run(feed={"x": moved}, fetch_list=[out])[0]).sum())
        assert steep[at] == pytest.approx((sides[0] - sides[1]) / 0.02, rel=3e-2, abs=3e-3)


def test_what_is_drawn_is_another_in_every_step_within_its_bounds_and_of_its_dtype() -> None:
    whole, one = layers.randint(-5, 5, shape=[40, 5]), layers.randint(7, dtype="int32", name="seven")
    normal, order = layers.randn([400, 5]), layers.randperm(6, dtype="int32")
    sized = layers.randint(3, shape=[layers.fill_constant([1], "int64", 4), 2])
    drawn = [whole, one, normal, order, sized]
    fluid.default_main_program().random_seed = 5
    exe = fluid.Executor()
    first, second = (exe.run(fetch_list=drawn) for _ in range(2))
    assert [str(each.dtype) for each in first] == ["int64", "int32", "float32", "int32", "int64"]
    assert (first[0].min(), first[0].max()) == (-5, 4) and first[1].shape == (1,) and one.name == "seven"
    assert abs(first[2].mean()) < 0.1 and first[2].std() == pytest.approx(1, abs=0.1)
    assert sorted(first[3].tolist()) == list(range(6)) and first[4].shape == (4, 2)
    assert (first[0] != second[0]).any() and (first[2] != second[2]).any()


def test_a_crop_goes_on_from_the_seed_that_a_step_left() -> None:
    image = np.arange(60, dtype="float32").reshape(3, 4, 5)
    out = layers.random_crop(fluid.data("x", [3, 4, 5]), [2, 3], seed=1)
    exe = fluid.Executor()
    first, second = (exe.run(feed={"x": image}, fetch_list=[out])[0] for _ in range(2))
    assert first[:, 0, 0].tolist() == [0.0, 27.0, 50.0]  # as 1.8.5 cuts them
    assert first.shape == second.shape == (3, 2, 3) and (first != second).any()


@pytest.mark.parametrize("kind", ["Normal", "Uniform"])
def test_samples_have_the_shape_asked_for_and_lie_where_they_should(kind: str) -> None:
    make = getattr(layers, kind)
    first, second = layers.data("first", [3]), layers.data("second", [3])
    made = [
        make(1.0, 3.0).sample([400, 2]),
        make([1.0, 2.0], [3.0, 4.0]).sample([200]),
        make(first, second).sample([100, 2]),
    ]
    feed = {"first": np.full((4, 3), 1.0, "float32"), "second": np.full((4, 3), 3.0, "float32")}
    fluid.default_main_program().random_seed = 5
    found = ran(feed, made)
    assert [each.shape for each in found] == [(400, 2), (200, 2), (100, 2, 4, 3)]
    middle, spread = (1.0, 3.0) if kind == "Normal" else (2.0, 2 / 12**0.5)
    for each in (found[0], found[2]):
        assert each.mean() == pytest.approx(middle, abs=0.3) and each.std() == pytest.approx(spread, rel=0.1)
    if kind == "Uniform":
        assert all(each.min() >= 1.0 and each.max() < 4.0 for each in found)


def test_dpsgd_moves_as_in_1_8_5_and_by_the_programs_seed() -> None:
    def moved(seed: int, **told: float) -> list[float]:
        main, startup = fluid.Program(), fluid.Program()
        main.random_seed = seed
        with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
            attr = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(0.5))
            loss = layers.reduce_sum(layers.fc(fluid.data("x", [2, 3]), 1, param_attr=attr, bias_attr=False))
            fluid.optimizer.Dpsgd(0.1, **told).minimize(loss)
            exe = fluid.Executor()
            exe.run(startup)
            exe.run(main, feed={"x": np.arange(6, dtype="float32").reshape(2, 3)})
            return np.array(fluid.global_scope().find_var("w").get_tensor()).ravel().tolist()

    assert moved(1, clip=100.0, batch_size=16.0, sigma=0.0) == pytest.approx([0.2, 0.0, -0.2], abs=1e-6)
    printed = [0.46707073, 0.44511786, 0.42316502]
    assert moved(1, clip=1.0, batch_size=16.0, sigma=0.0) == pytest.approx(printed, rel=1e-6)
    noisy, again, other = (moved(seed, clip=1.0, batch_size=2.0, sigma=1.0) for seed in (1, 1, 2))
    assert noisy == again and noisy != other
    apart = np.array(noisy) - printed
    assert apart == pytest.approx(np.full(3, apart[0]), abs=1e-6) and apart[0] != 0


def test_dpsgd_refuses_tables_whose_gradients_are_rows_and_numbers_that_are_none() -> None:
    with pytest.raises(BadArgument, match="Dpsgd: clip is a number above 0"):
        fluid.optimizer.Dpsgd(0.1, clip=0)
    rows = layers.embedding(layers.data("ids", [1], dtype="int64"), [9, 2], is_sparse=True)
    fluid.optimizer.Dpsgd(0.1).minimize(layers.reduce_mean(rows))
    with pytest.raises(BadProgram, match="moves parameters by whole gradients"):
        ran({"ids": np.zeros((1, 1), "int64")}, [])
