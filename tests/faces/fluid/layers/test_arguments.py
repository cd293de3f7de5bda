"""Arguments that few programs give, and gradients that cost functions have none of, as 1.8.5 has them.

Constants that no formula beside them gives were computed once by its wheel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument

L = fluid.layers


def given(name: str, value: Any, stops: bool = True) -> Any:
    """Data of a value's shape."""
    array = np.asarray(value)
    made = L.data(name, list(array.shape), dtype=str(array.dtype), append_batch_size=False)
    made.stop_gradient = stops
    return made


def run(fetches: list[Any], feed: dict[str, Any]) -> list[np.ndarray]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return [np.array(each) for each in exe.run(feed=feed, fetch_list=fetches, return_numpy=False)]


def tensor(array: Any, lengths: list[list[int]]) -> Any:
    return fluid.create_lod_tensor(np.asarray(array), lengths, None)


def test_a_power_may_be_computed_and_learns_nothing() -> None:
    x = np.array([0.5, 2.0, 3.0], np.float32)
    base, factor = given("x", x, stops=False), L.fill_constant([1], "float32", 2.5)
    out = L.pow(base, factor=factor)
    (slope,) = fluid.backward.gradients(out, base)
    value, rise = run([out, slope], {"x": x})
    np.testing.assert_allclose(value, x**2.5, rtol=1e-5)
    np.testing.assert_allclose(rise, 2.5 * x**1.5, rtol=1e-5)
    assert factor.stop_gradient


def test_signs_are_of_arrays_too() -> None:
    (found,) = run([L.sign(np.array([3.0, 0.0, -2.0], "float32"))], {})
    np.testing.assert_array_equal(found, [1, 0, -1])


def test_mish_is_told_from_where_on_a_logarithm_is_what_it_is_nearly() -> None:
    x = np.array([-30, -2, -0.5, 0.5, 2, 30], np.float32)
    source = given("x", x, stops=False)
    outs = [L.mish(source), L.mish(source, threshold=1.0)]
    slopes = [fluid.backward.gradients(each, source)[0] for each in outs]
    usual, told, usual_slope, told_slope = run([*outs, *slopes], {"x": x})
    np.testing.assert_allclose(usual[[1, 4]], [-0.25250146, 1.94395900], rtol=1e-5)
    np.testing.assert_allclose(told[[1, 4]], [-0.26903006, 1.92805517], rtol=1e-5)
    np.testing.assert_allclose(usual_slope[[1, 4]], [-0.10835509, 1.06931782], rtol=1e-5)
    np.testing.assert_allclose(told_slope[[1, 4]], [-0.11405827, 1.08620608], rtol=1e-5)
    np.testing.assert_array_equal(usual[[0, 2, 3, 5]], told[[0, 2, 3, 5]])


def test_what_has_one_axis_is_made_of_length_1_along_it() -> None:
    x = np.array([3.0, 4.0], np.float32)
    rows = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    line, matrix = L.l2_normalize(given("x", x), axis=None), L.l2_normalize(given("r", rows), axis=None)
    found, each = run([line, matrix], {"x": x, "r": rows})
    np.testing.assert_allclose(found, [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(each, [[0.6, 0.8]] * 2, rtol=1e-6)


@pytest.mark.parametrize("layer", [L.one_hot, fluid.one_hot], ids=["layers", "fluid"])
def test_what_points_nowhere_is_marked_nowhere(layer: Any) -> None:
    places = np.array([[1], [7], [-1], [3]])
    (found,) = run([layer(given("i", places), 4, allow_out_of_range=True)], {"i": places})
    wanted = np.eye(9, dtype=np.float32)[[1, 8, 8, 3], :4]
    np.testing.assert_array_equal(found.reshape(4, 4), wanted)


def test_ranges_and_diagonals_are_of_float64_where_they_are_told() -> None:
    made = [L.eye(2, dtype="float64"), L.range(0, 3, 1, "float64"), L.linspace(0, 2, 3, "float64")]
    for found, wanted in zip(run(made, {}), [np.eye(2), np.arange(3), np.arange(3)], strict=True):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, wanted)


def test_lengths_that_are_floats_are_masked() -> None:
    lengths = np.array([2.5, 1.0, 0.0], np.float32)
    source = given("n", lengths)
    longest, told = L.sequence_mask(source), L.sequence_mask(source, maxlen=4, dtype="float32")
    first, second = run([longest, told], {"n": lengths})
    np.testing.assert_array_equal(first, [[1, 1], [1, 0], [0, 0]])
    np.testing.assert_array_equal(second, [[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])


def test_updates_go_to_places_among_all_numbers_of_a_row() -> None:
    x = np.zeros((2, 2, 3), np.float32)
    ids, updates = L.data("i", [1], dtype="int64", lod_level=1), L.data("u", [1], lod_level=1)
    out = L.sequence_scatter(given("x", x), ids, updates)
    lengths = [[2, 3]]
    places, values = [[0], [4], [2], [5], [5]], np.arange(1.0, 6.0, dtype="float32").reshape(5, 1)
    (found,) = run([out], {"x": x, "i": tensor(places, lengths), "u": tensor(values, lengths)})
    np.testing.assert_array_equal(found, [[[1, 0, 0], [0, 2, 0]], [[0, 0, 3], [0, 0, 9]]])


def test_rows_that_are_no_sequences_are_expanded_to_rows() -> None:
    x, y = L.data("x", [1]), L.data("y", [1], lod_level=1)
    out = L.sequence_expand(x, y)
    assert out.lod_level == 0
    feed = {"x": np.array([[1.0], [2.0]], "float32"), "y": tensor(np.zeros((3, 1), "float32"), [[2, 1]])}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[out])  # of numpy: they have no sequences
    np.testing.assert_array_equal(found, [[1], [1], [2]])


@pytest.mark.parametrize("layer", [L.roi_pool, L.roi_align], ids=["pool", "align"])
def test_offsets_say_which_regions_are_of_which_image(layer: Any) -> None:
    x = np.random.default_rng(3).normal(size=(2, 1, 6, 6)).astype(np.float32)
    boxes = np.array([[0, 0, 3, 3], [1, 1, 4, 5], [2, 0, 5, 3]], np.float32)
    rois, ends = L.data("rois", [4], lod_level=1), np.array([0, 1, 3])
    image = given("x", x, stops=False)
    outs = [layer(image, given("b", boxes), 2, 2, rois_lod=given("ends", ends)), layer(image, rois, 2, 2)]
    slopes = [fluid.backward.gradients(each, image)[0] for each in outs]
    feed = {"x": x, "b": boxes, "rois": tensor(boxes, [[1, 2]]), "ends": ends}
    told, sequences, told_slope, slope = run([*outs, *slopes], feed)
    np.testing.assert_array_equal(told, sequences)
    np.testing.assert_array_equal(told_slope, slope)


QUADS = [
    [0, 0, 4, 1, 3, 4, 0, 3],
    [1, 0, 5, 1, 4, 4, 1, 3],
    [2, 2, 6, 3, 5, 6, 2, 5],
    [3, 2, 6, 4, 5, 6, 2, 5],
]


def test_polygons_overlap_as_they_lie() -> None:
    quads, scores = np.array([QUADS], np.float32), np.array([[[0.9, 0.8, 0.7, 0.6]]], np.float32)
    boxes, said = given("b", quads), given("s", scores)
    told = {"score_threshold": 0.1, "nms_top_k": 4, "keep_top_k": 4, "background_label": -1}
    merged = L.locality_aware_nms(boxes, said, nms_threshold=0.3, **told)
    kept = [L.multiclass_nms(boxes, said, nms_threshold=most, **told) for most in (0.3, 0.5)]
    both, few, more = run([merged, *kept], {"b": quads, "s": scores})
    np.testing.assert_allclose(both[:, 1], [1.7, 1.3], rtol=1e-6)
    np.testing.assert_allclose(both[0, 2:], [0.47059, 0, 4.47059, 1, 3.47059, 4, 0.47059, 3], atol=1e-5)
    np.testing.assert_array_equal(few[:, 2:], quads[0, [0, 2]])
    np.testing.assert_array_equal(more[:, 2:], quads[0, [0, 1, 2]])


def test_a_tree_of_ones_own_costs_what_its_turns_do() -> None:
    random = np.random.default_rng(4)
    x, w = (random.normal(size=(n, 3)).astype("float32") for n in (2, 5))
    table, code = np.array([[0, 1, -1], [0, 2, 3]]), np.array([[1, 0, -1], [0, 1, 1]])
    attr = fluid.ParamAttr(name="w", initializer=fluid.initializer.NumpyArrayInitializer(w))
    own = {"path_table": given("t", table), "path_code": given("c", code), "is_custom": True}
    cost = L.hsigmoid(given("x", x), given("l", np.zeros((2, 1), "int64")), 5, attr, bias_attr=False, **own)
    ((parameter, slope),) = fluid.backward.append_backward(L.reduce_sum(cost))
    assert parameter.shape == (5, 3)
    feed = {"x": x, "t": table, "c": code, "l": np.zeros((2, 1), "int64")}
    costs, slopes = run([cost, slope], feed)
    scores, there = np.einsum("nd,nkd->nk", x, w[table]), table >= 0
    np.testing.assert_allclose(
        costs[:, 0], ((np.log1p(np.exp(scores)) - code * scores) * there).sum(1), rtol=1e-5
    )
    wanted = np.zeros_like(w)
    np.add.at(wanted, table, ((1 / (1 + np.exp(-scores)) - code) * there)[..., None] * x[:, None])
    np.testing.assert_allclose(slopes, wanted, rtol=1e-4, atol=1e-6)


def test_an_activation_that_there_is_not_is_called_one() -> None:
    with pytest.raises(BadArgument, match="fc: act is the name of an activation"):
        L.fc(L.data("x", [4]), 3, act="rellu")


def test_arrays_are_first_values_but_for_sizes_of_1() -> None:
    value = np.arange(6, dtype=np.float32)
    shapes = {"line": (6,), "more": (2, 1, 3)}
    made = [
        L.create_parameter(
            [2, 3],
            "float32",
            name=name,
            default_initializer=fluid.initializer.NumpyArrayInitializer(value.reshape(shape)),
        )
        for name, shape in shapes.items()
    ]
    for found in run(made, {}):
        np.testing.assert_array_equal(found, value.reshape(2, 3))
    other = fluid.initializer.NumpyArrayInitializer(value.reshape(3, 2))
    with pytest.raises(BadArgument, match="is not a value for"):
        L.create_parameter([2, 3], "float32", default_initializer=other)


def test_labels_of_one_axis_give_costs_of_one() -> None:
    shares = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    labels = np.array([1, 0])
    (found,) = run([L.cross_entropy(given("x", shares), given("y", labels))], {"x": shares, "y": labels})
    np.testing.assert_allclose(found, -np.log([0.75, 0.5]), rtol=1e-5)


SHARES = np.array([[0.2, 0.9, 0.4], [0.7, 0.1, 0.6]], np.float32)
COLUMN = np.array([[0.3], [0.8]], np.float32)
COSTS = {
    "cross_entropy": lambda x, y: L.cross_entropy(L.softmax(x), y, soft_label=True),
    "softmax": lambda x, y: L.softmax_with_cross_entropy(x, y, soft_label=True),
    "sigmoid": L.sigmoid_cross_entropy_with_logits,
    "kldiv": L.kldiv_loss,
    "log_loss": lambda x, y: L.log_loss(L.sigmoid(L.fc(x, 1)), L.slice(y, [1], [0], [1])),
    "rank": lambda x, y: L.rank_loss(*[L.slice(each, [1], [0], [1]) for each in (y, x, L.square(x))]),
    "margin": lambda x, y: L.margin_rank_loss(
        *[L.slice(each, [1], [0], [1]) for each in (y, x, L.square(x))], margin=9.0
    ),
    "smooth_l1": lambda x, y: L.smooth_l1(x, L.square(x), inside_weight=y, outside_weight=y),
}


@pytest.mark.parametrize("name", COSTS)
def test_no_gradient_goes_back_through_what_a_cost_is_told(name: str) -> None:
    x = np.array([[0.1, -0.4, 0.3], [0.9, 0.2, -0.7]], np.float32)
    source, label = given("x", x, stops=False), given("y", SHARES, stops=False)
    learned = L.create_parameter([1], "float32", default_initializer=fluid.initializer.Constant(1.0))
    cost = L.mean(COSTS[name](source, label * learned))
    of_source, of_learned = fluid.backward.gradients(cost, [source, learned])
    assert of_learned is None
    (slope,) = run([of_source], {"x": x, "y": SHARES})
    assert np.abs(slope).max() > 0


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_shares_that_do_not_add_up_to_1_pull_as_if_they_did(axis: int) -> None:
    random = np.random.default_rng(6)
    x, y = (random.uniform(0.1, 1, (4, 3, 2)).astype("float32") for _ in range(2))
    source = given("x", x, stops=False)
    told = {"soft_label": True, "axis": axis, "return_softmax": True}
    cost, shares = L.softmax_with_cross_entropy(source, given("y", y), **told)
    (slope,) = fluid.backward.gradients(L.reduce_sum(cost) + L.reduce_sum(shares * shares), source)
    found, chances, rise = run([cost, shares, slope], {"x": x, "y": y})
    expected = np.exp(x) / np.exp(x).sum(axis, keepdims=True)
    np.testing.assert_allclose(chances, expected, rtol=1e-5)
    np.testing.assert_allclose(found, -(y * np.log(expected)).sum(axis, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(rise, expected - y, rtol=1e-4, atol=1e-6)  # and nothing through the shares


def test_what_is_stopped_behind_a_pass_had_its_gradient() -> None:
    x = L.data("x", [2])
    one = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(1.0))
    out = L.fc(x, 1, param_attr=one, bias_attr=False)
    fluid.optimizer.SGD(0.5).minimize(L.mean(out))
    out.stop_gradient = True
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": np.array([[1.0, 3.0]], "float32")})
    moved = np.array(fluid.global_scope().find_var("w").get_tensor())
    np.testing.assert_allclose(moved[:, 0], [0.5, -0.5], rtol=1e-6)


def test_a_memory_begins_in_the_order_of_lengths_unless_it_is_told() -> None:
    rows, begin = np.ones((6, 2), np.float32), np.array([[1.0, 1], [2, 2], [3, 3]], np.float32)
    x, first, outs = L.data("x", [2], lod_level=1), given("begin", begin), []
    for reorders in (False, True):
        walk = L.DynamicRNN()
        with walk.block():
            step = walk.step_input(x)
            before = walk.memory(init=first, need_reorder=reorders)
            walk.update_memory(before, before + step * 0.0)
            walk.output(before)
        outs.append(walk())
    ranked, own = run(outs, {"x": tensor(rows, [[1, 3, 2]]), "begin": begin})
    np.testing.assert_array_equal(own[:, 0], [1, 2, 2, 2, 3, 3])
    np.testing.assert_array_equal(ranked[:, 0], [3, 1, 1, 1, 2, 2])  # the longest has the first row


ROWS, LENGTHS = np.random.default_rng(8).normal(size=(6, 4)).astype("float32"), [[3, 1, 2]]
BARE = {
    "argmax": lambda x: L.argmax(x, axis=1),
    "crop": lambda x: L.crop(x, shape=[-1, 2], offsets=[0, 1]),
    "dot": lambda x: L.dot(x, x),
    "expand_as": lambda x: L.expand_as(x, L.zeros_like(x)),
    "gru_unit": lambda x: L.gru_unit(L.fc(x, 9), L.fc(x, 3), 9)[0],
    "kldiv_loss": lambda x: L.kldiv_loss(x, L.square(x), reduction="none"),
    "l2_normalize": lambda x: L.l2_normalize(x, axis=1),
    "lstm_unit": lambda x: L.lstm_unit(x, L.fc(x, 3), L.fc(x, 3))[0],
    "reverse": lambda x: L.reverse(x, axis=1),
    "scatter": lambda x: L.scatter(x, L.assign(np.array([0, 1])), L.fill_constant([2, 4], "float32", 1.0)),
    "smooth_l1": lambda x: L.smooth_l1(x, L.square(x)),
    "uniform": lambda x: L.uniform_random_batch_size_like(x, [-1, 2]),
    "unstack": lambda x: L.unstack(x, axis=1)[0],
}


@pytest.mark.parametrize("name", BARE)
def test_these_give_no_sequences_whatever_they_are_made_of_and_are_fetched_as_arrays(name: str) -> None:
    out = BARE[name](L.data("x", [4], lod_level=1))
    assert out.lod_level == 0
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": tensor(ROWS, LENGTHS)}, fetch_list=[out])
    assert found.shape[0] == 6


def test_a_crop_has_the_sizes_that_it_is_told_and_else_what_is_left() -> None:
    picture = np.arange(2 * 3 * 5 * 4, dtype=np.float32).reshape(2, 3, 5, 4)
    x = fluid.data("x", [-1, 3, -1, -1])
    part = L.crop_tensor(x, shape=[-1, 2, 2, 3], offsets=[0, 1, 0, 1])
    assert part.shape == (-1, 2, 2, 3)
    assert L.crop(x, shape=[-1, 3, -1, 2], offsets=[0, 0, 1, 0]).shape == (-1, 3, -1, 2)
    found, rows = run([part, L.fc(part, 2)], {"x": picture})
    np.testing.assert_array_equal(found, picture[:, 1:, :2, 1:])
    assert rows.shape == (2, 2)


def test_a_batch_of_sequences_is_as_large_as_they_are_many() -> None:
    x, pairs = L.data("x", [4], lod_level=1), L.data("pairs", [4], lod_level=2)
    outs = [L.fill_constant_batch_size_like(each, [-1, 2], "float32", 1.5) for each in (x, pairs)]
    outs.append(L.fill_constant_batch_size_like(x, [2, -1], "int64", 3, 1, 1))
    feed = {"x": tensor(ROWS, LENGTHS), "pairs": tensor(ROWS, [[1, 3], [2, 1, 1, 2]])}
    one, two, columns = fluid.Executor().run(feed=feed, fetch_list=outs)
    np.testing.assert_array_equal(one, np.full((3, 2), 1.5))
    np.testing.assert_array_equal(two, np.full((4, 2), 1.5))
    np.testing.assert_array_equal(columns, np.full((2, 4), 3))
